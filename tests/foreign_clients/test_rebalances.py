"""Members come and go, and every partition has one owner in the end."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.foreign_clients.drivers.model import Client, Record
from tests.foreign_clients.drivers.registry import every_client, every_client_and_protocol
from tests.foreign_clients.drivers.sessions import Committed, Member, Membership
from tests.foreign_clients.ownership import all_of, wait_until_owned, wait_until_shared
from tests.foreign_clients.samples import BASE_TIMESTAMP, KEEP_FOR_EVER
from tests.support.processes import wait_for

PARTITIONS = 4
SLOW = (("consumer", "confluent-kafka"), ("consumer", "franz-go"))
Opened = Callable[[Member], Member]


@pytest.fixture
def spread(topic: str, reader: Client) -> str:
    reader.create_topic(topic, partitions=PARTITIONS, configs=KEEP_FOR_EVER)
    return topic


def wait_for_value(value: bytes, *members: Member) -> None:
    def seen() -> bool:
        return any(each.record.value == value for member in members for each in member.records())

    wait_for(seen, what=f"{value!r}")


@every_client_and_protocol("open_member")
def test_two_share_and_one_takes_over(
    client: Client, protocol: str, reader: Client, spread: str, opened: Opened
) -> None:
    membership = Membership(spread, (spread,), protocol=protocol)
    first = opened(client.open_member(membership))
    wait_until_owned(all_of(spread, PARTITIONS), first)
    second = opened(client.open_member(membership))
    wait_until_shared(all_of(spread, PARTITIONS), first, second)
    assert len(first.assignment()) == len(second.assignment()) == 2
    records = [Record(f"{i}".encode(), None, (), BASE_TIMESTAMP + i, i % PARTITIONS) for i in range(8)]
    reader.produce(spread, records)
    for record in records:
        wait_for_value(record.value or b"", first, second)
    for member in (first, second):
        read_from = {(spread, each.record.partition) for each in member.records()}
        assert read_from == member.assignment()
    for member in (first, second):
        member.commit({place: Committed(2) for place in member.assignment()})
    first.close()
    wait_until_owned(all_of(spread, PARTITIONS), second)
    reader.produce(spread, [Record(b"last", None, (), BASE_TIMESTAMP, each) for each in range(PARTITIONS)])
    wait_for(lambda: len(second.records()) == 4 + PARTITIONS, what="the second to read what came last")


@every_client_and_protocol("open_member", protocols=("cooperative", "consumer"))
def test_only_what_moves_is_revoked(client: Client, protocol: str, spread: str, opened: Opened) -> None:
    membership = Membership(spread, (spread,), protocol=protocol)
    first = opened(client.open_member(membership))
    wait_until_owned(all_of(spread, PARTITIONS), first)
    second = opened(client.open_member(membership))
    wait_until_shared(all_of(spread, PARTITIONS), first, second)
    assert set(first.revoked()) == second.assignment()
    assert len(first.revoked()) == 2
    assert second.revoked() == []


@every_client_and_protocol("open_member", where=lambda kind, protocol: protocol in kind.static_protocols)
def test_a_static_member_restarts_without_a_rebalance(
    client: Client, protocol: str, reader: Client, spread: str, opened: Opened
) -> None:
    def member(instance_id: str) -> Member:
        joining = Membership(spread, (spread,), protocol=protocol, instance_id=instance_id)
        return opened(client.open_member(joining))

    staying = member("staying")
    wait_until_owned(all_of(spread, PARTITIONS), staying)
    leaving = member("leaving")
    wait_until_shared(all_of(spread, PARTITIONS), staying, leaving)
    wait_for(lambda: reader.describe_group(spread).state == "Stable", what="a stable group")
    before, owned = staying.rebalances(), leaving.assignment()
    leaving.close()
    again = member("leaving")
    wait_until_owned(owned, again)
    reader.produce(spread, [Record(b"on", None, (), BASE_TIMESTAMP, min(owned)[1])])
    wait_for_value(b"on", again)
    assert staying.rebalances() == before
    assert staying.assignment() == all_of(spread, PARTITIONS) - owned
    described = reader.describe_group(spread)
    assert described.state == "Stable"
    assert {each.instance_id for each in described.members} == {"staying", "leaving"}


@every_client("open_member", "remove_static_member")
def test_an_administrator_removes_a_static_member(
    client: Client, reader: Client, spread: str, opened: Opened
) -> None:
    def member(instance_id: str) -> Member:
        return opened(client.open_member(Membership(spread, (spread,), instance_id=instance_id)))

    staying = member("staying")
    wait_until_owned(all_of(spread, PARTITIONS), staying)
    leaving = member("leaving")
    wait_until_shared(all_of(spread, PARTITIONS), staying, leaving)
    leaving.close()
    assert len(reader.describe_group(spread).members) == 2
    client.remove_static_member(spread, "leaving")
    wait_until_owned(all_of(spread, PARTITIONS), staying)


@every_client_and_protocol("open_member", protocols=("classic", "consumer"))
def test_topics_by_pattern(client: Client, protocol: str, reader: Client, topic: str, opened: Opened) -> None:
    prefix = topic.replace(".", "-")
    reader.create_topic(f"{prefix}-yes-a", configs=KEEP_FOR_EVER)
    reader.create_topic(f"{prefix}-no-b", configs=KEEP_FOR_EVER)
    reader.create_topic(f"{prefix}-yes-c", partitions=2, configs=KEEP_FOR_EVER)
    pattern = f"^{prefix}-yes-[a-z]+$"
    member = opened(client.open_member(Membership(topic, pattern=pattern, protocol=protocol)))
    places = {(f"{prefix}-yes-a", 0), (f"{prefix}-yes-c", 0), (f"{prefix}-yes-c", 1)}
    wait_for(
        lambda: member.assignment() == places,
        what=lambda: f"the topics of the pattern: {member.assignment()}",
    )


# A coordinator looks for new topics every ten seconds only: one client of the consumer protocol stands for all.
@every_client_and_protocol(
    "open_member",
    protocols=("classic", "consumer"),
    where=lambda kind, protocol: kind.pattern_finds_new_topics and (protocol, kind.name) not in SLOW,
)
def test_a_new_topic_joins_the_pattern(
    client: Client, protocol: str, reader: Client, topic: str, opened: Opened
) -> None:
    reader.create_topic(f"{topic}-a", configs=KEEP_FOR_EVER)
    member = opened(client.open_member(Membership(topic, pattern=f"^{topic}-[a-z]$", protocol=protocol)))
    wait_until_owned({(f"{topic}-a", 0)}, member)
    reader.create_topic(f"{topic}-b", configs=KEEP_FOR_EVER)
    both = {(f"{topic}-a", 0), (f"{topic}-b", 0)}
    wait_until_owned(both, member)
