"""Groups that change protocol while they are in use, over the socket, with members of both kinds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from penstock.errors import ErrorCode
from penstock.group.consumer_protocol import (
    AssignedPartitions,
    NamedPartitions,
    Subscription,
    decode_assignment,
    encode,
)
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.wire.messages.list_groups import ListGroupsRequest
from tests.broker import classic_members
from tests.broker.classic_members import code_of
from tests.broker.committing import commit
from tests.broker.consumer_group_server import bootstrap, client, consumer, group, topic
from tests.broker.consumer_members import (
    NewConsumer,
    describe,
    places,
)
from tests.group.consumers import settle
from tests.support.wire_client import WireClient

__all__ = ["bootstrap", "client", "consumer", "group", "topic"]

VERSION = 1
"""Of the subscriptions: the first that says what a member owns."""


@pytest.fixture
def classic(bootstrap: str, group: str, topic: str) -> Iterator[Classic]:
    with Classic(bootstrap, group) as member:
        member.topic = topic
        yield member


class Classic(classic_members.Member):
    """A consumer of the classic protocol that says what it owns, and rebalances cooperatively."""

    topic: str
    owned: frozenset[int] = frozenset()

    def __enter__(self) -> Classic:
        return self

    def say_owned(self) -> None:
        owned = [NamedPartitions(self.topic, sorted(self.owned))] if self.owned else []
        subscription = Subscription([self.topic], owned_partitions=owned)
        self.protocols = [("cooperative-sticky", encode(subscription, VERSION))]

    def lead_alone(self, partitions: Iterable[int]) -> None:
        """Makes a classic group of its own."""
        self.say_owned()
        self.join_with_new_id()
        assert code_of(self.join()) == "NONE"
        assignment = AssignedPartitions([NamedPartitions(self.topic, sorted(partitions))])
        answer = self.sync({self.member_id: encode(assignment, VERSION)})
        self.owned = self.assigned_by(answer)

    def rejoin(self) -> Any:
        """Joins and syncs; what it got."""
        self.say_owned()
        joined = self.join()
        assert code_of(joined) == "NONE"
        answer = self.sync()
        assert code_of(answer) == "NONE"
        self.owned = self.assigned_by(answer)
        return joined

    def assigned_by(self, answer: Any) -> frozenset[int]:
        named = decode_assignment(answer.assignment).assigned_partitions
        return frozenset(
            partition for one in named if one.topic == self.topic for partition in one.partitions
        )


def kind(client: WireClient, group: str) -> tuple[str, str]:
    (found,) = [one for one in client.send(ListGroupsRequest()).groups if one.group_id == group]
    return found.group_type, found.group_state


def test_a_classic_group_becomes_a_consumer_group_and_back(
    client: WireClient, consumer: NewConsumer, classic: Classic, group: str, topic: str
) -> None:
    classic.lead_alone(range(4))
    assert kind(client, group) == ("classic", "Stable")

    two = consumer("two")
    two.beat()
    assert (two.epoch, two.owned) == (2, set())
    assert kind(client, group) == ("consumer", "Reconciling")
    members = {member.member_id: member for member in describe(client, group).members}
    assert (members["two"].member_type, members[classic.member_id].member_type) == (1, 0)
    assert members[classic.member_id].member_epoch == 1

    assert classic.is_to_rejoin()
    joined = classic.rejoin()
    assert (joined.generation_id, joined.protocol_name, joined.leader, joined.members) == (
        1,
        "cooperative-sticky",
        "",
        [],
    )
    assert len(classic.owned) == 2
    two.beat()
    assert two.owned == set()
    assert classic.is_to_rejoin()
    assert classic.rejoin().generation_id == 2
    assert len(classic.owned) == 2
    assert classic.heartbeat() == "NONE"
    two.beat()
    assert two.owned | places(client, topic, *classic.owned) == places(client, topic, 0, 1, 2, 3)
    assert not two.owned & places(client, topic, *classic.owned)

    who: dict[str, Any] = {"member_id": classic.member_id, "generation_id_or_member_epoch": 2}
    assert commit(client, group, topic, 5, min(classic.owned), version=8, **who) == 0
    who["generation_id_or_member_epoch"] = 3
    assert commit(client, group, topic, 5, **who) == ErrorCode.ILLEGAL_GENERATION

    two.leave()
    assert kind(client, group) == ("classic", "PreparingRebalance")
    assert describe(client, group).error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert classic.is_to_rejoin()
    classic.say_owned()
    joined = classic.join()
    assert (joined.generation_id, joined.leader) == (3, classic.member_id)


def test_a_classic_member_joins_a_consumer_group(
    client: WireClient, consumer: NewConsumer, classic: Classic, group: str, topic: str
) -> None:
    one = consumer("one")
    settle([one])
    classic.say_owned()
    classic.join_with_new_id()
    assert classic.rejoin().generation_id == 3
    assert classic.owned == set()
    assert classic.heartbeat() == "NONE"
    settle([one])
    assert classic.is_to_rejoin()
    classic.rejoin()
    assert places(client, topic, *classic.owned) | one.owned == places(client, topic, 0, 1, 2, 3)
    assert classic.heartbeat() == "NONE"
    assert code_of(classic.leave().members[0]) == "NONE"
    settle([one])
    assert one.owned == places(client, topic, 0, 1, 2, 3)
    assert kind(client, group) == ("consumer", "Stable")


def test_what_a_classic_member_is_refused(consumer: NewConsumer, classic: Classic) -> None:
    one = consumer("one")
    settle([one])
    classic.say_owned()
    classic.session_timeout_ms = 1
    assert code_of(classic.join()) == "INVALID_SESSION_TIMEOUT"
    classic.session_timeout_ms = 30_000
    classic.protocol_type = "connect"
    assert code_of(classic.join()) == "INCONSISTENT_GROUP_PROTOCOL"
    classic.protocol_type = "consumer"
    classic.join_with_new_id()
    assert classic.heartbeat() == "UNKNOWN_MEMBER_ID"
    classic.rejoin()
    classic.generation += 1
    assert classic.heartbeat() == "ILLEGAL_GENERATION"
    assert code_of(classic.sync()) == "ILLEGAL_GENERATION"
    classic.generation -= 1
    classic.protocols = [("range", b"")]
    assert code_of(classic.sync()) == "INCONSISTENT_GROUP_PROTOCOL"
    assert code_of(classic.join()) == "INCONSISTENT_GROUP_PROTOCOL"
    classic.member_id = "one"
    classic.generation = one.epoch
    assert classic.heartbeat() == "UNKNOWN_MEMBER_ID"


def test_a_classic_group_that_is_no_group_of_consumers_stays(
    client: WireClient, classic: Classic, group: str
) -> None:
    classic.protocol_type = "connect"
    classic.join_with_new_id()
    classic.join()
    classic.sync()
    request = ConsumerGroupHeartbeatRequest(
        group_id=group, member_id="one", rebalance_timeout_ms=1000, subscribed_topic_names=[]
    )
    response = client.send(request)
    assert response.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert response.error_message == (
        f"Cannot upgrade classic group {group} to consumer group because the group does not use the consumer "
        "embedded protocol."
    )


def test_metadata_that_is_no_subscription_keeps_a_group_classic(
    client: WireClient, classic: Classic, group: str
) -> None:
    classic.join_with_new_id()
    classic.join()
    classic.sync()
    request = ConsumerGroupHeartbeatRequest(
        group_id=group, member_id="one", rebalance_timeout_ms=1000, subscribed_topic_names=[]
    )
    response = client.send(request)
    assert response.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert response.error_message == (
        f"Cannot upgrade classic group {group} to consumer group because the embedded consumer protocol is malformed."
    )
    assert classic.heartbeat() == "NONE"


def test_an_empty_classic_group_is_replaced(
    client: WireClient, consumer: NewConsumer, classic: Classic, group: str
) -> None:
    classic.lead_alone(range(4))
    classic.leave()
    assert kind(client, group) == ("classic", "Empty")
    one = consumer("one")
    settle([one])
    assert (one.epoch, len(one.owned)) == (2, 4)
    assert kind(client, group) == ("consumer", "Stable")


def test_an_empty_consumer_group_is_replaced(
    client: WireClient, consumer: NewConsumer, classic: Classic, group: str
) -> None:
    one = consumer("one")
    settle([one])
    one.leave()
    assert kind(client, group) == ("consumer", "Empty")
    classic.lead_alone(range(4))
    assert (classic.generation, kind(client, group)) == (1, ("classic", "Stable"))


def test_a_static_member_changes_its_protocol(
    client: WireClient, consumer: NewConsumer, classic: Classic, group: str, topic: str
) -> None:
    """From classic to consumer, which takes the group along, and back, which takes it back."""
    classic.instance = "i"
    classic.say_owned()
    assert code_of(classic.join()) == "NONE"
    assignment = AssignedPartitions([NamedPartitions(topic, [0, 1, 2, 3])])
    classic.owned = classic.assigned_by(classic.sync({classic.member_id: encode(assignment, VERSION)}))
    one = consumer("one", instance_id="i")
    one.beat()
    assert one.owned == places(client, topic, 0, 1, 2, 3)
    assert kind(client, group) == ("consumer", "Stable")
    assert classic.heartbeat() == "FENCED_INSTANCE_ID"
    classic.member_id = ""
    classic.say_owned()
    assert code_of(classic.join()) == "NONE"
    assert kind(client, group)[0] == "classic"
    one.heartbeat()
    assert one.error == ErrorCode.GROUP_ID_NOT_FOUND
