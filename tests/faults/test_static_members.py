"""A static member that comes back within its session gets its partitions again, and the others notice nothing.

A static member of a classic group may vanish in any way. In a consumer group it may come back at once only if it left
in order (it tells that it leaves for a while); where it was killed, the coordinator holds its place until the session
ends and refuses a second holder of the name.
"""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.members import KINDS, MemberKind
from tests.faults.server import KillableServer, running_server
from tests.faults.settled_group import PATIENCE_SECONDS, SettledGroup, group_under_load
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

MEMBERS = 3
SESSION_TIMEOUT_MS = 45_000
"""Longer than any restart takes."""
LONG = "PENSTOCK_FAULT_CHURN_SECONDS" in os.environ
CLASSIC_IN_SHORT = [
    *itertools.product(["confluent-range", "confluent-cooperative"], ["left", "killed"]),
]
CLASSIC_IN_LONG = [
    *CLASSIC_IN_SHORT,
    *itertools.product(["java-range"], ["left", "killed"]),
    ("java-cooperative", "killed"),
]
CONSUMER_IN_SHORT = ["confluent-consumer"]
CONSUMER_IN_LONG = [*CONSUMER_IN_SHORT, "java-consumer"]

pytestmark = [pytest.mark.processes, pytest.mark.faults, pytest.mark.timeout(400)]


@pytest.fixture(scope="module")
@starts_processes
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KillableServer]:
    with running_server(tmp_path_factory.mktemp("server")) as running:
        yield running


@pytest.fixture
def group(server: KillableServer, tmp_path: Path) -> Iterator[SettledGroup]:
    with group_under_load(server, tmp_path / "members") as running:
        yield running


def static(number: int) -> dict[str, object]:
    return {"instance_id": f"instance-{number}", "session_timeout_ms": SESSION_TIMEOUT_MS}


def restart_each(group: SettledGroup, kind: MemberKind, *, kill: bool) -> None:
    members = group.start(kind, MEMBERS, map(static, range(MEMBERS)))
    group.wait_for_progress()
    before = group.view(kind)
    for number in range(MEMBERS):  # one of them leads a classic group
        others = [member for member in members if member is not members[number]]
        noticed = [member.ownerships() for member in others]
        owned = members[number].ownerships()[-1]
        members[number].kill() if kill else members[number].leave()
        members[number] = group.members.start(kind, **static(number))
        group.wait_until_settled(members)
        group.wait_for_progress(owned.partitions)
        assert [each.partitions for each in members[number].ownerships()] == [owned.partitions]
        if kind.protocol == "classic":  # a consumer group tells its epoch
            assert members[number].ownerships()[0].generation == owned.generation
        assert [member.ownerships() for member in others] == noticed
        after = group.view(kind)
        assert (after.epoch, sorted(after.owned.values())) == (before.epoch, sorted(before.owned.values()))


@pytest.mark.parametrize(("kind", "how"), CLASSIC_IN_LONG if LONG else CLASSIC_IN_SHORT)
def test_a_classic_member_comes_back(kind: str, how: str, group: SettledGroup) -> None:
    restart_each(group, KINDS[kind], kill=how == "killed")


@pytest.mark.parametrize("kind", CONSUMER_IN_LONG if LONG else CONSUMER_IN_SHORT)
def test_a_consumer_member_comes_back(kind: str, group: SettledGroup) -> None:
    restart_each(group, KINDS[kind], kill=False)


@pytest.mark.parametrize("kind_name", CONSUMER_IN_LONG if LONG else CONSUMER_IN_SHORT)
def test_the_name_of_a_killed_consumer_member_is_not_free_at_once(
    kind_name: str, group: SettledGroup
) -> None:
    kind = KINDS[kind_name]
    members = group.start(kind, MEMBERS, map(static, range(MEMBERS)))
    before = group.view(kind)
    members[0].kill()
    second = group.members.start(kind, **static(0))
    wait_for(lambda: not second.process.alive, PATIENCE_SECONDS, lambda: f"a refusal: {second.complaint()}")
    assert [each for each in second.events("error") if "instance" in each.lower()], second.complaint()
    assert group.view(kind) == before
    group.wait_for_progress(members[1].owned | members[2].owned)
