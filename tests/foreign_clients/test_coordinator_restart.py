"""What coordinators know survives the broker: it is read back from their topics.

One broker is filled, stopped and started again; the tests look at what the second one knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.foreign_clients.drivers.foreign import JavaClient
from tests.foreign_clients.drivers.model import Change, Client, GroupInfo, TransactionInfo
from tests.foreign_clients.drivers.sessions import Committed, Membership, ShareMember
from tests.foreign_clients.ownership import all_of, wait_until_owned
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.support.apache_kafka import ApacheKafka
from tests.support.cluster_fixture import COORDINATOR_SETTINGS, PEER, SERVER_SETTINGS, running_penstock
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

COUNT = 10
PROTOCOLS = ("classic", "consumer")


def runs_in(directory: Path) -> Callable[[], AbstractContextManager[str]]:
    """Starts the server, each time with the data of the time before; gives its address."""
    apache = ApacheKafka(directory, {**SERVER_SETTINGS, **COORDINATOR_SETTINGS})

    @contextmanager
    def running() -> Iterator[str]:
        if PEER == "apache":
            with apache:
                yield apache.bootstrap
        else:
            with running_penstock(directory, COORDINATOR_SETTINGS) as server:
                yield server.bootstrap

    return running


def commit_in_groups(java: Client) -> None:
    java.create_topic("offsets", configs=KEEP_FOR_EVER)
    java.produce("offsets", numbered_records(COUNT))
    for protocol in PROTOCOLS:
        with closing(
            java.open_member(Membership(f"offsets-{protocol}", ("offsets",), protocol=protocol))
        ) as member:
            wait_for(lambda member=member: len(member.records()) >= COUNT, what="all records")
            member.commit({("offsets", 0): Committed(4, protocol)})
    java.alter_group_offsets("simple", {("offsets", 0): Committed(2, "alone")})
    java.alter_group_offsets("deleted", {("offsets", 0): Committed(2, "gone")})
    java.delete_group("deleted")


def own_as_static_members(java: Client) -> dict[str, GroupInfo]:
    java.create_topic("static", partitions=2, configs=KEEP_FOR_EVER)
    described = {}
    for protocol in PROTOCOLS:
        wanted = Membership(f"static-{protocol}", ("static",), protocol=protocol, instance_id="one")
        with closing(java.open_member(wanted)) as member:
            wait_until_owned(all_of("static", 2), member)
        described[protocol] = java.describe_group(f"static-{protocol}")
    return described


def end_transactions(java: Client) -> dict[str, TransactionInfo]:
    """Two that have ended, and one that is open when the broker goes."""
    java.create_topic("transactions", configs=KEEP_FOR_EVER)
    for name in ("kept", "thrown away", "open"):
        producer = java.open_transactional_producer(name, timeout_ms=600_000)
        producer.begin()
        producer.send("transactions", numbered_records(3))
        if name == "kept":
            producer.commit()
        elif name == "thrown away":
            producer.abort()
        producer.close()
    for name, state in (("kept", "CompleteCommit"), ("thrown away", "CompleteAbort")):
        wait_for(lambda name=name, state=state: java.describe_transaction(name).state == state, what=state)
    return {name: java.describe_transaction(name) for name in ("kept", "thrown away", "open")}


def accept_odd_release_even(member: ShareMember, count: int) -> list[tuple[int, int]]:
    """Offsets and how often each was delivered."""
    found: list[tuple[int, int]] = []

    def enough() -> bool:
        for record in member.poll():
            found.append((record.offset, record.delivery_count))
            member.acknowledge(record, "accept" if record.offset % 2 else "release")
        return len(found) >= count

    wait_for(enough, 60, lambda: f"{count} records, got {found}")
    member.commit()
    return found


def share(java: Client) -> None:
    java.create_topic("shared", configs=KEEP_FOR_EVER)
    java.incremental_alter_configs("GROUP", "shared", [Change("SET", "share.auto.offset.reset", "earliest")])
    java.produce("shared", numbered_records(4))
    with closing(java.open_share_member("shared", "shared", explicit=True, max_records=10)) as member:
        assert accept_odd_release_even(member, 4) == [(0, 1), (1, 1), (2, 1), (3, 1)]


@dataclass(frozen=True)
class Before:
    groups: dict[str, GroupInfo]
    transactions: dict[str, TransactionInfo]


@pytest.fixture(scope="module")
@starts_processes
def restarted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Before]]:
    """A client of the broker's second life, and what was told in the first."""
    run = runs_in(tmp_path_factory.mktemp("restarted"))
    with run() as bootstrap, closing(JavaClient(bootstrap)) as java:
        commit_in_groups(java)
        before = Before(own_as_static_members(java), end_transactions(java))
        share(java)
    with run() as bootstrap, closing(JavaClient(bootstrap)) as java:
        yield java, before


def test_groups_are_listed(restarted: tuple[Client, Before]) -> None:
    java, _ = restarted
    found = {name: each.kind for name, each in java.list_groups().items() if not name.startswith("static")}
    kinds = {"offsets-classic": "classic", "offsets-consumer": "consumer"}
    assert found == {**kinds, "simple": "classic", "shared": "share"}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_group_reads_on(restarted: tuple[Client, Before], protocol: str) -> None:
    java, _ = restarted
    group = f"offsets-{protocol}"
    assert java.describe_group(group).state == "Empty"
    assert java.group_offsets(group) == {("offsets", 0): Committed(4, protocol)}
    with closing(java.open_member(Membership(group, ("offsets",), protocol=protocol))) as member:
        wait_for(lambda: len(member.records()) >= COUNT - 4, what="the rest of the records")
        assert [each.offset for each in member.records()] == list(range(4, COUNT))


def test_offsets_without_members(restarted: tuple[Client, Before]) -> None:
    java, _ = restarted
    assert java.group_offsets("simple") == {("offsets", 0): Committed(2, "alone")}
    assert java.group_offsets("deleted") == {}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_static_members_stay(restarted: tuple[Client, Before], protocol: str) -> None:
    java, before = restarted
    described = java.describe_group(f"static-{protocol}")
    assert described == before.groups[protocol]
    [member] = described.members
    assert (member.instance_id, member.assignment) == ("one", all_of("static", 2))


def test_transactions(restarted: tuple[Client, Before]) -> None:
    """The open one is still open, and is aborted when its producer comes back."""
    java, before = restarted
    assert java.list_transactions() == {
        "kept": "CompleteCommit",
        "thrown away": "CompleteAbort",
        "open": "Ongoing",
    }
    assert {name: java.describe_transaction(name) for name in before.transactions} == before.transactions
    wanted = Membership("reading", assigned=(("transactions", 0),), isolation="read_committed")
    with closing(java.open_member(wanted)) as member:
        wait_for(lambda: len(member.records()) >= 3, what="the committed records")
        with closing(java.open_transactional_producer("open")) as producer:
            producer.begin()
            producer.send("transactions", numbered_records(1))
            producer.commit()
        wait_for(lambda: len(member.records()) >= 4, what="the record of the last transaction")
        # 0-2, committed; 4-6, aborted; 8-10, aborted; 12; between them the markers
        assert [each.offset for each in member.records()] == [0, 1, 2, 12]


def test_share_groups(restarted: tuple[Client, Before]) -> None:
    """Accepted is accepted; released comes again, with its count."""
    java, _ = restarted
    assert java.describe_share_group("shared").state == "Empty"
    with closing(java.open_share_member("shared", "shared", explicit=True, max_records=10)) as member:
        assert accept_odd_release_even(member, 2) == [(0, 2), (2, 2)]
