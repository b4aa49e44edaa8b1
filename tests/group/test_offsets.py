"""What transcripts don't show: the bytes of the records, what older brokers left behind, names that come again."""

import pytest

from penstock.controller.image import TopicImage
from penstock.errors import ApiError, ErrorCode
from penstock.group.classic_group import ClassicGroup
from penstock.group.groups import CheckPartition
from penstock.group.shard import GroupShard
from penstock.machine import Caller, RecordContext
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from penstock.wire.messages.offset_fetch import OffsetFetchRequestGroup, OffsetFetchRequestTopics
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from penstock.wire.stored.group import LegacyOffsetCommitKey, LegacyOffsetCommitValue
from tests.scripts.world import START_MS, LoggedRecord, World

SETTINGS = BrokerSettings()


@pytest.fixture
def world() -> World[GroupShard]:
    world: World[GroupShard] = World(lambda own: GroupShard(own.image, lambda: SETTINGS, own.new_id))
    world.put_topic("orders", 2)
    return world


def commit(
    world: World[GroupShard],
    offset: int,
    partition: int = 0,
    *,
    version: int = 9,
    note: str = "",
    leader_epoch: int = -1,
    retention_ms: int = -1,
    generation: int = -1,
) -> int:
    one = OffsetCommitRequestPartition(partition, offset, leader_epoch, note)
    request = OffsetCommitRequest(
        "g",
        generation,
        retention_time_ms=retention_ms,
        topics=[OffsetCommitRequestTopic("orders", partitions=[one])],
    )
    asked = world.ask(
        "admin",
        lambda shard, ticket, now_ms: shard.offsets.handle_offset_commit(
            request, Caller(version), ticket, now_ms
        ),
    )
    code: int = asked.answer.topics[0].partitions[0].error_code
    return code


def fetched(world: World[GroupShard], topic_id: bytes | None = None) -> int:
    """The offset of orders-0, by name or by id."""
    version = 9 if topic_id is None else 10
    topic = OffsetFetchRequestTopics("orders", topic_id or bytes(16), [0])
    wanted = OffsetFetchRequestGroup("g", topics=[topic])
    found = world.machine.offsets.fetch(wanted, version, require_stable=False)
    offset: int = found.topics[0].partitions[0].committed_offset
    return offset


def last_record(world: World[GroupShard]) -> LoggedRecord:
    record = world.log[-1]
    assert isinstance(record, LoggedRecord)
    return record


KEY = b"\x00\x01\x00\x01g\x00\x06orders\x00\x00\x00\x01"
TIME = START_MS.to_bytes(8)


def test_the_record_of_a_commit(world: World[GroupShard]) -> None:
    assert commit(world, 5, 1, note="note", leader_epoch=3) == 0
    record = last_record(world)
    topic_id = world.image.topics["orders"].topic_id
    assert record.key == KEY
    assert record.value == (
        b"\x00\x04" + (5).to_bytes(8) + (3).to_bytes(4) + b"\x05note" + TIME + b"\x01\x00\x10" + topic_id
    )


def test_the_record_of_a_commit_that_says_when_it_expires(world: World[GroupShard]) -> None:
    assert commit(world, 5, 1, note="note", retention_ms=1000, version=4) == 0
    expires = (START_MS + 1000).to_bytes(8)
    assert last_record(world).value == b"\x00\x01" + (5).to_bytes(8) + b"\x00\x04note" + TIME + expires


def test_the_record_of_a_commit_in_a_transaction(world: World[GroupShard]) -> None:
    one = TxnOffsetCommitRequestPartition(1, 5, committed_metadata=None)
    request = TxnOffsetCommitRequest("t", "g", 7, 2, topics=[TxnOffsetCommitRequestTopic("orders", [one])])
    world.ask(
        "producer",
        lambda shard, ticket, now_ms: shard.offsets.handle_txn_offset_commit(
            request, Caller(5), ticket, now_ms
        ),
    )
    record = last_record(world)
    assert record.key == KEY
    assert record.value == b"\x00\x04" + (5).to_bytes(8) + b"\xff" * 4 + b"\x01" + TIME + b"\x00"
    assert record.context.producer == (7, 2)


def test_records_of_the_first_brokers(world: World[GroupShard]) -> None:
    key, value = LegacyOffsetCommitKey("g", "orders", 0), LegacyOffsetCommitValue(9, "old", START_MS)
    world.machine.replay(key, value, RecordContext(0, START_MS))
    assert fetched(world) == 9
    world.machine.replay(key, None, RecordContext(1, START_MS))
    assert fetched(world) == -1


def test_a_topic_that_comes_again_under_its_name(world: World[GroupShard]) -> None:
    assert commit(world, 5) == 0
    old = world.image.topics["orders"]
    new = TopicImage("orders", bytes(15) + b"\x99", old.partitions)
    world.image.remove_topic("orders")
    world.image.put_topic(new, {})
    assert fetched(world, new.topic_id) == -1, (
        "who asks for the new topic is not told of the old one's offset"
    )
    assert fetched(world) == 5, "who only knows the name is"
    outcome = world.machine.on_topics_changed(frozenset({"orders"}), world.now_ms)
    assert len(outcome.records) == 1
    world.carry_out(outcome)
    assert fetched(world) == -1


def test_a_topic_that_grows_keeps_its_offsets(world: World[GroupShard]) -> None:
    assert commit(world, 5) == 0
    world.put_topic("orders", 4)
    assert fetched(world) == 5


class Behind(ClassicGroup):
    """A group that lets a member that is behind commit partition 1 only."""

    def check_offset_commit(
        self,
        member_id: str,
        group_instance_id: str | None,
        generation_or_epoch: int,
        *,
        is_transactional: bool,
        version: int,
    ) -> CheckPartition | None:
        def check(topic: str, topic_id: bytes, partition: int) -> None:
            if (topic, partition) != ("orders", 1):
                raise ApiError(ErrorCode.STALE_MEMBER_EPOCH)

        return check


def test_groups_judge_each_partition(world: World[GroupShard]) -> None:
    world.machine.context.groups["g"] = Behind("g")
    assert commit(world, 5, 0, generation=4) == ErrorCode.STALE_MEMBER_EPOCH
    assert world.log == []
    assert commit(world, 5, 1, generation=4) == 0


def test_a_refused_partition_refuses_the_commit(world: World[GroupShard]) -> None:
    world.machine.context.groups["g"] = Behind("g")
    some = [TxnOffsetCommitRequestPartition(1, 5), TxnOffsetCommitRequestPartition(0, 5)]
    request = TxnOffsetCommitRequest("t", "g", 7, 2, topics=[TxnOffsetCommitRequestTopic("orders", some)])
    asked = world.ask(
        "producer",
        lambda shard, ticket, now_ms: shard.offsets.handle_txn_offset_commit(
            request, Caller(5), ticket, now_ms
        ),
    )
    codes = [one.error_code for one in asked.answer.topics[0].partitions]
    assert codes == [ErrorCode.ILLEGAL_GENERATION] * 2, "the older protocol knows no epochs"
    assert world.log == []
