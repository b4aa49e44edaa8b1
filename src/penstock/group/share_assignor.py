"""The simple assignor of share groups: every partition goes to somebody, and every member gets something.

Partitions are not owned. If there are more members than partitions, several members share one; each partition is
shared by equally many. What members have stays with them as far as the new shares allow.

If all members want the same topics, all partitions are dealt out together; if not, topic by topic.
"""

from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

from penstock.group.modern_group import Assignment


class TopicPart(NamedTuple):
    topic_id: bytes
    partition: int


def assign_partitions(
    subscriptions: Mapping[str, frozenset[bytes]],
    partitions: Mapping[bytes, Sequence[int]],
    current: Mapping[str, Assignment],
) -> dict[str, Assignment]:
    """What each member is to read: of the topics it wants, the partitions that can be assigned."""
    shares: dict[str, set[TopicPart]] = {member_id: set() for member_id in subscriptions}
    if len(set(subscriptions.values())) == 1:
        topic_ids = next(iter(subscriptions.values()))
        parts = [part for topic_id in sorted(topic_ids) for part in _parts(partitions, topic_id)]
        _deal(list(subscriptions), parts, current, shares)
    else:
        for topic_id in sorted(frozenset().union(*subscriptions.values())):
            members = [member_id for member_id, wanted in subscriptions.items() if topic_id in wanted]
            _deal(members, _parts(partitions, topic_id), current, shares)
    return {member_id: _assignment(share) for member_id, share in shares.items()}


def _parts(partitions: Mapping[bytes, Sequence[int]], topic_id: bytes) -> list[TopicPart]:
    return [TopicPart(topic_id, partition) for partition in sorted(partitions.get(topic_id, ()))]


def _assignment(share: set[TopicPart]) -> Assignment:
    topics: dict[bytes, set[int]] = {}
    for part in sorted(share):
        topics.setdefault(part.topic_id, set()).add(part.partition)
    return {topic_id: frozenset(indexes) for topic_id, indexes in topics.items()}


def _deal(
    members: Sequence[str],
    parts: Sequence[TopicPart],
    current: Mapping[str, Assignment],
    shares: dict[str, set[TopicPart]],
) -> None:
    if not parts:
        return
    sharing = ceil(len(members) / len(parts))
    room = dict(zip(members, _counts(sharing * len(parts), len(members)), strict=True))
    wanting = dict.fromkeys(parts, sharing)
    for member_id in members:
        for part in _kept(current.get(member_id, {}), wanting):
            if room[member_id] and wanting[part]:
                _give(part, member_id, shares, room, wanting)
    _deal_rest(shares, room, wanting)


def _counts(total: int, members: int) -> list[int]:
    """A total in shares that are as equal as can be."""
    precise = total / members
    return [ceil(precise * (index + 1)) - ceil(precise * index) for index in range(members)]


def _kept(assignment: Assignment, wanting: Mapping[TopicPart, int]) -> list[TopicPart]:
    kept = [TopicPart(topic_id, index) for topic_id, indexes in assignment.items() for index in indexes]
    return sorted(part for part in kept if part in wanting)


def _give(
    part: TopicPart,
    member_id: str,
    shares: dict[str, set[TopicPart]],
    room: dict[str, int],
    wanting: dict[TopicPart, int],
) -> None:
    shares[member_id].add(part)
    room[member_id] -= 1
    wanting[part] -= 1


def _deal_rest(
    shares: dict[str, set[TopicPart]], room: dict[str, int], wanting: dict[TopicPart, int]
) -> None:
    """In turn, to those who have room; whoever got one goes to the end of the line."""
    line = [member_id for member_id, left in room.items() if left]
    for part in wanting:
        for member_id in line[:]:
            if not wanting[part]:
                break
            if part in shares[member_id]:
                continue
            _give(part, member_id, shares, room, wanting)
            line.remove(member_id)
            if room[member_id]:
                line.append(member_id)
