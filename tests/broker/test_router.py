"""More clients than the process may have descriptors: some are refused, and nobody else notices."""

import os
import resource
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from penstock.broker.router import RESERVED_DESCRIPTORS
from tests.broker.asking import metadata, new_topic
from tests.broker.conftest import only_penstock
from tests.broker.platform import Platform
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = [pytest.mark.processes, only_penstock]

LIMIT = 300


def is_open(connected: socket.socket) -> bool:
    """Whether the broker has kept the connection; it says nothing on its own."""
    connected.setblocking(False)
    try:
        return connected.recv(1) != b""
    except BlockingIOError:
        return True
    except ConnectionError:
        return False
    finally:
        connected.setblocking(True)


def descriptors(platform: Platform) -> int:
    return len(os.listdir(Path("/proc", str(platform.broker.pid), "fd")))


def test_a_rush_of_clients_leaves_descriptors_to_the_broker(tmp_path: Path) -> None:
    with Platform(tmp_path / "platform") as platform:
        resource.prlimit(platform.broker.pid, resource.RLIMIT_NOFILE, (LIMIT, LIMIT))
        with ExitStack() as rush, WireClient(platform.bootstrap) as early:
            clients = [
                rush.enter_context(socket.create_connection(("127.0.0.1", platform.port), 30))
                for _ in range(LIMIT)
            ]
            most = LIMIT - RESERVED_DESCRIPTORS
            wait_for(lambda: descriptors(platform) <= most, what="those beyond the limit to be refused")
            assert 0 < sum(map(is_open, clients)) < most
            assert platform.zookeeper.stop() == 0
            platform.start_zookeeper()
            new_topic(early, "created-in-the-rush")
        wait_for(lambda: descriptors(platform) < LIMIT // 2, what="the clients to be gone")
        with WireClient(platform.bootstrap) as late:
            assert metadata(late).brokers
        told = [line for line in platform.broker.log_text().splitlines() if "descriptors" in line]
        assert len(told) == 1
        assert "Traceback" not in platform.broker.log_text()
