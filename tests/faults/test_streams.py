"""A program of streams on Spark while its parts are killed: every record counts exactly once."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.broker.platform import Platform
from tests.faults.broker_cluster import BrokerCluster, EmbeddedZooKeeper
from tests.faults.streams_pipeline import ClusterStreamsPipeline, OneBroker, StreamsPipeline, ThreeBrokers
from tests.support.processes import wait_for
from tests.support.spark import require_java
from tests.support.spark_cluster import SparkCluster

pytestmark = [pytest.mark.processes, pytest.mark.faults, pytest.mark.timeout(7200)]

ROUNDS = int(os.environ.get("PENSTOCK_FAULT_STREAMS_ROUNDS", "2"))
NUMBERS = 2_000
MOST_SECONDS_BEFORE_A_FAULT = 4.0
SPREAD_SECONDS = 60.0


def suffer(pipeline: StreamsPipeline, rounds: int, chance: random.Random) -> None:
    faults = pipeline.faults()
    for number in range(rounds):
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
    require_java()
    pipeline = StreamsPipeline(tmp_path, OneBroker(platform), chance)
    try:
        pipeline.start()
        pipeline.write(NUMBERS)
        pipeline.wait_until_all_is_there()
        suffer(pipeline, ROUNDS, chance)
    finally:
        pipeline.stop()


@pytest.mark.long_run(ROUNDS > 2)
def test_every_record_counts_once_on_a_cluster(
    tmp_path: Path, platform: Platform, chance: random.Random
) -> None:
    """Tasks are on both of its workers."""
    require_java()
    pipeline = ClusterStreamsPipeline(
        tmp_path, OneBroker(platform), chance, SparkCluster(tmp_path, memory="512m")
    )
    try:
        pipeline.start()
        pipeline.write(NUMBERS)
        pipeline.wait_until_all_is_there()
        wait_for(lambda: pipeline.executors_with_tasks() == 2, SPREAD_SECONDS, "tasks on both workers")
        suffer(pipeline, ROUNDS, chance)
    finally:
        pipeline.stop()


@pytest.mark.long_run(ROUNDS > 2)
def test_every_record_counts_once_with_three_brokers(tmp_path: Path, chance: random.Random) -> None:
    require_java()
    zookeeper = EmbeddedZooKeeper(tmp_path / "zookeeper")
    zookeeper.start()
    try:
        with BrokerCluster(
            tmp_path / "brokers", zookeeper.connect, settings={"min.insync.replicas": "2"}
        ) as brokers:
            pipeline = StreamsPipeline(tmp_path, ThreeBrokers(brokers), chance)
            try:
                pipeline.start()
                pipeline.write(NUMBERS)
                pipeline.wait_until_all_is_there()
                suffer(pipeline, ROUNDS, chance)
            finally:
                pipeline.stop()
    finally:
        zookeeper.kill()
