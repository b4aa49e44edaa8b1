"""MirrorMaker goes on while any one broker of its clusters is dead: the copy has each record once, in order."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from penstock.pipeline.connect.tasks.run import run_task
from penstock.testing import Cluster
from tests.pipeline.mirror.flows import Flow
from tests.support.cluster_fixture import PEER, KafkaServer
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

pytestmark = [
    pytest.mark.processes,
    pytest.mark.faults,
    pytest.mark.timeout(300),
    pytest.mark.skipif(PEER == "apache", reason="it is about clusters of Penstock"),
]

LONG = "PENSTOCK_FAULT_CONNECT_ROUNDS" in os.environ
PATIENCE_SECONDS = 90.0
RECORDS = 100
RUN_MS = 1000
TOPICS_OF_THE_FLOW = ("offset-syncs.topic", "checkpoints.topic", "heartbeats.topic")
REPLICATED = {"replication.factor": "3", **{f"{name}.replication.factor": "3" for name in TOPICS_OF_THE_FLOW}}


@pytest.fixture
@starts_processes
def cluster() -> Iterator[Cluster]:
    with Cluster(3) as running:
        yield running


@pytest.fixture
def flow(cluster: Cluster) -> Iterator[Flow]:
    """From the cluster to itself, under another name: a broker that dies is one of both sides."""
    processes = tuple(cluster.processes.values())
    server = KafkaServer(cluster.bootstrap_servers, cluster.log_dir(1), 1, False, processes)
    with Flow(server, server) as running:
        running.create(running.source, running.topic)
        yield running


def copied(flow: Flow, configs: dict[str, str]) -> int:
    """How many records, after one more tick; a task that has failed is started again, as by a worker."""
    for work in flow.works(run_ms=RUN_MS, **configs):
        run_task(work)
    return len(flow.values())


def test_the_copy_goes_on_while_brokers_die(cluster: Cluster, flow: Flow) -> None:
    more = {**REPLICATED, "heartbeats.replication.enabled": "false"}
    produced: list[str] = []
    for number in (None, *(cluster.numbers if LONG else [cluster.controller()])):
        if number is not None:
            cluster.kill(number)
        values = [f"{number}-{index}" for index in range(RECORDS)]
        flow.produce(*values)
        produced += values

        wait_for(
            lambda: copied(flow, more) >= len(produced),  # noqa: B023
            PATIENCE_SECONDS,
            f"the copy while broker {number} is dead",
            interval=0.1,
        )
        if number is not None:
            cluster.start(number)
            cluster.wait_until_in_sync()
    assert flow.values() == produced
