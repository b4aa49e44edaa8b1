"""Members of different clients and of both protocols in one group."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.foreign_clients.drivers.model import Client
from tests.foreign_clients.drivers.registry import every_client_and_protocol
from tests.foreign_clients.drivers.sessions import Committed, Member, Membership
from tests.foreign_clients.ownership import all_of, wait_until_owned, wait_until_shared
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.support.processes import wait_for

Opened = Callable[[Member], Member]
Clients = Callable[[str], Client]


@pytest.mark.parametrize(
    ("protocol", "names"),
    [
        ("classic", ("confluent-kafka", "kafka-python", "aiokafka", "franz-go", "java")),
        ("cooperative", ("confluent-kafka", "kafka-python", "franz-go", "java")),
        ("consumer", ("confluent-kafka", "franz-go", "java")),
    ],
)
def test_different_clients_in_one_group(
    protocol: str, names: tuple[str, ...], clients: Clients, reader: Client, topic: str, opened: Opened
) -> None:
    places = all_of(topic, len(names))
    reader.create_topic(topic, partitions=len(names), configs=KEEP_FOR_EVER)
    membership = Membership(topic, (topic,), protocol=protocol)
    members = [opened(clients(name).open_member(membership)) for name in names]
    wait_until_shared(places, *members)
    wait_for(lambda: reader.describe_group(topic).state == "Stable", what="a stable group")
    described = reader.describe_group(topic)
    assert described.kind == ("consumer" if protocol == "consumer" else "classic")
    assert sorted(map(sorted, (each.assignment for each in described.members))) == [
        [place] for place in sorted(places)
    ]


@every_client_and_protocol(
    "open_member",
    protocols=("classic", "cooperative"),
    where=lambda kind, protocol: (
        kind.name != "kafkajs"
    ),  # its metadata is its own, the coordinator cannot read it
)
def test_a_group_moves_to_the_consumer_protocol_and_back(
    client: Client, protocol: str, clients: Clients, reader: Client, topic: str, opened: Opened
) -> None:
    """Nobody stops reading: a member of the new protocol joins those of the old one, and leaves again."""
    places = all_of(topic, 4)
    reader.create_topic(topic, partitions=4, configs=KEEP_FOR_EVER)
    newcomer = client if "consumer" in client.group_protocols else clients("java")
    old = opened(client.open_member(Membership(topic, (topic,), protocol=protocol)))
    wait_until_owned(places, old)
    assert reader.describe_group(topic).kind == "classic"
    new = opened(newcomer.open_member(Membership(topic, (topic,), protocol="consumer")))
    wait_until_shared(places, old, new)
    assert reader.describe_group(topic).kind == "consumer"
    new.close()
    wait_until_owned(places, old)
    assert reader.describe_group(topic).kind == "classic"


@pytest.mark.parametrize("newcomer", ["confluent-kafka", "franz-go", "java"])
def test_an_empty_classic_group_is_taken_over_with_its_offsets(
    newcomer: str, clients: Clients, reader: Client, administrator: Client, topic: str, opened: Opened
) -> None:
    reader.create_topic(topic, configs=KEEP_FOR_EVER)
    reader.produce(topic, numbered_records(10))
    old = opened(reader.open_member(Membership(topic, (topic,))))
    wait_until_owned({(topic, 0)}, old)
    old.commit({(topic, 0): Committed(6, "classic")})
    old.close()
    new = opened(clients(newcomer).open_member(Membership(topic, (topic,), protocol="consumer")))
    wait_for(lambda: len(new.records()) >= 4, what="what the old member left")
    assert [each.offset for each in new.records()] == [6, 7, 8, 9]
    assert reader.describe_group(topic).kind == "consumer"
    assert administrator.group_offsets(topic) == {(topic, 0): Committed(6, "classic" + reader.metadata_end)}
