"""What a transcript is not the right form for: what the work costs, and logs that others wrote."""

from penstock.errors import ErrorCode
from penstock.group.consumer_group import ConsumerGroup
from penstock.group.consumer_member import CurrentAssignment, MemberState
from penstock.group.shard import GroupShard
from penstock.machine import RecordContext
from penstock.wire.stored.group import (
    ConsumerGroupCurrentMemberAssignmentKey,
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMetadataKey,
    ConsumerGroupPartitionMetadataKey,
    ConsumerGroupPartitionMetadataValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMetadataKey,
)
from penstock.wire.stored_records import decode_key
from tests.group.consumers import GROUP, Consumer, consumer_group, group_world, sender, settle
from tests.scripts.world import LoggedRecord, World

CONTEXT = RecordContext(0, 0)


def written(world: World[GroupShard], since: int) -> list[type]:
    """The kinds of the records from this place of the log on."""
    records = [entry for entry in world.log[since:] if isinstance(entry, LoggedRecord)]
    return [type(decode_key(world.machine.RECORD_TYPES, record.key)) for record in records]


def test_fifty_members_settle_in_a_round_or_two_after_one_leaves() -> None:
    world = group_world()
    world.put_topic("t", 500)
    consumers = [Consumer(sender(world), f"m{number:02}", ["t"]) for number in range(50)]
    settle(consumers)
    assert {len(consumer.owned) for consumer in consumers} == {10}
    had = {consumer.member_id: set(consumer.owned) for consumer in consumers}
    before = len(world.log)
    gone, *rest = consumers
    gone.leave()
    assert settle(rest) <= 1
    assert all(had[consumer.member_id] < consumer.owned for consumer in rest if len(consumer.owned) > 10)
    kinds = written(world, before)
    assert kinds.count(ConsumerGroupMetadataKey) == kinds.count(ConsumerGroupTargetAssignmentMetadataKey) == 1
    assert kinds.count(ConsumerGroupTargetAssignmentMemberKey) == 1 + 10, "only those that get more"
    assert kinds.count(ConsumerGroupCurrentMemberAssignmentKey) == 1 + 49
    assert kinds.count(ConsumerGroupMemberMetadataKey) == 1


def test_heartbeats_without_news_write_nothing() -> None:
    world = group_world()
    world.put_topic("t", 4)
    consumers = [Consumer(sender(world), name, ["t"]) for name in ("a", "b")]
    settle(consumers)
    before = len(world.log)
    for consumer in consumers:
        consumer.beat()
    world.put_topic("other", 4)
    for consumer in consumers:
        consumer.beat()
    assert len(world.log) == before


def test_a_log_of_an_older_version_loses_its_partition_metadata() -> None:
    """Before there was a hash, the topics' partitions were kept in a record of their own."""
    world = group_world()
    world.put_topic("t", 2)
    one = Consumer(sender(world), "one", ["t"])
    settle([one])
    key = ConsumerGroupPartitionMetadataKey(GROUP)
    world.machine.replay(key, ConsumerGroupPartitionMetadataValue(), CONTEXT)
    before = len(world.log)
    world.put_topic("t", 3)
    one.beat()
    assert written(world, before).count(ConsumerGroupPartitionMetadataKey) == 1
    group = consumer_group(world.machine)
    assert group is not None
    assert not group.has_partition_metadata


def test_a_member_in_a_state_of_a_newer_version_begins_anew() -> None:
    world = group_world()
    world.put_topic("t", 2)
    one = Consumer(sender(world), "one", ["t"])
    settle([one])
    unknown = CurrentAssignment(one.epoch, one.epoch, MemberState.UNKNOWN).encode()
    world.machine.replay(ConsumerGroupCurrentMemberAssignmentKey(GROUP, "one"), unknown, CONTEXT)
    one.heartbeat()
    assert one.error == ErrorCode.FENCED_MEMBER_EPOCH
    settle([one])
    assert len(one.owned) == 2


def test_tombstones_of_what_is_not_there_are_nothing() -> None:
    world = group_world()
    for key in (
        ConsumerGroupCurrentMemberAssignmentKey(GROUP, "one"),
        ConsumerGroupTargetAssignmentMemberKey(GROUP, "one"),
        ConsumerGroupMemberMetadataKey(GROUP, "one"),
        ConsumerGroupTargetAssignmentMetadataKey(GROUP),
        ConsumerGroupMetadataKey(GROUP),
    ):
        world.machine.replay(key, None, CONTEXT)
    assert world.machine.context.groups == {}


def test_a_partition_has_the_owner_that_the_log_names_last() -> None:
    """A compacted log may have lost in between what an owner gave up."""
    group = ConsumerGroup(GROUP)
    topic_id = bytes(15) + b"1"

    def fold(member_id: str, epoch: int, *partitions: int) -> None:
        assigned = {topic_id: dict.fromkeys(partitions, epoch)} if partitions else {}
        value = CurrentAssignment(epoch, epoch, assigned=assigned).encode()
        group.fold(ConsumerGroupCurrentMemberAssignmentKey(GROUP, member_id), value)

    fold("one", 1, 0, 1)
    fold("two", 2, 1)
    fold("one", 2, 0)
    assert group.is_owned(topic_id, 1)
    fold("two", 3)
    assert group.is_owned(topic_id, 0)
    assert not group.is_owned(topic_id, 1)
