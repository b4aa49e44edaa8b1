from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.foreign_clients.drivers.confluent import ConfluentClient
from tests.foreign_clients.drivers.model import Client
from tests.support.apache_kafka import require_java
from tests.support.cluster_fixture import KafkaServer, running_kafka
from tests.support.java_tools import ToolRun, run_java_tool
from tools.suite.processes import starts_processes

Tool = Callable[..., ToolRun]
TOOL_TIMEOUT_SECONDS = 120


@pytest.fixture(scope="session", autouse=True)
@starts_processes
def java() -> None:
    require_java()


@pytest.fixture(scope="session")
@starts_processes
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    """Their own: they list all that a server has."""
    with running_kafka(tmp_path_factory.mktemp("kafka")) as server:
        yield server


def tool_for(server: KafkaServer) -> Tool:
    """Runs one of Kafka's tools against a server; a failure that was not expected shows what it said."""

    def run(name: str, *arguments: str, code: int | None = 0, **options: Any) -> ToolRun:
        options.setdefault("timeout", TOOL_TIMEOUT_SECONDS)
        before, after = arguments[:1], arguments[1:]
        if name != "kafka-cluster":
            before, after = (), arguments
        done = run_java_tool(name, *before, "--bootstrap-server", server.bootstrap, *after, **options)
        assert code is None or done.returncode == code, f"{name}:\n{done.stdout}\n{done.stderr}"
        return done

    return run


@pytest.fixture(scope="session")
def tool(kafka: KafkaServer) -> Tool:
    return tool_for(kafka)


@pytest.fixture(scope="session")
def client(kafka: KafkaServer) -> Iterator[Client]:
    """For setting the stage, and for looking at it afterwards."""
    confluent = ConfluentClient(kafka.bootstrap)
    yield confluent
    confluent.close()


@pytest.fixture
def topic(request: pytest.FixtureRequest) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in request.node.name)
