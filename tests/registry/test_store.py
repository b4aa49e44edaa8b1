"""Kafka that is not there yet, goes away and comes back."""

from __future__ import annotations

import signal
import socket
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.broker.platform import Platform
from tests.registry.api.schemas import USER, USER_WITH_AGE
from tests.support.cluster_fixture import PEER
from tests.support.processes import free_port, wait_for
from tests.support.registry import Registry, Said

pytestmark = pytest.mark.processes

PATIENCE_SECONDS = 60.0


@pytest.mark.parametrize("is_silent", [False, True], ids=["nobody there", "somebody silent"])
def test_without_kafka_it_says_so_and_stops_when_told(tmp_path: Path, is_silent: bool) -> None:
    with ExitStack() as opened:
        silent = opened.enter_context(socket.create_server(("127.0.0.1", 0))) if is_silent else None
        port = silent.getsockname()[1] if silent else free_port()
        check_that_it_says_so(Registry(f"127.0.0.1:{port}", tmp_path))


def check_that_it_says_so(registry: Registry) -> None:
    registry.process.wait_until(registry.is_listening, PATIENCE_SECONDS)
    for method, path in (("GET", "/subjects"), ("GET", "/schemas/ids/1"), ("POST", "/subjects/a/versions")):
        said = registry.ask(method, path, {"schema": USER} if method == "POST" else None)
        assert (said.status, said.body["error_code"]) == (503, 503)
        assert said.headers["retry-after"] == "1"
    assert registry.get("/").status == 200
    wait_for(lambda: "cannot be reached" in registry.get("/subjects").body["message"], PATIENCE_SECONDS)
    assert registry.process.stop() == 0
    assert "Traceback" not in registry.process.log_text()


@pytest.mark.skipif(PEER == "apache", reason="starts Penstock's own broker")
def test_a_kafka_that_hangs(tmp_path: Path) -> None:
    """The first write may have been heard; after that it is known that Kafka does not answer."""
    with Platform(tmp_path / "platform", {"group.initial.rebalance.delay.ms": "0"}) as platform:
        registry = Registry(platform.bootstrap, tmp_path, {"kafkastore.timeout.ms": "1000"})
        try:
            registry.wait_until_ready()
            registry.register("users", USER)
            platform.broker.signal(signal.SIGSTOP)
            assert write(registry).body["error_code"] in (50002, 503)
            wait_for(lambda: write(registry).status == 503, PATIENCE_SECONDS, "writes to be refused")
            assert write(registry).headers["retry-after"] == "1"
            assert registry.get("/subjects/users/versions/1").body["schema"] == USER
            platform.broker.signal(signal.SIGCONT)
            wait_for(lambda: write(registry).status == 200, PATIENCE_SECONDS, "writes to come back")
            assert registry.get("/subjects/users/versions").body == [1, 2]
        finally:
            platform.broker.signal(signal.SIGCONT)
            registry.process.stop()


def write(registry: Registry) -> Said:
    return registry.post("/subjects/users/versions", {"schema": USER_WITH_AGE})


@pytest.mark.skipif(PEER == "apache", reason="starts Penstock's own broker")
def test_reads_go_on_while_kafka_is_away_and_writes_come_back(tmp_path: Path) -> None:
    with Platform(tmp_path / "platform", {"group.initial.rebalance.delay.ms": "0"}) as platform:
        registry = Registry(platform.bootstrap, tmp_path, {"kafkastore.timeout.ms": "3000"})
        try:
            registry.wait_until_ready()
            registry.register("users", USER)
            platform.broker.signal(signal.SIGKILL)
            platform.broker.wait()
            wait_for(
                lambda: write(registry).status == 503,
                PATIENCE_SECONDS,
                "writes to be refused",
            )
            assert registry.get("/subjects/users/versions/1").body["schema"] == USER
            platform.start_broker()
            wait_for(
                lambda: write(registry).status == 200,
                PATIENCE_SECONDS,
                "writes to come back",
            )
            assert registry.get("/subjects/users/versions").body == [1, 2]
        finally:
            registry.process.stop()
