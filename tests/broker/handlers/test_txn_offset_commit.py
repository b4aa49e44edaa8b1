from collections.abc import Mapping
from typing import Any

import pytest

from penstock.errors import ErrorCode
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.broker.asking import unique_topic
from tests.broker.committing import (
    all_committed,
    commit,
    committed,
    delete_offset,
    fetch_group,
    new_group,
)
from tests.broker.transacting import RETRIED, Transactor
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient


@pytest.fixture
def group(client: WireClient) -> str:
    return new_group(client)


@pytest.fixture
def alice(client: WireClient) -> Transactor:
    return Transactor(client)


def commit_with(
    alice: Transactor,
    group: str,
    offsets: Mapping[tuple[str, int], int],
    metadata: str | None = "",
    version: int = 5,
    **who: Any,
) -> list[int]:
    """Commits offsets in the producer's transaction; the codes, in the same order."""
    topics = [
        TxnOffsetCommitRequestTopic(
            topic, [TxnOffsetCommitRequestPartition(partition, offset, committed_metadata=metadata)]
        )
        for (topic, partition), offset in offsets.items()
    ]
    request = TxnOffsetCommitRequest(
        alice.transactional_id, group, alice.producer_id, alice.epoch, topics=topics, **who
    )

    def ask() -> list[int] | None:
        answers = alice.client.send(request, version).topics
        found = {
            (one.name, partition.partition_index): partition.error_code
            for one in answers
            for partition in one.partitions
        }
        return None if RETRIED & set(found.values()) else [found[key] for key in offsets]

    codes = wait_for(ask, what="the last transaction to end")
    assert isinstance(codes, list)
    return codes


def stable(client: WireClient, group: str, topic: str, *partitions: int) -> list[int | ErrorCode]:
    """The offsets, or the errors, that a consumer with read_committed gets."""
    (found,) = fetch_group(client, group, {topic: partitions}, require_stable=True).topics
    return [ErrorCode(one.error_code) if one.error_code else one.committed_offset for one in found.partitions]


def test_offsets_are_unstable_until_the_end(client: WireClient, group: str, alice: Transactor) -> None:
    topic = unique_topic(client, 3)
    assert commit(client, group, topic, 1) == 0
    assert commit_with(alice, group, {(topic, 0): 5, (topic, 1): 6}, "note") == [0, 0]
    unstable = ErrorCode.UNSTABLE_OFFSET_COMMIT
    assert stable(client, group, topic, 0, 1, 2) == [unstable, unstable, -1]
    everything = fetch_group(client, group, None, require_stable=True).topics
    assert [(one.name, [p.error_code for p in one.partitions]) for one in everything] == [(topic, [unstable])]
    assert all_committed(client, group) == {(topic, 0): 1}

    alice.commit()
    wait_for(lambda: stable(client, group, topic, 0, 1, 2) == [5, 6, -1], what="the offsets to count")
    (found,) = fetch_group(client, group, {topic: [0, 1]}).topics
    assert [one.metadata for one in found.partitions] == ["note", "note"]


@pytest.mark.parametrize("version", range(6))
def test_every_version(client: WireClient, topic: str, group: str, version: int) -> None:
    protocol = 2 if version >= 5 else 1
    alice = Transactor(client, protocol=protocol)
    if protocol == 1:
        request = AddOffsetsToTxnRequest(alice.transactional_id, alice.producer_id, alice.epoch, group)
        assert client.send(request, 3).error_code == ErrorCode.NONE
    assert commit_with(alice, group, {(topic, 0): 5}, version=version) == [0]
    alice.commit()
    wait_for(lambda: stable(client, group, topic, 0) == [5], what="the offset to count")


def test_what_can_not_be_written(client: WireClient, topic: str, group: str, alice: Transactor) -> None:
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    missing = {("no-such-topic", 0): 1, (topic, 7): 1}
    assert commit_with(alice, group, missing) == [unknown] * 2
    assert alice.describe().transaction_state == "Empty", "nothing to write is nothing to add"
    assert commit_with(alice, "", {(topic, 0): 1, ("no-such-topic", 0): 1}) == [
        ErrorCode.INVALID_GROUP_ID,
        unknown,
    ]
    assert commit_with(alice, group, {(topic, 0): 1}, "x" * 4097) == [ErrorCode.OFFSET_METADATA_TOO_LARGE]
    assert commit_with(alice, group, {(topic, 0): 1, ("no-such-topic", 0): 1}) == [0, unknown]
    alice.commit()
    wait_for(lambda: all_committed(client, group) == {(topic, 0): 1}, what="the offset to count")


def test_members_that_are_none(client: WireClient, topic: str, group: str, alice: Transactor) -> None:
    stranger: dict[str, Any] = {"member_id": "somebody", "generation_id": 3}
    assert commit_with(alice, group, {(topic, 0): 1}, **stranger) == [ErrorCode.ILLEGAL_GENERATION]
    assert commit(client, group, topic, 1) == 0
    assert commit_with(alice, group, {(topic, 0): 2}, **stranger) == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert commit_with(alice, group, {(topic, 0): 3}) == [0]
    alice.commit()
    wait_for(lambda: committed(client, group, topic) == 3, what="the offset to count")


def test_of_two_commits_the_later_one_counts(
    client: WireClient, topic: str, group: str, alice: Transactor
) -> None:
    bob = Transactor(client)
    assert commit_with(alice, group, {(topic, 0): 10}) == [0]
    assert commit_with(bob, group, {(topic, 0): 20}) == [0]
    bob.commit()
    assert stable(client, group, topic, 0) == [ErrorCode.UNSTABLE_OFFSET_COMMIT]
    alice.commit()
    wait_for(lambda: stable(client, group, topic, 0) == [20], what="both to end")
    assert commit_with(alice, group, {(topic, 0): 30}) == [0]
    assert commit(client, group, topic, 25) == 0
    alice.commit()
    wait_for(lambda: stable(client, group, topic, 0) == [25], what="the plain commit to stay")


def test_a_deletion_takes_what_is_pending_along(
    client: WireClient, topic: str, group: str, alice: Transactor
) -> None:
    assert commit_with(alice, group, {(topic, 0): 10}) == [0]
    assert delete_offset(client, group, topic).topics[0].partitions[0].error_code == 0
    assert stable(client, group, topic, 0) == [-1]
    alice.commit()
    assert stable(client, group, topic, 0) == [-1]
