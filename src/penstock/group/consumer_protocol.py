"""What consumers of the classic protocol tell each other through the broker: subscriptions and assignments.

The bytes are a version and a message. One of a version that is not known here yet is read as the newest that is.
"""

from collections.abc import Iterable, Mapping, Sequence
from struct import Struct
from typing import TypeVar

from penstock.controller.image import ClusterImage
from penstock.errors import ProtocolError
from penstock.wire.codec import decode_message, writer
from penstock.wire.schema import Field, Message, VersionedMessage

NEWEST_VERSION = 3

_SHORT = Struct(">h")
MessageT = TypeVar("MessageT", bound=VersionedMessage)


class NamedPartitions(Message):
    """Partitions of a topic."""

    __slots__ = ("partitions", "topic")

    def __init__(self, topic: str = "", partitions: Sequence[int] = ()) -> None:
        self.topic = topic
        self.partitions = partitions

    SCHEMA = (
        Field("topic", "string", None, (0, 3), None, None, ""),
        Field("partitions", "[]int32", None, (0, 3), None, None, ()),
    )


class Subscription(VersionedMessage):
    __slots__ = ("generation_id", "owned_partitions", "rack_id", "topics", "user_data")

    def __init__(
        self,
        topics: Sequence[str] = (),
        user_data: bytes | None = None,
        owned_partitions: Sequence[NamedPartitions] = (),
        generation_id: int = -1,
        rack_id: str | None = None,
    ) -> None:
        self.topics = topics
        self.user_data = user_data
        self.owned_partitions = owned_partitions
        self.generation_id = generation_id
        self.rack_id = rack_id

    SCHEMA = (
        Field("topics", "[]string", None, (0, 3), None, None, ()),
        Field("user_data", "bytes", None, (0, 3), (0, 3), None, None),
        Field("owned_partitions", "[]struct", NamedPartitions, (1, 3), None, None, ()),
        Field("generation_id", "int32", None, (2, 3), None, None, -1),
        Field("rack_id", "string", None, (3, 3), (3, 3), None, None),
    )
    VERSIONS = (0, NEWEST_VERSION)
    FIRST_FLEXIBLE = NEWEST_VERSION + 1


class AssignedPartitions(VersionedMessage):
    __slots__ = ("assigned_partitions", "user_data")

    def __init__(
        self, assigned_partitions: Sequence[NamedPartitions] = (), user_data: bytes | None = None
    ) -> None:
        self.assigned_partitions = assigned_partitions
        self.user_data = user_data

    SCHEMA = (
        Field("assigned_partitions", "[]struct", NamedPartitions, (0, 3), None, None, ()),
        Field("user_data", "bytes", None, (0, 3), (0, 3), None, None),
    )
    VERSIONS = (0, NEWEST_VERSION)
    FIRST_FLEXIBLE = NEWEST_VERSION + 1


def decode_subscription(data: bytes) -> Subscription:
    return _decode(Subscription, data)


def decode_assignment(data: bytes) -> AssignedPartitions:
    return _decode(AssignedPartitions, data)


def encode(message: Subscription | AssignedPartitions, version: int) -> bytes:
    out = bytearray(_SHORT.pack(version))
    writer(type(message), version)(out, [], message)
    return bytes(out)


def version_of(data: bytes) -> int:
    if len(data) < _SHORT.size:
        raise ProtocolError(f"{len(data)} bytes have no version")
    version = int(_SHORT.unpack_from(data)[0])
    if version < 0:
        raise ProtocolError(f"there is no version {version}")
    return min(version, NEWEST_VERSION)


def _decode(cls: type[MessageT], data: bytes) -> MessageT:
    return decode_message(cls, version_of(data), memoryview(data), _SHORT.size)


# topics by id and by name


def name_partitions(partitions: Mapping[bytes, Iterable[int]], image: ClusterImage) -> list[NamedPartitions]:
    """Leaves out topics that are gone."""
    return [
        NamedPartitions(image.topic_names[topic_id], sorted(partitions[topic_id]))
        for topic_id in sorted(partitions)
        if topic_id in image.topic_names
    ]


def identify_partitions(named: Iterable[NamedPartitions], image: ClusterImage) -> dict[bytes, frozenset[int]]:
    return {
        image.topics[one.topic].topic_id: frozenset(one.partitions)
        for one in named
        if one.topic in image.topics
    }
