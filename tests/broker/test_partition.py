"""A partition as a follower, over a log in memory."""

import pytest

from penstock.broker.hosted_directory import HostedDirectory
from penstock.broker.partition import Partition
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


@pytest.fixture
def follower() -> Partition:
    directory = HostedDirectory(MemoryFileSystem(), "/data", NobodyWaits())
    directory.open()
    log = directory.open_log(WHERE, TOPIC_ID, topic(), NOW, 1000)
    return Partition(WHERE, TOPIC_ID, FOLLOWER, STATE, log, directory, 0)


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
