"""A program of streams on Spark while its parts are killed: every record counts exactly once."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.broker.platform import Platform
from tests.faults.broker_cluster import BrokerCluster, EmbeddedZooKeeper
from tests.faults.streams_pipeline import ClusterStreamsPipeline, OneBroker, StreamsPipeline, ThreeBrokers
from tests.support.processes import wait_for
from tests.support.spark import require_java
from tests.support.spark_cluster import SparkCluster
from tools.suite.processes import starts_processes

pytestmark = [pytest.mark.processes, pytest.mark.faults, pytest.mark.timeout(7200)]

ROUNDS = int(os.environ.get("PENSTOCK_FAULT_STREAMS_ROUNDS", "2"))
NUMBERS = 2_000
MOST_SECONDS_BEFORE_A_FAULT = 4.0
SPREAD_SECONDS = 60.0


@contextmanager
def running(pipeline: StreamsPipeline) -> Iterator[None]:
    require_java()
    try:
        pipeline.start()
        pipeline.write(NUMBERS)
        pipeline.wait_until_all_is_there()
        yield
    finally:
        pipeline.stop()


def suffer(pipeline: StreamsPipeline, chance: random.Random) -> None:
    faults = pipeline.faults()
    for number in range(ROUNDS):
        if number % len(faults) == 0:
            chance.shuffle(faults)
        fault = faults[number % len(faults)]
        print(f"{fault.__name__} after {pipeline.found()}")
        pipeline.write(NUMBERS)
        time.sleep(chance.uniform(0, MOST_SECONDS_BEFORE_A_FAULT))
        fault()
        if chance.random() < 0.5:  # else the next one comes while it recovers
            pipeline.wait_until_all_is_there()
    pipeline.write(NUMBERS)
    pipeline.wait_until_all_is_there()
    pipeline.check_each_once()


def test_every_record_counts_once(tmp_path: Path, platform: Platform, chance: random.Random) -> None:
    pipeline = StreamsPipeline(tmp_path, OneBroker(platform), chance)
    with running(pipeline):
        suffer(pipeline, chance)


@pytest.mark.long_run(ROUNDS > 2)
def test_every_record_counts_once_on_a_cluster(
    tmp_path: Path, platform: Platform, chance: random.Random
) -> None:
    """Tasks are on both of its workers."""
    spark = SparkCluster(tmp_path, memory="512m")
    pipeline = ClusterStreamsPipeline(tmp_path, OneBroker(platform), chance, spark)
    with running(pipeline):
        wait_for(lambda: pipeline.executors_with_tasks() == 2, SPREAD_SECONDS, "tasks on both workers")
        suffer(pipeline, chance)


@pytest.fixture
@starts_processes
def brokers(tmp_path: Path) -> Iterator[BrokerCluster]:
    zookeeper = EmbeddedZooKeeper(tmp_path / "zookeeper")
    zookeeper.start()
    try:
        settings = {"min.insync.replicas": "2"}
        with BrokerCluster(tmp_path / "brokers", zookeeper.connect, settings=settings) as running:
            yield running
    finally:
        zookeeper.kill()


@pytest.mark.long_run(ROUNDS > 2)
def test_every_record_counts_once_with_three_brokers(
    tmp_path: Path, brokers: BrokerCluster, chance: random.Random
) -> None:
    pipeline = StreamsPipeline(tmp_path, ThreeBrokers(brokers), chance)
    with running(pipeline):
        suffer(pipeline, chance)
