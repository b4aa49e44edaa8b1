"""Who gets which partitions: the assignors of the server, `uniform` and `range`.

`uniform` puts balance first: the counts of two members with the same subscription differ by one at most. Then it is
sticky: as few partitions as possible move. When all members want the same topics, it is enough to let each keep up to
its quota and to hand out the rest. When they don't, each topic's free partitions go to those of its subscribers that
have the least; then partitions move from those that have most to those that have least, topic by topic, until
nothing gets better or the rounds are used up (subscriptions that overlap in chains converge slowly).

`range` cuts each topic into contiguous ranges over the members in a fixed order, so that members get the same partition
numbers of topics with the same partition count. Static members come first, in the order of their instance ids.

Racks of members and replicas are known to the interface, as in Kafka, and used by neither.
"""

import heapq
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from penstock.group.modern_group import Assignment

PartitionCounts = Mapping[bytes, int]
"""By topic id, for all topics that are subscribed to."""
Assign = Callable[[Sequence["MemberSpec"], PartitionCounts], dict[str, Assignment]]

MAX_BALANCING_ROUNDS = 16


class MemberSpec(NamedTuple):
    member_id: str
    instance_id: str | None
    rack_id: str | None
    topics: frozenset[bytes]
    """Those that it subscribes to and that exist."""
    partitions: Assignment
    """Its target so far."""


def assign_uniform(members: Sequence[MemberSpec], counts: PartitionCounts) -> dict[str, Assignment]:
    if all(member.topics == members[0].topics for member in members):
        return _assign_alike(members, counts)
    return _Balancer(members, counts).assign()


def assign_range(members: Sequence[MemberSpec], counts: PartitionCounts) -> dict[str, Assignment]:
    ordered = sorted(members, key=_range_order)
    subscribers: dict[bytes, list[str]] = {}
    for member in ordered:
        for topic_id in member.topics:
            subscribers.setdefault(topic_id, []).append(member.member_id)
    assigned: dict[str, dict[bytes, frozenset[int]]] = {member.member_id: {} for member in members}
    for topic_id, member_ids in subscribers.items():
        quota, extra = divmod(counts[topic_id], len(member_ids))
        start = 0
        for index, member_id in enumerate(member_ids):
            end = start + quota + (index < extra)
            if start < end:
                assigned[member_id][topic_id] = frozenset(range(start, end))
            start = end
    return {**assigned}


def _range_order(member: MemberSpec) -> tuple[bool, str]:
    if member.instance_id is not None:
        return False, member.instance_id
    return True, member.member_id


ASSIGNORS: Mapping[str, Assign] = {"uniform": assign_uniform, "range": assign_range}


# members that all want the same


def _assign_alike(members: Sequence[MemberSpec], counts: PartitionCounts) -> dict[str, Assignment]:
    topics = members[0].topics if members else frozenset()
    quota, extra = divmod(sum(counts[topic_id] for topic_id in topics), max(len(members), 1))
    free = {topic_id: set(range(counts[topic_id])) for topic_id in sorted(topics)}
    kept: dict[str, Assignment] = {}
    wishes: list[tuple[str, int]] = []
    for index, member in enumerate(members):
        room = quota + (extra > 0)
        kept[member.member_id], room = _keep(member, room, free)
        takes_extra = extra > 0
        if room > 0 and takes_extra and len(members) - index > extra:
            room -= 1
            takes_extra = False
        if room > 0:
            wishes.append((member.member_id, room))
        extra -= takes_extra
    places = [(topic_id, partition) for topic_id, left in free.items() for partition in sorted(left)]
    return _hand_out(kept, wishes, places)


def _keep(member: MemberSpec, room: int, free: dict[bytes, set[int]]) -> tuple[Assignment, int]:
    """What a member keeps of its partitions, taken out of `free`, and the room that is left."""
    kept: dict[bytes, frozenset[int]] = {}
    for topic_id, partitions in member.partitions.items():
        if topic_id not in free or room <= 0:
            continue
        mine = partitions if len(partitions) <= room else frozenset(sorted(partitions)[:room])
        free[topic_id] -= mine
        kept[topic_id] = mine
        room -= len(mine)
    return (member.partitions if kept == member.partitions else kept), room


def _hand_out(
    kept: dict[str, Assignment], wishes: list[tuple[str, int]], places: list[tuple[bytes, int]]
) -> dict[str, Assignment]:
    position = 0
    for member_id, room in wishes:
        given: dict[bytes, set[int]] = {}
        for topic_id, partition in places[position : position + room]:
            given.setdefault(topic_id, set()).add(partition)
        position += room
        if given:
            mine = kept[member_id]
            kept[member_id] = {
                topic_id: mine.get(topic_id, frozenset()) | given.get(topic_id, frozenset())
                for topic_id in mine.keys() | given.keys()
            }
    assert position >= len(places), "partitions were left unassigned"
    return kept


# members with different wishes


class _Balancer:
    """Members are numbers here: their place in the list."""

    def __init__(self, members: Sequence[MemberSpec], counts: PartitionCounts) -> None:
        self.members = members
        self.counts = counts
        self.loads = [0] * len(members)
        self.subscribers: dict[bytes, list[int]] = {}
        for number, member in enumerate(members):
            for topic_id in member.topics:
                self.subscribers.setdefault(topic_id, []).append(number)
        self.owners: dict[bytes, list[int | None]] = {
            topic_id: [None] * counts[topic_id] for topic_id in self.subscribers
        }
        self.order = sorted(self.subscribers, key=self._topic_order)

    def _topic_order(self, topic_id: bytes) -> tuple[float, int, bytes]:
        subscribers = len(self.subscribers[topic_id])
        return -self.counts[topic_id] / subscribers, subscribers, topic_id

    def assign(self) -> dict[str, Assignment]:
        self._keep()
        for topic_id in self.order:
            self._hand_out(topic_id)
        self._balance()
        return self._result()

    def _keep(self) -> None:
        for number, member in enumerate(self.members):
            for topic_id in member.partitions.keys() & member.topics:
                owners = self.owners[topic_id]
                for partition in member.partitions[topic_id]:
                    owners[partition] = number
                    self.loads[number] += 1

    def _by_load(self, topic_id: bytes) -> list[int]:
        return sorted(self.subscribers[topic_id], key=lambda number: (self.loads[number], number))

    def _hand_out(self, topic_id: bytes) -> None:
        owners = self.owners[topic_id]
        free = [partition for partition, owner in enumerate(owners) if owner is None]
        heap = [(self.loads[number], rank, number) for rank, number in enumerate(self._by_load(topic_id))]
        for partition in free:
            load, rank, number = heap[0]
            owners[partition] = number
            self.loads[number] = load + 1
            heapq.heapreplace(heap, (load + 1, rank, number))

    def _balance(self) -> None:
        shared = [topic_id for topic_id in self.order if len(self.subscribers[topic_id]) > 1]
        unchanged = 0
        for _ in range(MAX_BALANCING_ROUNDS):
            for topic_id in shared:
                unchanged = 0 if self._balance_topic(topic_id) else unchanged + 1
                if unchanged == len(shared):
                    return

    def _balance_topic(self, topic_id: bytes) -> bool:
        """Moves partitions from those that have most to those that have least; True if any moved."""
        ranked = self._by_load(topic_id)
        if self.loads[ranked[-1]] - self.loads[ranked[0]] <= 1:
            return False
        owners = self.owners[topic_id]
        owned: dict[int | None, list[int]] = {}
        for partition, owner in enumerate(owners):
            owned.setdefault(owner, []).append(partition)
        least = [(self.loads[number], rank, number) for rank, number in enumerate(ranked)]
        most = [(-self.loads[number], -rank, number) for rank, number in enumerate(ranked) if number in owned]
        heapq.heapify(most)
        moved = False
        while most:
            giver, taker = most[0][2], least[0][2]
            if -most[0][0] != self.loads[giver] or not owned[giver]:
                heapq.heappop(most)
                continue
            if self.loads[giver] - self.loads[taker] <= 1:
                break
            owners[owned[giver].pop()] = taker
            self.loads[giver] -= 1
            self.loads[taker] += 1
            heapq.heapreplace(most, (-self.loads[giver], most[0][1], giver))
            heapq.heapreplace(least, (self.loads[taker], least[0][1], taker))
            moved = True
        return moved

    def _result(self) -> dict[str, Assignment]:
        assigned: list[dict[bytes, set[int]]] = [{} for _ in self.members]
        for topic_id, owners in self.owners.items():
            for partition, owner in enumerate(owners):
                assert owner is not None
                assigned[owner].setdefault(topic_id, set()).add(partition)
        return {
            member.member_id: {topic_id: frozenset(mine) for topic_id, mine in partitions.items()}
            for member, partitions in zip(self.members, assigned, strict=True)
        }
