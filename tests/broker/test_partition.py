"""A partition as a follower and as a leader, over a log in memory."""

import pytest

from penstock.broker.hosted_directory import HostedDirectory
from penstock.broker.partition import Partition
from penstock.errors import ApiError, ErrorCode
from penstock.replica.replica_set import ReplicaSet
from penstock.testing.memory_fs import MemoryFileSystem
from penstock.types import TopicPartition
from tests.log.support import NOW, batch_of, topic

WHERE = TopicPartition("t", 0)
TOPIC_ID = bytes(range(16))
LEADER, FOLLOWER = 1, 2
STATE = ReplicaSet((LEADER, FOLLOWER), (LEADER,), LEADER, leader_epoch=0)


class NobodyWaits:
    def wake(self, partition: Partition) -> None:
        raise AssertionError

    wake_followers = wake


def partition_at(broker_id: int, state: ReplicaSet) -> Partition:
    directory = HostedDirectory(MemoryFileSystem(), "/data", NobodyWaits())
    directory.open()
    log = directory.open_log(WHERE, TOPIC_ID, topic(), NOW, 1000)
    return Partition(WHERE, TOPIC_ID, broker_id, state, log, directory, 0)


@pytest.fixture
def follower() -> Partition:
    return partition_at(FOLLOWER, STATE)


def fetched(base_offset: int, *values: bytes) -> memoryview:
    batch = batch_of(*values)
    batch.assign(base_offset, 0)
    return batch.view


def test_a_log_that_begins_within_a_batch_takes_the_whole_batch(follower: Partition) -> None:
    """The leader's first record is the second of three; of the batch that is sent, the first one was deleted."""
    follower.start_anew_at(6, NOW)
    assert follower.append_fetched(fetched(5, b"deleted", b"b", b"c"), 8, 6, NOW)
    assert (follower.log.log_start_offset, follower.log.log_end_offset) == (6, 8)
    assert follower.high_watermark == 8
    assert not follower.append_fetched(fetched(8, b"d"), 8, 6, NOW)
    assert (follower.log.log_end_offset, follower.high_watermark) == (9, 8)


@pytest.mark.parametrize("isr", [(LEADER,), (LEADER, FOLLOWER)], ids=["out of sync", "in sync"])
def test_a_follower_beyond_the_leaders_end_has_nothing_of_its_log(isr: tuple[int, ...]) -> None:
    """It goes on from another log, or is none: what it says must neither commit records nor bring it in sync."""
    state = ReplicaSet((LEADER, FOLLOWER), isr, LEADER, leader_epoch=0)
    leader = partition_at(LEADER, state)
    leader.become_leader(state, NOW)
    leader.log.append_as_follower(fetched(0, b"a", b"b"), now_ms=NOW)
    before = leader.high_watermark
    with pytest.raises(ApiError) as refused:
        leader.on_follower_fetch(FOLLOWER, 3, 0, NOW)
    assert refused.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
    assert leader.high_watermark == before
    joined = leader.on_follower_fetch(FOLLOWER, 2, 0, NOW)
    assert joined == ((LEADER, FOLLOWER) if FOLLOWER not in isr else None)
    assert leader.high_watermark == (2 if FOLLOWER in isr else before)
