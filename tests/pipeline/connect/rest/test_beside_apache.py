"""Apache Kafka Connect and ours, side by side on one Kafka: the same requests, the same answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.pipeline.connect.tasks.run import run_task
from tests.pipeline.connect.rest.steps import MISSING, REFUSED, VALIDATIONS, WRITTEN, Step, life, masked
from tests.support.cluster_fixture import KafkaServer
from tests.support.connect_workers import ConnectClient, Said, running_apache_connect
from tests.support.penstock_connect import running_penstock_connect
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

CONVERTERS = {
    f"{each}.converter": "tests.pipeline.connect.connector_config.some_plugins.PlainConverter"
    for each in ("key", "value", "header")
}
STATE_SECONDS = 60.0


@pytest.fixture(scope="module")
@starts_processes
def apache_connect(kafka: KafkaServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ConnectClient]:
    settings = {"exactly.once.source.support": "enabled"}
    with running_apache_connect(
        tmp_path_factory.mktemp("connect"), kafka.bootstrap, "compare-apache", settings
    ) as client:
        yield client


@pytest.fixture(scope="module")
def penstock_connect(kafka: KafkaServer) -> Iterator[ConnectClient]:
    with running_penstock_connect(kafka.bootstrap, "compare-penstock", run_task) as client:
        yield client


def asked(client: ConnectClient, step: Step) -> Said:
    return wait_for(
        lambda: awaited(step, client.send(step.method, step.path, step.body)), STATE_SECONDS, str(step), 0.05
    )


def awaited(step: Step, said: Said) -> Said | None:
    """A sink's consumers may still be in their group when its tasks are said to be gone."""
    if "safely retried" in str(said.body):
        return None
    if step.state == WRITTEN:
        return said if str(said.body).count("[]") == 0 else None
    return said if step.state is None or states(said.body) == step.state else None


def states(body: Any) -> str:
    found = [body.get("connector", {}), *body.get("tasks", ())]
    return " ".join(each.get("state", "") for each in found)


@pytest.mark.parametrize("step", [*VALIDATIONS, *MISSING, *REFUSED], ids=str)
def test_the_same_answer(step: Step, apache_connect: ConnectClient, penstock_connect: ConnectClient) -> None:
    assert masked(asked(penstock_connect, step)) == masked(asked(apache_connect, step))


def test_the_same_life(
    apache_connect: ConnectClient, penstock_connect: ConnectClient, tmp_path: Path
) -> None:
    (tmp_path / "in").write_text("one\ntwo\n")
    # One after the other: the sinks read as the same group.
    theirs, ours = (
        [(str(step), masked(asked(client, step))) for step in life(str(tmp_path), topic)]
        for client, topic in ((apache_connect, "lines-of-apache"), (penstock_connect, "lines-of-penstock"))
    )
    for his, mine in zip(theirs, ours, strict=True):
        assert mine == his
