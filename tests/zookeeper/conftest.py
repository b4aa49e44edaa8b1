from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from kazoo.client import KazooClient

from penstock.zookeeper import ZooKeeperConfig
from tests.zookeeper.running import ServerThread, kazoo_client


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[Callable[..., ServerThread]]:
    """Starts servers on free ports over `tmp_path`, with sessions that may be short."""
    started: list[ServerThread] = []

    def start(**settings: Any) -> ServerThread:
        defaults = {"client_port": 0, "data_dir": tmp_path / "zookeeper", "min_session_timeout_ms": 200}
        server = ServerThread(ZooKeeperConfig(**{**defaults, **settings}))
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def server(start_server: Callable[..., ServerThread]) -> ServerThread:
    return start_server()


@pytest.fixture
def connect(server: ServerThread) -> Iterator[Callable[..., KazooClient]]:
    """Opens kazoo clients of the server."""
    with ExitStack() as clients:
        yield lambda **options: clients.enter_context(kazoo_client(server.address, **options))


@pytest.fixture
def client(connect: Callable[..., KazooClient]) -> KazooClient:
    return connect()
