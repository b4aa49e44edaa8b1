"""How far an instance is in each of its partitions.

Nothing tells the proxy that a client has dealt with what it was sent, but that it asks for more. So a position moves
in steps, each behind the one before: what was *fetched* is put aside, what is *taken* of it goes into an answer, what
is in an answer that went out was *returned*, and when the next request comes, what was returned was *processed*.
A client that commits, commits what was returned; the proxy by itself commits only what was processed. So a client that
dies between the two, or a proxy, costs nobody a record: somebody will get it again.

A `seek`, and a partition that goes and comes back, make a new `Place`. Whatever still carries the old one, a fetch on
its way or records put aside, is thereby known to be of no interest any more.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import NamedTuple

from penstock.records.reader import Record
from penstock.types import TopicPartition


class Place:
    __slots__ = ("committed", "fetched", "processed", "returned", "set_aside", "taken")

    def __init__(self, offset: int) -> None:
        self.fetched = self.taken = self.returned = self.processed = offset
        self.committed = -1
        self.set_aside = 0


class SetAside(NamedTuple):
    partition: TopicPartition
    place: Place
    record: Record


class Progress:
    """`places` are those of the assigned partitions whose position is known; `unplaced` are the others."""

    def __init__(self) -> None:
        self.places: dict[TopicPartition, Place] = {}
        self.unplaced: dict[TopicPartition, bool] = {}
        """Whether the position that the group has committed counts; it does not if it is out of range."""
        self._set_aside: deque[SetAside] = deque()

    # partitions

    @property
    def assigned(self) -> list[TopicPartition]:
        return sorted({*self.places, *self.unplaced})

    def is_assigned(self, partition: TopicPartition) -> bool:
        return partition in self.places or partition in self.unplaced

    def assign(self, partitions: Iterable[TopicPartition], *, goes_on: bool) -> None:
        """`goes_on`: nobody else had those that were assigned before, so that their places hold."""
        wanted = list(dict.fromkeys(partitions))
        kept = {each: self.places[each] for each in wanted if goes_on and each in self.places}
        self.places = kept
        self.unplaced = {each: True for each in wanted if each not in kept}

    def put(self, partition: TopicPartition, offset: int) -> None:
        """The position of a partition that is assigned, known or sought."""
        self.unplaced.pop(partition, None)
        self.places[partition] = Place(offset)

    def lose_place(self, partition: TopicPartition, place: Place) -> None:
        """There is nothing at its offset."""
        if self.places.get(partition) is place:
            del self.places[partition]
            self.unplaced[partition] = False

    # records

    def put_aside(
        self, partition: TopicPartition, place: Place, records: Iterable[Record], next_offset: int
    ) -> None:
        """What was fetched at a place, and the offset behind it."""
        if self.places.get(partition) is not place:
            return
        before = len(self._set_aside)
        self._set_aside.extend(SetAside(partition, place, record) for record in records)
        place.set_aside += len(self._set_aside) - before
        place.fetched = next_offset
        if len(self._set_aside) > before:
            self.places[partition] = self.places.pop(
                partition
            )  # the others are asked for first the next time
        if not place.set_aside:
            place.taken = next_offset

    def next_set_aside(self) -> SetAside | None:
        while self._set_aside:
            first = self._set_aside[0]
            if self.places.get(first.partition) is first.place:
                return first
            self._set_aside.popleft()
        return None

    def take(self, chosen: SetAside) -> bool:
        """The next one that is set aside; False if it is not that any more."""
        if self.next_set_aside() is not chosen:
            return False
        self._set_aside.popleft()
        place = chosen.place
        place.set_aside -= 1
        place.taken = chosen.record.offset + 1 if place.set_aside else place.fetched
        return True

    # reads

    def begin_read(self) -> None:
        for place in self.places.values():
            place.processed = place.returned

    def end_read(self) -> None:
        for place in self.places.values():
            place.returned = place.taken

    def undo_read(self) -> None:
        """What was taken reached nobody; it is fetched again."""
        self._set_aside.clear()
        for place in self.places.values():
            place.fetched = place.taken = place.returned
            place.set_aside = 0

    @property
    def is_unanswered(self) -> bool:
        """Whether something was returned, and no request since has said that it was processed."""
        return any(place.returned != place.processed for place in self.places.values())

    # commits

    def returned(self) -> dict[TopicPartition, int]:
        return {partition: place.returned for partition, place in self.places.items()}

    def uncommitted(self) -> dict[TopicPartition, int]:
        """What was processed and not committed by the proxy."""
        return {
            partition: place.processed
            for partition, place in self.places.items()
            if place.processed != place.committed
        }

    def note_answered(self, offsets: dict[TopicPartition, int]) -> None:
        """The client has committed these itself."""
        for partition, offset in offsets.items():
            place = self.places.get(partition)
            if place is not None and offset == place.returned:
                place.processed = place.committed = offset

    def note_committed(self, offsets: dict[TopicPartition, int]) -> None:
        for partition, offset in offsets.items():
            if partition in self.places:
                self.places[partition].committed = offset
