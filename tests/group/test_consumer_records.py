"""The records of consumer groups, byte by byte as Kafka 4.3 wrote them, and the hash that they carry."""

import pytest

from penstock.controller.image import BrokerImage, ClusterImage, TopicImage
from penstock.group.consumer_member import CurrentAssignment, MemberMetadata, MemberState
from penstock.group.metadata_hash import TopicHashes
from penstock.group.migration import classic_metadata
from penstock.group.shard import GroupShard
from penstock.group.xxh3 import hash_xxh3
from penstock.replica.replica_set import ReplicaSet
from penstock.wire.stored.group import ConsumerGroupMemberMetadataKey, CurrentTopicPartitions
from penstock.wire.stored_records import decode_value, encode_key, encode_value

TYPES = GroupShard.RECORD_TYPES
METADATA_BYTES = (
    b"\x00\x00\x00\x00\x05test\x0b/127.0.0.1\x04\x08bar.x-1\x04foo\x05nope"
    b"\x01\x00\x00\x03\xe8\x00\x01\x00\x01\x00"
)


def test_metadata_of_a_member() -> None:
    metadata = MemberMetadata(
        client_id="test",
        client_host="/127.0.0.1",
        subscribed_topic_names=frozenset({"foo", "nope", "bar.x-1"}),
        rebalance_timeout_ms=1000,
    )
    assert encode_key(ConsumerGroupMemberMetadataKey("g", "m")) == b"\x00\x05\x00\x01g\x00\x01m"
    assert encode_value(metadata.encode(), 0) == METADATA_BYTES
    assert MemberMetadata.decode(decode_value(TYPES, 5, METADATA_BYTES)) == metadata  # type: ignore[arg-type]


def test_metadata_of_a_classic_member() -> None:
    metadata = MemberMetadata(classic=classic_metadata(10_000, [("range", b"\x01")]))
    encoded = encode_value(metadata.encode(), 0)
    assert encoded.endswith(b"\x01\x00\x10\x01\x00\x00\x27\x10\x02\x06range\x02\x01\x00\x00")
    assert MemberMetadata.decode(decode_value(TYPES, 5, encoded)) == metadata  # type: ignore[arg-type]


def test_current_assignments() -> None:
    topic_id = bytes(range(16))
    current = CurrentAssignment(
        5, 4, MemberState.UNREVOKED_PARTITIONS, {topic_id: {0: 3, 2: 5}}, {topic_id: {1: 4}}
    )
    encoded = encode_value(current.encode(), 0)
    assert CurrentAssignment.decode(decode_value(TYPES, 8, encoded)) == current  # type: ignore[arg-type]


@pytest.mark.parametrize(("member_epoch", "expected"), [(7, 7), (-2, 0)])
def test_assignments_from_before_partitions_had_epochs(member_epoch: int, expected: int) -> None:
    topic_id = bytes(range(16))
    value = CurrentAssignment(member_epoch).encode()
    value.assigned_partitions = [CurrentTopicPartitions(topic_id, [0, 1])]
    assert CurrentAssignment.decode(value).assigned == {topic_id: {0: expected, 1: expected}}


def test_a_state_that_is_not_known_yet() -> None:
    value = CurrentAssignment().encode()
    value.state = 9
    assert CurrentAssignment.decode(value).state == MemberState.UNKNOWN


def cluster(rack: str | None, counts: dict[str, tuple[str, int]]) -> ClusterImage:
    image = ClusterImage()
    image.brokers[1] = BrokerImage(1, {}, rack)
    for name, (topic_id, count) in counts.items():
        sets = {index: ReplicaSet((1,), (1,), 1, 0) for index in range(count)}
        image.put_topic(TopicImage(name, bytes.fromhex(topic_id), sets), {})
    return image


TOPICS = {"foo": ("2a1a2228923149c0b6231d9f5553662d", 4), "bar.x-1": ("77d47e85db244ed49ff04d4aa3eddcee", 70)}


def test_the_hash_of_topics_is_kafkas() -> None:
    hashes = TopicHashes(cluster(None, TOPICS))
    assert hashes.of_group(["foo", "bar.x-1", "nope"]) == 2095729420503218617
    assert hashes.of_group(["nope"]) == 0


def test_the_hash_changes_with_partitions_and_racks() -> None:
    topics = ["foo", "bar.x-1"]
    grown = {**TOPICS, "foo": (TOPICS["foo"][0], 5)}
    found = {
        TopicHashes(cluster(rack, counts)).of_group(topics)
        for rack in (None, "a", "b")
        for counts in (TOPICS, grown)
    }
    assert len(found) == 6


def test_a_topic_is_hashed_anew_when_it_is_forgotten() -> None:
    image = cluster(None, TOPICS)
    hashes = TopicHashes(image)
    before = hashes.of_group(["foo"])
    image.put_topic(cluster(None, {"foo": (TOPICS["foo"][0], 5)}).topics["foo"], {})
    assert hashes.of_group(["foo"]) == before
    hashes.forget(["foo"])
    assert hashes.of_group(["foo"]) != before


@pytest.mark.parametrize(
    ("length", "expected"),
    [
        (0, 0x2D06800538D394C2),
        (3, 0x5F4299FC161C9CBB),
        (8, 0x3A1C2D7C85AF88F8),
        (16, 0x8355E3A6F61770DB),
        (100, 0x4E4F921A64BD1C),
        (200, 0xF42A8864FEAF0703),
        (1025, 0xE95C42288F28186E),
    ],
)
def test_xxh3(length: int, expected: int) -> None:
    assert hash_xxh3(bytes(index % 251 for index in range(length))) == expected
