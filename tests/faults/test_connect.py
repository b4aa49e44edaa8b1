"""Pipelines of Connect on Spark while their parts are killed: each record ends exactly once in each place."""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from tests.broker.platform import Platform
from tests.faults.connect_pipeline import ClusterPipeline, ConnectPipeline
from tests.faults.readme_pipeline import ReadmePipeline
from tests.support.postgres import running_postgres
from tests.support.spark import require_java
from tests.support.spark_cluster import SparkCluster

pytestmark = [pytest.mark.processes, pytest.mark.faults, pytest.mark.timeout(7200)]

Fault = Callable[[], None]

ROUNDS = int(os.environ.get("PENSTOCK_FAULT_CONNECT_ROUNDS", "2"))
README_ROUNDS = int(os.environ.get("PENSTOCK_FAULT_README_ROUNDS", "1"))
CLUSTER_ROUNDS = int(os.environ.get("PENSTOCK_FAULT_CONNECT_ROUNDS", "1"))
LINES = 2_000
MOST_SECONDS_BEFORE_A_FAULT = 4.0
SLOTS_OF_A_WORKER = 8


def in_random_order(faults: list[Fault], count: int, chance: random.Random) -> list[Fault]:
    """Each once before any comes twice."""
    return [*chance.sample(faults, len(faults)), *chance.choices(faults, k=count)][:count]


def suffer(pipeline: ConnectPipeline, faults: Iterable[Fault], chance: random.Random) -> None:
    for fault in faults:
        print(f"{fault.__name__} after {pipeline.found()}")
        pipeline.write(LINES)
        time.sleep(chance.uniform(0, MOST_SECONDS_BEFORE_A_FAULT))
        fault()
        if chance.random() < 0.5:  # else the next one comes while it recovers
            pipeline.wait_until_all_is_there()


def check_that_all_is_there_once(pipeline: ConnectPipeline) -> None:
    pipeline.write(LINES)
    pipeline.wait_until_all_is_there()
    once = (pipeline.written, pipeline.written)
    assert pipeline.found() == dict.fromkeys(("upserted", "inserted", "parquet", "mirrored"), once)


def test_every_record_arrives_exactly_once(tmp_path: Path, platform: Platform, chance: random.Random) -> None:
    with running_postgres() as postgres:
        pipeline = ConnectPipeline(tmp_path, platform, postgres, chance)
        try:
            pipeline.start()
            pipeline.write(LINES)
            pipeline.wait_until_all_is_there()
            suffer(pipeline, in_random_order(pipeline.faults(), ROUNDS, chance), chance)
            check_that_all_is_there_once(pipeline)
        finally:
            pipeline.stop()


def test_every_record_arrives_exactly_once_from_a_cluster(
    tmp_path: Path, platform: Platform, chance: random.Random
) -> None:
    """The first round kills an executor with tasks on it."""
    require_java()
    cluster = SparkCluster(tmp_path, cores=SLOTS_OF_A_WORKER, memory="512m")
    with running_postgres() as postgres:
        pipeline = ClusterPipeline(tmp_path, platform, postgres, chance, cluster)
        try:
            pipeline.start()
            pipeline.write(LINES)
            pipeline.kill_an_executor_at_work()
            suffer(pipeline, in_random_order(pipeline.faults(), CLUSTER_ROUNDS - 1, chance), chance)
            print(f"tasks that were lost with their executor: {pipeline.tasks_lost()}")
            check_that_all_is_there_once(pipeline)
        finally:
            pipeline.stop()


def test_the_pipeline_of_the_readme_has_each_view_once(
    tmp_path: Path, platform: Platform, chance: random.Random
) -> None:
    """A kill leaves a transaction in the topic that is aborted later, and its views come again."""
    pipeline = ReadmePipeline(tmp_path, platform, chance)
    try:
        pipeline.start()
        for number in range(README_ROUNDS):
            pipeline.kill_in_the_middle()
            print(f"{number + 1} kills: {pipeline.found()}")
        views = pipeline.rest()
        pipeline.wait_until_all_is_there()
        assert pipeline.found() == {"table": (views, views), "lake": (views, views)}
    finally:
        pipeline.stop()
