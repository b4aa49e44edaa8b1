"""Members that come and go at random moments: in order, or killed."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Sequence

from tests.faults.members import Member, MemberKind, Members

FEWEST_MEMBERS = 3
LONGEST_PAUSE_SECONDS = 1.5
CHANCE_OF_QUIET = 0.1
QUIET_SECONDS = (4.0, 10.0)
"""Now and then a long run is quiet for as long as a rebalance takes that waits for the session of a killed member."""
LARGEST_QUIET_PART = 0.1


class Churn:
    """Has a place for each member; a place is taken by a process or free."""

    def __init__(self, members: Members, kinds: Sequence[MemberKind], chance: random.Random) -> None:
        self.members = members
        self.kinds = kinds
        self.chance = chance
        self.places: list[Member | None] = [None] * len(kinds)
        self.leaving: list[Member] = []
        self.counts = {"joined": 0, "left": 0, "killed": 0}

    @property
    def present(self) -> list[Member]:
        return [member for member in self.places if member is not None]

    def fill(self) -> None:
        for place, member in enumerate(self.places):
            if member is None:
                self._join(place)

    def run(self, seconds: float) -> None:
        """The moment of a change is random on purpose."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            threading.Event().wait(min(self._pause_seconds(), seconds * LARGEST_QUIET_PART))
            self.require_all_alive()
            self._change(self.chance.randrange(len(self.places)))

    def _pause_seconds(self) -> float:
        if self.chance.random() < CHANCE_OF_QUIET:
            return self.chance.uniform(*QUIET_SECONDS)
        return self.chance.uniform(0, LONGEST_PAUSE_SECONDS)

    def require_all_alive(self) -> None:
        for member in self.present:
            member.require_alive()

    def _change(self, place: int) -> None:
        if (member := self.places[place]) is None:
            self._join(place)
        elif len(self.present) <= FEWEST_MEMBERS:
            return
        elif self.chance.random() < 0.5:
            self._leave(place, member)
        else:
            self._kill(place, member)

    def _join(self, place: int) -> None:
        self.places[place] = self.members.start(self.kinds[place])
        self.counts["joined"] += 1

    def _leave(self, place: int, member: Member) -> None:
        member.ask_to_leave()
        self.leaving.append(member)
        self.places[place] = None
        self.counts["left"] += 1

    def _kill(self, place: int, member: Member) -> None:
        member.kill()
        self.places[place] = None
        self.counts["killed"] += 1

    def finish(self) -> None:
        """Waits for those that were asked to leave."""
        for member in self.leaving:
            member.wait_left()
