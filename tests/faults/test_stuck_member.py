"""A member that does nothing any more is put out and the group goes on; what it holds it cannot commit later."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.members import KINDS, Member
from tests.faults.server import KillableServer, running_server
from tests.faults.settled_group import PATIENCE_SECONDS, SettledGroup, group_under_load
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

MEMBERS = 2
SETTINGS = {
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "500",
}
LONGEST_POLL_INTERVAL_MS = 7_000

pytestmark = [pytest.mark.processes, pytest.mark.faults, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
@starts_processes
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KillableServer]:
    with running_server(tmp_path_factory.mktemp("server"), SETTINGS) as running:
        yield running


@pytest.fixture
def group(server: KillableServer, tmp_path: Path) -> Iterator[SettledGroup]:
    with group_under_load(server, tmp_path / "members") as running:
        yield running


def hold(member: Member) -> int:
    """Makes it keep a batch, processed and not committed; returns how many commits failed before."""
    member.process.signal(signal.SIGUSR1)
    wait_for(lambda: member.events("holding"), PATIENCE_SECONDS, lambda: f"a batch: {member.complaint()}")
    return len(member.events("commit-failed"))


def check_it_comes_back(group: SettledGroup, members: list[Member], failed_before: int) -> None:
    """Its commit is refused, it joins again, and works."""
    stuck = members[0]
    wait_for(
        lambda: len(stuck.events("commit-failed")) > failed_before,
        PATIENCE_SECONDS,
        lambda: f"a refusal: {stuck.complaint()}",
    )
    group.wait_until_settled(members)
    assert stuck.owned
    group.wait_for_progress()


@pytest.mark.parametrize("kind_name", ["confluent-range", "confluent-cooperative", "confluent-consumer"])
def test_a_member_that_does_not_poll_is_put_out(kind_name: str, group: SettledGroup) -> None:
    settings = [{"max_poll_interval_ms": LONGEST_POLL_INTERVAL_MS}, {}]
    stuck, other = members = group.start(KINDS[kind_name], MEMBERS, settings)
    failed_before = hold(stuck)
    group.wait_until_settled([other])
    group.wait_for_progress()
    stuck.process.signal(signal.SIGUSR2)
    check_it_comes_back(group, members, failed_before)


@pytest.mark.parametrize("kind_name", ["confluent-range", "confluent-consumer"])
def test_a_stopped_process_is_put_out(kind_name: str, group: SettledGroup) -> None:
    stuck, other = members = group.start(KINDS[kind_name], MEMBERS, [{}, {}])
    failed_before = hold(stuck)
    stuck.process.signal(signal.SIGSTOP)
    group.wait_until_settled([other])
    group.wait_for_progress()
    stuck.process.signal(signal.SIGUSR2)  # it sees this one first when it goes on
    stuck.process.signal(signal.SIGCONT)
    check_it_comes_back(group, members, failed_before)
