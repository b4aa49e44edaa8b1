"""Groups of the source find their place in the target."""

from __future__ import annotations

import itertools

from penstock import ConsumerRecord, KafkaAdmin, KafkaConsumer, KafkaProducer, TopicPartition
from penstock.pipeline.connect.tasks.run import run_task
from penstock.pipeline.mirror.formats import Checkpoint, Heartbeat
from tests.pipeline.mirror.flows import Flow
from tests.support.processes import wait_for


def stand_at(flow: Flow, offset: int, topic: str | None = None, group: str | None = None) -> None:
    """Of the group in the source."""
    with KafkaAdmin(bootstrap_servers=flow.source) as admin:
        admin.alter_group_offsets(group or flow.group, {TopicPartition(topic or flow.topic, 0): offset})


def consume(flow: Flow, count: int) -> list[bytes | None]:
    """As a member of the group in the target, which leaves again: the values of `count` records, committed."""
    found: list[ConsumerRecord] = []
    with KafkaConsumer(
        flow.copy,
        bootstrap_servers=flow.target,
        group_id=flow.group,
        auto_offset_reset="earliest",
        isolation_level="read_committed",
        enable_auto_commit=False,
    ) as consumer:
        while len(found) < count:
            records = consumer.poll(30, max_records=count - len(found))
            assert records, f"{len(found)} records instead of {count}"
            found += records
        consumer.commit({TopicPartition(flow.copy, 0): found[-1].offset + 1})
    return [record.value for record in found]


def checkpoints(flow: Flow) -> list[Checkpoint]:
    records = flow.records(flow.target, f"{flow.source_alias}.checkpoints.internal")
    return [Checkpoint.decode(record.key, record.value) for record in records]


def committed(flow: Flow, topic: str) -> int | None:
    with KafkaAdmin(bootstrap_servers=flow.target) as admin:
        found = admin.committed_offsets(flow.group).get(TopicPartition(topic, 0))
        return None if found is None else found.offset


def mirror_some(flow: Flow, **more: str) -> None:
    flow.create(flow.source, flow.topic)
    for first in (0, 20, 40):  # in three transactions, so that offsets differ on both sides
        flow.produce(*map(str, range(first, first + 20)))
        flow.copy_records(20, **{"offset.lag.max": "0", **more})


def test_a_consumer_goes_on_in_the_target_where_it_was_in_the_source(flow: Flow) -> None:
    mirror_some(flow)
    stand_at(flow, 37)
    flow.tick("checkpoint", run_ms=1500, **{"sync.group.offsets.enabled": "true"})
    (checkpoint,) = checkpoints(flow)
    assert checkpoint[:3] == (flow.group, TopicPartition(flow.copy, 0), 37)
    assert checkpoint.downstream_offset > 37, "the copy has markers of transactions"
    assert committed(flow, flow.copy) == checkpoint.downstream_offset
    assert consume(flow, 23) == [str(number).encode() for number in range(37, 60)]


def test_a_group_at_the_end_of_a_topic(flow: Flow) -> None:
    mirror_some(flow)
    stand_at(flow, 60)
    flow.tick("checkpoint", run_ms=1500, **{"sync.group.offsets.enabled": "true"})
    flow.produce("new")
    flow.copy_records(1)
    assert consume(flow, 1) == [b"new"]


def test_offset_syncs_in_the_target_do_as_well(flow: Flow) -> None:
    where = {"offset-syncs.topic.location": "target"}
    mirror_some(flow, **where)
    stand_at(flow, 5)
    flow.tick("checkpoint", **where)
    assert [each.upstream_offset for each in checkpoints(flow)] == [5]
    assert committed(flow, flow.copy) is None, "nobody asked for it"


def test_checkpoints_are_written_when_something_has_changed(flow: Flow) -> None:
    mirror_some(flow)
    stand_at(flow, 5)
    for _ in range(2):
        flow.tick("checkpoint", run_ms=1500)
    assert [each.upstream_offset for each in checkpoints(flow)] == [5]
    stand_at(flow, 10)
    flow.tick("checkpoint", run_ms=1500)
    assert [each.upstream_offset for each in checkpoints(flow)] == [5, 10]


def test_a_group_that_goes_back(flow: Flow) -> None:
    mirror_some(flow)
    stand_at(flow, 30)
    flow.tick("checkpoint")
    stand_at(flow, 3)
    flow.tick("checkpoint")
    assert [each.upstream_offset for each in checkpoints(flow)] == [30, 3]


def test_a_group_that_is_used_in_the_target_is_left_alone(flow: Flow) -> None:
    mirror_some(flow)
    stand_at(flow, 30)
    with KafkaConsumer(
        flow.copy, bootstrap_servers=flow.target, group_id=flow.group, auto_offset_reset="earliest"
    ) as consumer:
        wait_for(lambda: consumer.poll(0.5, max_records=1), 60, "a record")
        flow.tick("checkpoint", run_ms=1500, **{"sync.group.offsets.enabled": "true"})
        assert checkpoints(flow)
        assert (committed(flow, flow.copy) or 0) < 30


def test_an_idle_group_that_is_further_in_the_target_is_not_taken_back(flow: Flow) -> None:
    mirror_some(flow)
    stand_at(flow, 5)
    consume(flow, 50)
    before = committed(flow, flow.copy)
    flow.tick("checkpoint", run_ms=1500, **{"sync.group.offsets.enabled": "true"})
    assert committed(flow, flow.copy) == before


def test_groups_that_are_chosen(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    flow.produce("1")
    flow.create(flow.source, f"other-{flow.topic}")
    flow.produce("1", topic=f"other-{flow.topic}")
    stand_at(flow, 1, group=f"{flow.group}-in,cluded")
    stand_at(flow, 1, group=f"{flow.group}-excluded")
    stand_at(flow, 1, f"other-{flow.topic}", f"{flow.group}-elsewhere")
    works = flow.works("checkpoint", 5, **{"groups.exclude": ".*-excluded"})
    assert [work.task_configs["task.assigned.groups"] for work in works] == [f'["{flow.group}-in,cluded"]']


def test_new_groups_are_found(flow: Flow) -> None:
    flow.create(flow.source, flow.topic)
    flow.produce("1")
    connector = flow.connector("checkpoint", flow.configs(**{"refresh.groups.interval.seconds": "1"}))
    assert connector.task_configs(3) == []
    stand_at(flow, 1)
    wait_for(lambda: flow.heard.reconfigurations, 30, "the new group")
    assert len(connector.task_configs(3)) == 1


def test_records_that_are_no_checkpoints_are_passed_over(flow: Flow) -> None:
    mirror_some(flow)
    stand_at(flow, 5)
    works = flow.works("checkpoint")
    with KafkaProducer(bootstrap_servers=flow.target) as producer:
        producer.send(f"{flow.source_alias}.checkpoints.internal", b"what", b"ever")
    assert run_task(works[0]).trace is None
    found = flow.records(flow.target, f"{flow.source_alias}.checkpoints.internal")
    assert Checkpoint.decode(found[-1].key, found[-1].value).upstream_offset == 5


def test_heartbeats_and_copies_of_them(flow: Flow) -> None:
    """Those of the source cluster come from a flow that has it as its target."""
    flow.tick("heartbeat", run_ms=2500)
    beats = [
        beat
        for record in flow.records(flow.target, "heartbeats")
        if (beat := Heartbeat.decode(record.key, record.value)).source == flow.source_alias
    ]
    assert {beat.target for beat in beats} == {flow.target_alias}
    assert len(beats) >= 2
    assert all(later.timestamp - beat.timestamp >= 900 for beat, later in itertools.pairwise(beats))
    connector = flow.connector("heartbeat", flow.configs(**{"emit.heartbeats.enabled": "false"}))
    assert connector.task_configs(1) == []
