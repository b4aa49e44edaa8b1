from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.foreign_clients.drivers.model import Client
from tests.foreign_clients.drivers.registry import CLIENTS
from tests.support.cluster_fixture import COORDINATOR_SETTINGS, KafkaServer, running_kafka
from tools.suite.processes import starts_processes

T = TypeVar("T")
HERE = Path(__file__).parent


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One client's tests run in one worker, so that a JVM is started once and not once in every worker.

    A client library that is closed while it connects may leave a socket to the garbage collector.
    """
    for item in items:
        if item.path.parent == HERE:
            item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))
        callspec = getattr(item, "callspec", None)
        if callspec is not None and isinstance(name := callspec.params.get("client"), str):
            item.add_marker(pytest.mark.xdist_group(f"client-{name}"))


@pytest.fixture(scope="module", autouse=True)
def no_garbage_for_others() -> Iterator[None]:
    """What a client library has left open is found here, where that is known, and not in some test of another file."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
@starts_processes
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    with running_kafka(tmp_path_factory.mktemp("kafka"), COORDINATOR_SETTINGS) as server:
        yield server


@pytest.fixture(scope="session")
@starts_processes
def clients(kafka: KafkaServer) -> Iterator[Callable[[str], Client]]:
    """Any client by its name; one of each per session."""
    started: dict[str, Client] = {}

    def client_named(name: str) -> Client:
        if name not in started:
            started[name] = CLIENTS[name](kafka.bootstrap)
        return started[name]

    yield client_named
    for client in started.values():
        client.close()


@pytest.fixture
@starts_processes
def client(request: pytest.FixtureRequest, clients: Callable[[str], Client]) -> Client:
    return clients(request.param)


@pytest.fixture
def reader(clients: Callable[[str], Client]) -> Client:
    """The client that reads what another one wrote and administers where the tested one cannot."""
    return clients("confluent-kafka")


@pytest.fixture
def administrator(clients: Callable[[str], Client]) -> Client:
    """The client that looks at committed offsets with their metadata."""
    return clients("kafka-python")


@pytest.fixture
def opened() -> Iterator[Callable[[T], T]]:
    """Closes at the end of the test what it is given, the last first; closing twice must not matter."""
    with ExitStack() as stack:

        def close_at_the_end(session: Any) -> Any:
            return stack.enter_context(closing(session))

        yield close_at_the_end


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    """A topic name that no other test uses; the topic does not exist yet."""
    return unique_name(request.node.name)


_names = 0


def unique_name(text: str) -> str:
    global _names
    _names += 1
    plain = "".join(letter if letter.isalnum() else "-" for letter in text)
    return f"{plain[:80]}-{_names}"
