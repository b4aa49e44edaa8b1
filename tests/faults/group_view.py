"""A group as its coordinator tells: state, members, what each owns, and the committed offsets, watched all along."""

from __future__ import annotations

import struct
import threading
from dataclasses import dataclass
from types import TracebackType

from penstock.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from tests.support.wire_client import WireClient

OFFSET_FETCH_BY_NAME = 9
LOOK_SECONDS = 0.2


@dataclass(frozen=True)
class GroupView:
    state: str
    epoch: int
    """-1 in a classic group, whose generation is not told."""
    owned: dict[str, tuple[int, ...]]
    """By member id."""

    @property
    def owned_by_all(self) -> list[int]:
        """Sorted; a partition that two members own comes twice."""
        return sorted(partition for partitions in self.owned.values() for partition in partitions)

    def is_settled(self, members: int, partitions: int) -> bool:
        return (
            self.state == "Stable"
            and len(self.owned) == members
            and self.owned_by_all == list(range(partitions))
        )


# describing


def decode_assignment(data: bytes) -> list[int]:
    """The partitions in a classic member's assignment; all tests here have one topic."""
    if not data:
        return []
    _version, topics = struct.unpack_from(">hi", data)
    position = 6
    partitions: list[int] = []
    for _ in range(topics):
        (length,) = struct.unpack_from(">h", data, position)
        (count,) = struct.unpack_from(">i", data, position + 2 + length)
        partitions += struct.unpack_from(f">{count}i", data, position + 6 + length)
        position += 6 + length + 4 * count
    return partitions


def describe_classic(client: WireClient, group: str) -> GroupView:
    (described,) = client.send(DescribeGroupsRequest(groups=[group])).groups
    owned = {
        member.member_id: tuple(decode_assignment(bytes(member.member_assignment)))
        for member in described.members
    }
    return GroupView(described.group_state, -1, owned)


def describe_consumer(client: WireClient, group: str) -> GroupView:
    (described,) = client.send(ConsumerGroupDescribeRequest(group_ids=[group])).groups
    owned = {
        member.member_id: tuple(
            partition for topic in member.assignment.topic_partitions for partition in topic.partitions
        )
        for member in described.members
    }
    return GroupView(described.group_state, described.group_epoch, owned)


def describe(client: WireClient, group: str, protocol: str) -> GroupView:
    return (describe_consumer if protocol == "consumer" else describe_classic)(client, group)


# offsets


def committed_offsets(client: WireClient, group: str, topic: str, partitions: int) -> list[int] | None:
    """-1 where nothing is committed yet; None while the coordinator cannot tell."""
    asked = OffsetFetchRequestTopics(name=topic, partition_indexes=list(range(partitions)))
    request = OffsetFetchRequest(groups=[OffsetFetchRequestGroup(group_id=group, topics=[asked])])
    (answer,) = client.send(request, OFFSET_FETCH_BY_NAME).groups
    found = {each.partition_index: each for told in answer.topics for each in told.partitions}
    if answer.error_code or len(found) < partitions or any(each.error_code for each in found.values()):
        return None
    return [found[partition].committed_offset for partition in range(partitions)]


class OffsetObserver:
    """Looks at the committed offsets again and again, on a thread of its own, and notes each that went back."""

    def __init__(self, bootstrap: str, group: str, topic: str, partitions: int) -> None:
        self.asked = (group, topic, partitions)
        self.bootstrap = bootstrap
        self.latest = [-1] * partitions
        self.looks = 0
        self.went_back: list[str] = []
        self._stopping = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name=f"observer-{group}")

    def _run(self) -> None:
        try:
            with WireClient(self.bootstrap) as client:
                while not self._stopping.wait(LOOK_SECONDS):
                    if (offsets := committed_offsets(client, *self.asked)) is not None:
                        self.note(offsets)
        except BaseException as failure:
            self._failure = failure

    def note(self, offsets: list[int]) -> None:
        self.looks += 1
        for partition, (before, now) in enumerate(zip(self.latest, offsets, strict=True)):
            if now < before:
                self.went_back.append(f"partition {partition}: from {before} to {now}")
        self.latest = offsets

    def check(self) -> None:
        """That it could look, and that nothing went back."""
        assert self._failure is None, self._failure
        assert not self.went_back, self.went_back

    def __enter__(self) -> OffsetObserver:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()
