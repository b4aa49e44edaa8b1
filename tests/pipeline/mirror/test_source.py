"""Records from one broker to another: nothing lost, nothing twice, nothing changed."""

from __future__ import annotations

import multiprocessing
import time

import pytest

from penstock import KafkaAdmin, KafkaProducer, TopicPartition
from penstock.client import OffsetSpec
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.tasks.run import run_task
from penstock.pipeline.mirror.formats import OffsetSync
from tests.pipeline.mirror.flows import Flow
from tests.support.processes import wait_for
from tests.support.times import RECENTLY_MS
from tests.support.topic_records import abort_records


def numbers(first: int, last: int) -> list[str]:
    return [str(number) for number in range(first, last + 1)]


def test_records_arrive_as_they_are(flow: Flow) -> None:
    flow.create(flow.source, flow.topic, partitions=2)
    with KafkaProducer(bootstrap_servers=flow.source) as producer:
        headers = [("a", b"1"), ("a", None), ("b", b"\xff\x00")]
        producer.send(flow.topic, b"\x00v", b"k\xff", partition=1, timestamp_ms=RECENTLY_MS, headers=headers)
        producer.send(flow.topic, None, b"gone", partition=1, timestamp_ms=RECENTLY_MS + 7)
        producer.send(flow.topic, b"", None, partition=0, timestamp_ms=RECENTLY_MS - 5)
    flow.tick()
    first, second = flow.records(flow.target, flow.copy, 1)
    assert (first.value, first.key, first.timestamp_ms) == (b"\x00v", b"k\xff", RECENTLY_MS)
    assert first.headers == (("a", b"1"), ("a", None), ("b", b"\xff\x00"))
    assert (second.value, second.key, second.timestamp_ms) == (None, b"gone", RECENTLY_MS + 7)
    (third,) = flow.records(flow.target, flow.copy, 0)
    assert (third.value, third.key, third.timestamp_ms, third.headers) == (b"", None, RECENTLY_MS - 5, ())


def test_each_record_once_over_many_ticks_and_tasks(flow: Flow) -> None:
    flow.create(flow.source, flow.topic, partitions=3)
    for round_number in range(3):
        for partition in range(3):
            flow.produce(*numbers(round_number * 50 + 1, round_number * 50 + 50), partition=partition)
        flow.copy_records(150, max_tasks=2)
    for partition in range(3):
        assert flow.values(partition=partition) == numbers(1, 150)


@pytest.mark.processes
def test_a_killed_attempt_is_repeated_and_nothing_is_there_twice(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    flow.produce(*numbers(1, 20_000))
    (work,) = flow.works(run_ms=60_000, **{"source.consumer.max.poll.records": "200"})
    process = multiprocessing.get_context("spawn").Process(target=run_task, args=(work,))
    process.start()
    try:
        wait_for(lambda: _end(flow) > 0 or not process.is_alive(), 60, "the first records")
    finally:
        process.kill()
        process.join(60)
    assert process.exitcode == -9
    deadline = time.monotonic() + 60
    while flow.tick(run_ms=1500)[0].records and time.monotonic() < deadline:
        pass
    assert flow.values() == numbers(1, 20_000)


def _end(flow: Flow) -> int:
    where = TopicPartition(flow.copy, 0)
    with KafkaAdmin(bootstrap_servers=flow.target) as admin:
        return admin.list_offsets({where: OffsetSpec.LATEST})[where].offset


def test_positions_of_mirror_maker_2_are_taken_over(flow: Flow) -> None:
    """As it writes them: the name of the connector, and a partition whose keys have their own order."""
    flow.create(flow.source, flow.topic)
    flow.produce(*numbers(1, 9))
    partition = f'{{"topic":"{flow.topic}","partition":0,"cluster":"{flow.source_alias}"}}'
    with KafkaProducer(bootstrap_servers=flow.target) as producer:
        producer.send(flow.offsets_topic, b'{"offset":4}', f'["source",{partition}]'.encode())
    flow.tick()
    assert flow.values() == numbers(6, 9)


def test_what_was_aborted_in_the_source_is_not_copied(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    flow.produce("good")
    abort_records(flow.source, flow.topic, "bad")
    flow.produce("better")
    flow.tick()
    assert flow.values() == ["good", "better"]


def test_the_end_to_start_at_is_that_of_what_is_committed(flow: Flow) -> None:
    """A transaction that was open when the connector began is copied whole, once it is committed."""
    flow.create(flow.source, flow.topic)
    flow.produce("before")
    with KafkaProducer(bootstrap_servers=flow.source, transactional_id=flow.group) as producer:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send(flow.topic, b"first half")
        producer.flush(30)
        (work,) = flow.works(**{"source.consumer.auto.offset.reset": "latest"})
        producer.send(flow.topic, b"second half")
        producer.commit_transaction()
    run_task(work)
    assert flow.values() == ["first half", "second half"]


def test_offset_syncs_name_records_that_are_there(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    flow.produce(*numbers(1, 30))
    flow.tick(**{"offset.lag.max": "10"})
    flow.produce(*numbers(31, 40))
    flow.tick(**{"offset.lag.max": "10"})
    copies = {record.offset: record.value for record in flow.records(flow.target, flow.copy)}
    syncs = [
        OffsetSync.decode(record.key, record.value)
        for record in flow.records(flow.source, f"mm2-offset-syncs.{flow.target_alias}.internal")
    ]
    assert {sync.partition.topic for sync in syncs} == {flow.topic}
    for sync in syncs:
        assert copies[sync.downstream_offset] == str(sync.upstream_offset + 1).encode()
    assert syncs[0].upstream_offset == 0
    assert {29, 30, 39} <= {sync.upstream_offset for sync in syncs}


def test_offset_syncs_in_the_target_or_not_at_all(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    flow.produce("1")
    flow.tick(**{"offset-syncs.topic.location": "target"})
    (record,) = flow.records(flow.target, f"mm2-offset-syncs.{flow.source_alias}.internal")
    assert OffsetSync.decode(record.key, record.value).upstream_offset == 0
    flow.produce("2")
    flow.tick(**{"emit.offset-syncs.enabled": "false"})
    assert flow.values() == ["1", "2"]
    assert len(flow.records(flow.target, f"mm2-offset-syncs.{flow.source_alias}.internal")) == 1


def test_from_the_end_means_the_end_when_the_connector_started(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    flow.produce("before")
    works = flow.works(run_ms=300, **{"source.consumer.auto.offset.reset": "latest"})
    assert run_task(works[0]).trace is None
    flow.produce("between ticks")
    assert run_task(works[0]).trace is None
    assert run_task(works[0]).trace is None
    assert flow.values() == ["between ticks"]


def test_the_identity_policy_keeps_names(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    flow.produce("1", "2")
    flow.tick(**{"replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"})
    assert flow.values(flow.topic) == ["1", "2"]


def test_another_separator(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    flow.produce("1")
    flow.tick(**{"replication.policy.separator": "_"})
    assert flow.values(f"{flow.source_alias}_{flow.topic}") == ["1"]


def test_topics_that_are_chosen(flow: Flow) -> None:
    names = [f"{flow.topic}{ending}" for ending in ("", "-eu", "-us", ".replica")]
    for name in (*names, f"{flow.target_alias}.{flow.topic}"):
        flow.create(flow.source, name)
    connector = flow.connector(
        configs=flow.configs(
            **{
                "topics": f"{flow.topic}.*, .*{flow.topic}",
                "topics.exclude": r".*-us, .*\.replica",
            }
        )
    )
    (task,) = connector.task_configs(1)
    assert task["task.assigned.partitions"] == f"{flow.topic}-0,{flow.topic}-eu-0"


def test_new_topics_and_partitions_are_found(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    connector = flow.connector(configs=flow.configs(**{"refresh.topics.interval.seconds": "1"}))
    assert len(connector.task_configs(9)) == 1
    flow.create(flow.source, f"{flow.topic}-new", partitions=2)
    with KafkaAdmin(bootstrap_servers=flow.source) as admin:
        admin.add_partitions(flow.topic, 3)
    wait_for(lambda: len(connector.task_configs(9)) == 5, 30, "the new partitions")
    wait_for(lambda: flow.heard.reconfigurations, 30, "the worker to hear of them")
    with KafkaProducer(bootstrap_servers=flow.target) as producer:
        assert producer.partitions_of(flow.copy) == 3
        assert producer.partitions_of(f"{flow.copy}-new") == 2


def topic_configs(bootstrap: str, topic: str) -> dict[str, str | None]:
    """Its own, as soon as the broker that is asked knows of it."""
    with KafkaAdmin(bootstrap_servers=bootstrap) as admin:
        wait_for(lambda: topic in {each.name for each in admin.list_topics()}, 30, f"news of {topic}")
        found = admin.describe_configs("topic", topic)
        return {
            name: entry.value for name, entry in found.items() if entry.source.name == "DYNAMIC_TOPIC_CONFIG"
        }


def test_settings_of_topics(flow: Flow) -> None:
    flow.create(
        flow.source, flow.topic, retention_ms="1234567", min_insync_replicas="1", cleanup_policy="compact"
    )
    flow.connector(configs=flow.configs(**{"sync.topic.configs.interval.seconds": "1"}))
    assert topic_configs(flow.target, flow.copy) == {"retention.ms": "1234567", "cleanup.policy": "compact"}
    with KafkaAdmin(bootstrap_servers=flow.source) as admin:
        admin.alter_configs("topic", flow.topic, {"retention.ms": "7654321"}, delete=["cleanup.policy"])
    wait_for(
        lambda: topic_configs(flow.target, flow.copy) == {"retention.ms": "7654321"}, 30, "the new settings"
    )


def test_copies_that_cannot_be_made(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    with pytest.raises(ConnectError, match=rf"the copy of {flow.topic} could not be created: .*replication"):
        flow.connector(configs=flow.configs(**{"replication.factor": "9"}))


def test_a_source_that_is_not_there(flow: Flow) -> None:
    configs = flow.configs(
        **{"source.cluster.bootstrap.servers": "127.0.0.1:9", "admin.timeout.ms": "500"},
    )
    with pytest.raises(ConnectError, match=rf"mirroring {flow.source_alias}->{flow.target_alias}: "):
        flow.connector(configs=configs)


def test_a_flow_that_is_not_enabled(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    assert flow.connector(configs=flow.configs(enabled="false")).task_configs(3) == []
