"""A group of a few members that has settled, for tests that disturb one of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.broker.asking import new_topic
from tests.faults.group_view import GroupView, OffsetObserver, committed_offsets, describe
from tests.faults.load import Load
from tests.faults.members import Member, MemberKind, Members
from tests.faults.server import KillableServer
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

PARTITIONS = 6
PAUSE_BETWEEN_BURSTS_SECONDS = 0.1
PATIENCE_SECONDS = 90.0

_numbers = itertools.count()


class SettledGroup:
    def __init__(self, client: WireClient, members: Members, load: Load, observer: OffsetObserver) -> None:
        self.client = client
        self.members = members
        self.load = load
        self.observer = observer

    def start(self, kind: MemberKind, count: int, settings: Iterable[Mapping[str, Any]]) -> list[Member]:
        """The members, when each owns its share."""
        started = [self.members.start(kind, **own) for own in itertools.islice(settings, count)]
        self.wait_until_settled(started)
        return started

    def view(self, kind: MemberKind) -> GroupView:
        return describe(self.client, self.members.settings.group, kind.protocol)

    def wait_until_settled(self, members: list[Member]) -> None:
        """The coordinator says that these and no others share the partitions, and they agree."""
        kind = members[0].kind

        def is_settled() -> bool:
            for member in members:
                member.require_alive()
            owned = sorted(each for member in members for each in member.owned)
            return owned == list(range(PARTITIONS)) and self.view(kind).is_settled(len(members), PARTITIONS)

        def what() -> str:
            owned = {member.name: sorted(member.owned) for member in members}
            return f"members to settle, they own {owned}; {self.view(kind)}"

        wait_for(is_settled, PATIENCE_SECONDS, what, interval=0.05)

    def committed(self) -> list[int] | None:
        return committed_offsets(
            self.client, self.members.settings.group, self.members.settings.topic, PARTITIONS
        )

    def wait_for_progress(self, partitions: Iterable[int] = range(PARTITIONS)) -> None:
        """Until an offset is committed in each of these partitions that was not there when this was called."""
        before = self.committed() or [-1] * PARTITIONS
        waiting = set(partitions)

        def is_done() -> bool:
            latest = self.committed() or before
            return all(latest[partition] > before[partition] for partition in waiting)

        wait_for(is_done, PATIENCE_SECONDS, lambda: f"{before} to grow: {self.committed()}", interval=0.05)


@contextmanager
def group_under_load(server: KillableServer, directory: Path) -> Iterator[SettledGroup]:
    """A topic that is written to all the time, and a group without members yet; in the end, no offset went back."""
    group = topic = f"group-{next(_numbers)}"
    with WireClient(server.bootstrap) as client:
        new_topic(client, topic, PARTITIONS)
        load = Load(
            server.bootstrap, topic, PARTITIONS, idempotent=True, pause_seconds=PAUSE_BETWEEN_BURSTS_SECONDS
        )
        observer = OffsetObserver(server.bootstrap, group, topic, PARTITIONS)
        with Members(directory, server.bootstrap, group, topic) as members, load, observer:
            yield SettledGroup(client, members, load, observer)
        observer.check()
