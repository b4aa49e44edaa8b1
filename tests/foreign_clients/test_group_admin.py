"""Groups as an administrator lists, describes, changes and deletes them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.foreign_clients.drivers.model import (
    GROUP_ID_NOT_FOUND,
    GROUP_SUBSCRIBED_TO_TOPIC,
    NON_EMPTY_GROUP,
    UNKNOWN_MEMBER_ID,
    UNKNOWN_TOPIC_OR_PARTITION,
    Client,
    ClientError,
)
from tests.foreign_clients.drivers.registry import every_client
from tests.foreign_clients.drivers.sessions import Committed, Member, Membership
from tests.foreign_clients.ownership import all_of, wait_until_owned
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.support.processes import wait_for

Opened = Callable[[Member], Member]
PARTITIONS = 2


@pytest.fixture
def created(topic: str, reader: Client) -> str:
    """The topic; its group has the same name."""
    reader.create_topic(topic, partitions=PARTITIONS, configs=KEEP_FOR_EVER)
    return topic


@pytest.fixture(params=["classic", "consumer"])
def joined(request: pytest.FixtureRequest, created: str, reader: Client, opened: Opened) -> Member:
    """A member, of either protocol, that owns both partitions."""
    member = opened(reader.open_member(Membership(created, (created,), protocol=request.param)))
    wait_until_owned(all_of(created, PARTITIONS), member)
    wait_for(lambda: reader.describe_group(created).state == "Stable", what="a stable group")
    return member


@every_client("list_groups")
def test_list(client: Client, joined: Member, created: str, request: pytest.FixtureRequest) -> None:
    listed = client.list_groups()[created]
    assert listed.protocol_type == "consumer"
    assert listed.state in ("Stable", None)
    assert listed.kind in (request.node.callspec.params["joined"], None)


@every_client("list_groups", where=lambda kind: kind.filters_groups)
def test_list_by_state_and_type(
    client: Client, joined: Member, created: str, request: pytest.FixtureRequest
) -> None:
    kind = request.node.callspec.params["joined"]
    other = {"classic": "consumer", "consumer": "classic"}[kind]
    assert created in client.list_groups(states=["Stable"])
    assert created in client.list_groups(states=["Empty", "Stable"], kinds=[kind])
    assert created not in client.list_groups(states=["Empty"])
    assert created in client.list_groups(kinds=[kind])
    assert created not in client.list_groups(kinds=[other])
    joined.close()
    wait_for(lambda: created in client.list_groups(states=["Empty"]), what="the group to be empty")
    assert created not in client.list_groups(states=["Stable"])


def assert_not_found(client: Client, group: str) -> None:
    if client.unknown_group_is_dead:
        described = client.describe_group(group)
        assert (described.state, described.members) == ("Dead", ())
    else:
        with pytest.raises(ClientError) as raised:
            client.describe_group(group)
        assert raised.value.code == GROUP_ID_NOT_FOUND


@every_client("describe_group")
def test_describe(client: Client, joined: Member, created: str, request: pytest.FixtureRequest) -> None:
    kind = request.node.callspec.params["joined"]
    if kind == "consumer" and not client.describes_consumer_groups:
        assert_not_found(client, created)
        return
    described = client.describe_group(created)
    assert described.state == "Stable"
    assert described.kind in (kind, None)
    assert described.assignor == ("range" if kind == "classic" else "uniform")
    [member] = described.members
    assert member.member_id
    assert member.instance_id is None
    assert member.client_id == "rdkafka"
    assert member.host == "/127.0.0.1"
    assert member.assignment == all_of(created, PARTITIONS)


@every_client("describe_group")
def test_describe_a_group_that_is_empty(
    client: Client, joined: Member, created: str, request: pytest.FixtureRequest
) -> None:
    joined.close()
    if request.node.callspec.params["joined"] == "consumer" and not client.describes_consumer_groups:
        assert_not_found(client, created)
        return
    described = client.describe_group(created)
    assert (described.state, described.members) == ("Empty", ())


@every_client("describe_group")
def test_describe_a_group_that_is_not_there(client: Client, topic: str) -> None:
    assert_not_found(client, topic)


@every_client("delete_group")
def test_delete(client: Client, reader: Client, joined: Member, created: str) -> None:
    joined.commit({(created, 0): Committed(0)})
    with pytest.raises(ClientError) as raised:
        client.delete_group(created)
    assert raised.value.code == NON_EMPTY_GROUP
    joined.close()
    client.delete_group(created)
    assert created not in reader.list_groups()
    assert reader.group_offsets(created) == {}


@every_client("delete_group")
def test_delete_a_group_that_is_not_there(client: Client, topic: str) -> None:
    with pytest.raises(ClientError) as raised:
        client.delete_group(topic)
    assert raised.value.code == GROUP_ID_NOT_FOUND


@every_client("alter_group_offsets")
def test_alter_offsets(
    client: Client, reader: Client, administrator: Client, created: str, opened: Opened
) -> None:
    """Also of a group that was not there before: it is made by that."""
    reader.produce(created, numbered_records(10))
    wanted = {(created, 0): Committed(8, "set from outside"), (created, 1): Committed(0, "")}
    client.alter_group_offsets(created, wanted)
    found = administrator.group_offsets(created)
    assert {place: at.offset for place, at in found.items()} == {(created, 0): 8, (created, 1): 0}
    assert reader.list_groups()[created].state == "Empty"
    member = opened(reader.open_member(Membership(created, (created,))))
    wait_for(lambda: len(member.records()) >= 2, what="the two last records")
    assert [each.offset for each in member.records()] == [8, 9]


@every_client("alter_group_offsets", where=lambda kind: kind.name != "kafkajs")  # joins the group for that
def test_alter_offsets_of_a_group_with_members(
    client: Client, reader: Client, joined: Member, created: str
) -> None:
    with pytest.raises(ClientError) as raised:
        client.alter_group_offsets(created, {(created, 0): Committed(1)})
    assert raised.value.code == UNKNOWN_MEMBER_ID
    assert reader.group_offsets(created) == {}


@every_client("delete_group_offsets")
def test_delete_offsets(client: Client, reader: Client, joined: Member, created: str) -> None:
    joined.commit({(created, 0): Committed(0), (created, 1): Committed(0)})
    with pytest.raises(ClientError) as raised:
        client.delete_group_offsets(created, [(created, 0)])
    assert raised.value.code == GROUP_SUBSCRIBED_TO_TOPIC
    joined.close()
    client.delete_group_offsets(created, [(created, 0)])
    assert reader.group_offsets(created) == {(created, 1): Committed(0)}


@every_client("delete_group_offsets")
def test_delete_offsets_of_a_group_that_is_not_there(client: Client, created: str) -> None:
    with pytest.raises(ClientError) as raised:
        client.delete_group_offsets(created, [(created, 0)])
    assert raised.value.code == GROUP_ID_NOT_FOUND


@every_client("alter_group_offsets", where=lambda kind: kind.name in ("java", "kafka-python", "franz-go"))
def test_offsets_of_a_topic_that_is_not_there(client: Client, reader: Client, topic: str) -> None:
    with pytest.raises(ClientError) as raised:
        client.alter_group_offsets(topic, {(topic, 0): Committed(1)})
    assert raised.value.code == UNKNOWN_TOPIC_OR_PARTITION
    assert reader.group_offsets(topic) == {}
