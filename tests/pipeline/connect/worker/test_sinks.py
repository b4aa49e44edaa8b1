"""Sinks: which partitions their tasks get, from where, and what their group commits."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.client import NewTopic
from penstock.client.admin.group_offsets import list_group_offsets
from penstock.client.admin.topic_changes import NewPartitions, create_partitions, create_topics
from penstock.pipeline.connect.worker.errors import BadRequestError
from penstock.pipeline.connect.worker.sink_partitions import divide
from penstock.wire_client import ClusterConfig, asyncio_cluster
from tests.pipeline.connect.worker.in_thread import HERE, ThreadWorker
from tests.pipeline.connect.worker.some_connectors import works_of
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for


def sink(directory: Path, tasks: int = 1, **more: str) -> dict[str, str]:
    return {
        "connector.class": f"{HERE}:SomeSink",
        "tasks.max": str(tasks),
        "directory": str(directory),
        **more,
    }


async def make_topic(bootstrap: str, name: str, partitions: int) -> None:
    async with asyncio_cluster(ClusterConfig.from_configs({"bootstrap.servers": bootstrap})) as cluster:
        assert not isinstance(
            (await create_topics(cluster, [NewTopic(name, partitions, 1)]))[name], Exception
        )


async def add_partitions(bootstrap: str, name: str, partitions: int) -> None:
    async with asyncio_cluster(ClusterConfig.from_configs({"bootstrap.servers": bootstrap})) as cluster:
        assert (await create_partitions(cluster, {name: NewPartitions(partitions)}))[name] is None


async def committed(bootstrap: str, group: str) -> dict[tuple[str, int], int]:
    async with asyncio_cluster(ClusterConfig.from_configs({"bootstrap.servers": bootstrap})) as cluster:
        found = await list_group_offsets(cluster, group)
        return {tuple(each): at.offset for each, at in found.items() if at is not None}


def last_positions(name: str) -> dict[int, list[int]]:
    """The partitions of each task, in the last works."""
    return {work.task: sorted(each[1] for each in work.positions) for work in works_of(name)[-6:]}


def test_partitions_are_divided_and_positions_committed(
    kafka: KafkaServer, worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    worker.call(make_topic(kafka.bootstrap, f"{name}-in", 3))
    worker.create(name, sink(tmp_path, 2, topics=f"{name}-in"))
    worker.wait_for_states(name, "RUNNING", "RUNNING", "RUNNING")
    wait_for(lambda: len(works_of(name)) > 6, what="ticks")
    assert last_positions(name) == {0: [0, 1], 1: [2]}
    assert works_of(name)[0].positions == {(f"{name}-in", 0): None, (f"{name}-in", 1): None}
    group = f"connect-{name}"
    wait_for(lambda: len(worker.call(committed(kafka.bootstrap, group))) == 3, what="commits")
    worker.call(worker.worker.pause(name))
    worker.wait_for_states(name, "PAUSED", "PAUSED", "PAUSED")
    before = worker.call(committed(kafka.bootstrap, group))
    ticks = len(works_of(name))
    assert (
        before[f"{name}-in", 0]
        == max(
            at or 0
            for work in works_of(name)
            for (_, partition), at in work.positions.items()
            if partition == 0
        )
        + 1
    )
    worker.call(worker.worker.resume(name))
    wait_for(lambda: len(works_of(name)) > ticks, what="more ticks")
    assert works_of(name)[ticks].positions[f"{name}-in", 0] == before[f"{name}-in", 0]


def test_topics_and_partitions_that_come_later_are_found(
    kafka: KafkaServer, worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    worker.create(name, sink(tmp_path, 1, **{"topics.regex": f"{name}-.*"}))
    worker.wait_for_states(name, "RUNNING", "RUNNING")
    worker.call(make_topic(kafka.bootstrap, f"{name}-a", 1))
    wait_for(lambda: last_positions(name) == {0: [0]}, what="the topic")
    worker.call(add_partitions(kafka.bootstrap, f"{name}-a", 2))
    wait_for(lambda: last_positions(name) == {0: [0, 1]}, what="the partition")
    wait_for(
        lambda: worker.call(worker.worker.topics(name)) == {name: {"topics": [f"{name}-a"]}},
        what="its topics",
    )


def test_a_stopped_sink_goes_on_where_it_is_told(
    kafka: KafkaServer, worker: ThreadWorker, name: str, tmp_path: Path
) -> None:
    worker.call(make_topic(kafka.bootstrap, f"{name}-in", 1))
    worker.create(name, sink(tmp_path, topics=f"{name}-in"))
    wait_for(lambda: worker.call(worker.worker.offsets(name))["offsets"], what="a commit")
    worker.call(worker.worker.stop(name))
    one = {
        "partition": {"kafka_topic": f"{name}-in", "kafka_partition": "0"},
        "offset": {"kafka_offset": 1000},
    }
    worker.call(worker.worker.alter_offsets(name, [one]))
    assert worker.call(worker.worker.offsets(name)) == {
        "offsets": [
            {
                "partition": {"kafka_partition": 0, "kafka_topic": f"{name}-in"},
                "offset": {"kafka_offset": 1000},
            }
        ]
    }
    ticks = len(works_of(name))
    worker.call(worker.worker.resume(name))
    wait_for(lambda: len(works_of(name)) > ticks, what="ticks")
    assert works_of(name)[ticks].positions == {(f"{name}-in", 0): 1000}
    worker.call(worker.worker.stop(name))
    worker.call(worker.worker.reset_offsets(name))
    assert worker.call(worker.worker.offsets(name)) == {"offsets": []}


@pytest.mark.parametrize(
    ("partition", "offset", "message"),
    [
        (None, None, "cannot be null or missing"),
        ({"kafka_topic": "t"}, None, "must contain the keys 'kafka_topic' and 'kafka_partition'"),
        ({"kafka_topic": None, "kafka_partition": 0}, None, "topic names must be valid strings"),
        ({"kafka_topic": "t", "kafka_partition": None}, None, "partitions must be valid numbers"),
        (
            {"kafka_topic": "t", "kafka_partition": "x"},
            None,
            "Partition values for sink connectors need to be integers",
        ),
        (
            {"kafka_topic": "t", "kafka_partition": 0},
            {"at": 1},
            "either be null or contain the key 'kafka_offset'",
        ),
        (
            {"kafka_topic": "t", "kafka_partition": 0},
            {"kafka_offset": []},
            "Offset values for sink connectors",
        ),
    ],
)
def test_offsets_that_make_no_sense_are_refused(
    stopped_sink: tuple[ThreadWorker, str], partition: object, offset: object, message: str
) -> None:
    worker, name = stopped_sink
    with pytest.raises(BadRequestError, match=message):
        worker.call(worker.worker.alter_offsets(name, [{"partition": partition, "offset": offset}]))


@pytest.fixture(scope="module")
def stopped_sink(worker: ThreadWorker, tmp_path_factory: pytest.TempPathFactory) -> tuple[ThreadWorker, str]:
    worker.create("stopped", sink(tmp_path_factory.mktemp("stopped"), topics="t"), "STOPPED")
    worker.wait_for_states("stopped", "STOPPED")
    return worker, "stopped"


@given(st.integers(0, 40), st.integers(1, 8))
def test_every_partition_has_one_task_and_shares_differ_by_one(count: int, tasks: int) -> None:
    partitions = [("t", number) for number in range(count)]
    shares = divide(partitions, tasks)
    assert [each for share in shares for each in share] == partitions
    assert max(map(len, shares)) - min(map(len, shares)) <= 1
