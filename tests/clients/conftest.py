from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.clients.drivers.model import Client
from tests.clients.drivers.registry import CLIENTS
from tests.support.cluster_fixture import KafkaServer, kafka

__all__ = ["kafka"]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """One client's tests run in one worker, so that a JVM is started once and not once in every worker."""
    for item in items:
        callspec = getattr(item, "callspec", None)
        if callspec is not None and isinstance(name := callspec.params.get("client"), str):
            item.add_marker(pytest.mark.xdist_group(f"client-{name}"))


@pytest.fixture(scope="session")
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
def client(request: pytest.FixtureRequest, clients: Callable[[str], Client]) -> Client:
    return clients(request.param)


@pytest.fixture
def reader(clients: Callable[[str], Client]) -> Client:
    """The client that reads what another one wrote and administers where the tested one cannot."""
    return clients("confluent-kafka")


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
