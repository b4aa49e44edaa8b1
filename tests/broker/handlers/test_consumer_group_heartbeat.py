"""Consumer groups (KIP-848) over the socket: epochs, assignments, error codes and messages, as Kafka has them."""

from __future__ import annotations

import itertools
import os
from typing import Any

import pytest

from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest, TopicPartitions
from penstock.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from tests.broker.asking import new_topic, topic_id, unique_topic
from tests.broker.committing import commit, committed, fetch_group
from tests.broker.consumer_group_server import bootstrap, client, consumer, group, topic
from tests.broker.consumer_members import (
    NewConsumer,
    describe,
    places,
)
from tests.group.consumers import settle
from tests.support.cluster_fixture import PEER
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

__all__ = ["bootstrap", "client", "consumer", "group", "topic"]

_numbers = itertools.count()


def refusal(client: WireClient, version: int = 1, **fields: Any) -> tuple[ErrorCode, str | None]:
    response = client.send(ConsumerGroupHeartbeatRequest(**fields), version)
    return ErrorCode(response.error_code), response.error_message


# members come and go


def test_one_member_owns_everything(client: WireClient, consumer: NewConsumer, topic: str) -> None:
    one = consumer("one")
    response = client.send(one.request())
    assert (response.error_code, response.member_id, response.member_epoch) == (0, "one", 2)
    assert response.heartbeat_interval_ms == 1000
    (assigned,) = response.assignment.topic_partitions
    assert assigned.topic_id == topic_id(client, topic)
    assert sorted(assigned.partitions) == [0, 1, 2, 3]


def test_an_answer_without_news_has_no_assignment(client: WireClient, consumer: NewConsumer) -> None:
    one = consumer("one")
    one.beat()
    one.beat()
    request = one.request()
    assert request.topic_partitions is None
    response = client.send(request)
    assert (response.error_code, response.member_epoch, response.assignment) == (0, 2, None)


def test_a_full_request_is_answered_in_full(client: WireClient, consumer: NewConsumer) -> None:
    one = consumer("one")
    one.beat()
    one.says_all = True
    response = client.send(one.request())
    assert len(response.assignment.topic_partitions) == 1


def test_partitions_are_handed_on_when_they_are_revoked(
    client: WireClient, consumer: NewConsumer, topic: str
) -> None:
    one, two = consumer("one"), consumer("two")
    one.beat()
    two.beat()
    assert (two.epoch, two.owned) == (3, set())
    one.heartbeat()
    assert one.epoch == 2
    assert one.has_news
    assert len(one.told or ()) == 2
    two.beat()
    assert two.owned == set()
    one.act()
    one.heartbeat()
    assert (one.epoch, one.has_news) == (3, False)
    two.beat()
    assert one.owned | two.owned == places(client, topic, 0, 1, 2, 3)
    assert not one.owned & two.owned


def test_a_member_that_leaves_frees_its_partitions(
    client: WireClient, consumer: NewConsumer, topic: str
) -> None:
    one, two = consumer("one"), consumer("two")
    settle([one, two])
    two.leave()
    settle([one])
    assert one.owned == places(client, topic, 0, 1, 2, 3)
    assert one.epoch == 4


def test_a_silent_member_is_put_out(client: WireClient, consumer: NewConsumer, topic: str) -> None:
    one, two = consumer("one"), consumer("two")
    settle([one, two])

    def has_all() -> bool:
        one.beat()
        return one.owned == places(client, topic, 0, 1, 2, 3)

    wait_for(has_all, what="the session of the other to end")
    two.heartbeat()
    assert two.error == ErrorCode.UNKNOWN_MEMBER_ID


def test_a_member_that_does_not_revoke_in_time_is_put_out(client: WireClient, consumer: NewConsumer) -> None:
    one, two = consumer("one"), consumer("two")
    request = one.request()
    request.rebalance_timeout_ms = 500
    assert client.send(request).error_code == 0
    one.epoch = 2
    two.beat()

    def is_out() -> bool:
        one.says_all = False
        one.heartbeat()
        return one.error == ErrorCode.UNKNOWN_MEMBER_ID

    wait_for(is_out, what="the rebalance timeout")


def test_a_subscription_changes(client: WireClient, consumer: NewConsumer, topic: str) -> None:
    other = unique_topic(client, 2)
    one = consumer("one")
    settle([one])
    one.subscribe([other])
    settle([one])
    assert one.owned == places(client, other, 0, 1)
    one.subscribe([topic, other])
    settle([one])
    assert one.owned == places(client, topic, 0, 1, 2, 3) | places(client, other, 0, 1)


def test_a_topic_grows(client: WireClient, consumer: NewConsumer, topic: str) -> None:
    one = consumer("one")
    settle([one])
    request = CreatePartitionsRequest(topics=[CreatePartitionsTopic(topic, 6, None)], timeout_ms=10_000)
    assert client.send(request).results[0].error_code == 0

    def has_all() -> bool:
        one.beat()
        return one.owned == places(client, topic, 0, 1, 2, 3, 4, 5)

    wait_for(has_all, what="the new partitions")
    assert one.epoch == 3


def test_a_topic_is_deleted(client: WireClient, consumer: NewConsumer, topic: str) -> None:
    other = unique_topic(client, 1)
    one = consumer("one", [topic, other])
    settle([one])
    request = DeleteTopicsRequest(topics=[DeleteTopicState(name=other)], timeout_ms=10_000)
    assert client.send(request).responses[0].error_code == 0

    def has_rest() -> bool:
        one.beat()
        return one.owned == places(client, topic, 0, 1, 2, 3)

    wait_for(has_rest, what="the topic to be taken away")


def test_a_topic_that_comes_later(client: WireClient, group: str, consumer: NewConsumer) -> None:
    name = f"later-{os.getpid()}-{next(_numbers)}"
    one = consumer("one", [name])
    one.beat()
    assert (one.epoch, one.owned) == (2, set())
    new_topic(client, name, 2)

    def has_it() -> bool:
        one.beat()
        return one.owned == places(client, name, 0, 1)

    wait_for(has_it, what="the topic")


# epochs


def test_a_lost_answer_is_forgiven(consumer: NewConsumer) -> None:
    one, two = consumer("one"), consumer("two")
    settle([one])
    one.subscribe([*one.topics, "more"])
    one.heartbeat(is_lost=True)
    one.heartbeat()
    assert (one.error, one.epoch) == (None, 3)
    assert two.error is None


def test_an_old_epoch_with_foreign_partitions_is_fenced(
    client: WireClient, consumer: NewConsumer, group: str, topic: str
) -> None:
    one, two = consumer("one"), consumer("two")
    settle([one, two])
    one.subscribe([topic, "more"])
    one.heartbeat(is_lost=True)
    one.owned = places(client, topic, 0, 1, 2, 3)
    assert refusal(client, **fields_of(one.request())) == (
        ErrorCode.FENCED_MEMBER_EPOCH,
        "The consumer group member has a smaller member epoch (3) than the one known by the group coordinator (4). "
        "The member must abandon all its partitions and rejoin.",
    )


def test_an_epoch_from_the_future_is_fenced(client: WireClient, consumer: NewConsumer, group: str) -> None:
    consumer("one").beat()
    assert refusal(client, group_id=group, member_id="one", member_epoch=9) == (
        ErrorCode.FENCED_MEMBER_EPOCH,
        "The consumer group member has a greater member epoch (9) than the one known by the group coordinator (2). "
        "The member must abandon all its partitions and rejoin.",
    )


def test_a_member_may_join_again(consumer: NewConsumer) -> None:
    one = consumer("one")
    settle([one])
    one.epoch, one.owned = 0, set()
    one.beat()
    assert (one.epoch, len(one.owned)) == (2, 4)


def fields_of(request: ConsumerGroupHeartbeatRequest) -> dict[str, Any]:
    return {field.name: getattr(request, field.name) for field in request.SCHEMA}


# static members


def test_a_static_member_comes_back_to_what_it_had(consumer: NewConsumer) -> None:
    one, two = consumer("one", instance_id="i"), consumer("two")
    settle([one, two])
    had = set(one.owned)
    one.leave(epoch=-2)
    assert one.error is None
    again = consumer("again", instance_id="i")
    again.beat()
    assert (again.epoch, again.owned) == (3, had)
    two.beat()
    assert two.epoch == 3


def test_an_instance_id_in_use(client: WireClient, consumer: NewConsumer) -> None:
    consumer("one", instance_id="i").beat()
    assert refusal(client, **fields_of(consumer("two", instance_id="i").request())) == (
        ErrorCode.UNRELEASED_INSTANCE_ID,
        "Static member two with instance id i cannot join the group because the instance id is owned by one member.",
    )


def test_the_former_self_of_a_static_member_is_fenced(
    client: WireClient, consumer: NewConsumer, group: str
) -> None:
    one = consumer("one", instance_id="i")
    one.beat()
    one.leave(epoch=-2)
    consumer("two", instance_id="i").beat()
    known: dict[str, Any] = {"group_id": group, "member_id": "one", "instance_id": "i"}
    fenced = (ErrorCode.FENCED_INSTANCE_ID, "Static member one with instance id i was fenced by member two.")
    assert refusal(client, member_epoch=2, **known) == fenced
    assert refusal(client, member_epoch=-1, **known) == fenced
    assert refusal(client, member_epoch=-2, **known) == fenced


def test_an_unknown_instance_id(client: WireClient, consumer: NewConsumer, group: str) -> None:
    consumer("one").beat()
    for epoch in (2, -1, -2):
        assert refusal(client, group_id=group, member_id="one", member_epoch=epoch, instance_id="x") == (
            ErrorCode.UNKNOWN_MEMBER_ID,
            "Instance id x is unknown.",
        )


def test_a_static_member_that_stays_away_is_put_out(consumer: NewConsumer) -> None:
    one, two = consumer("one", instance_id="i"), consumer("two")
    settle([one, two])
    one.leave(epoch=-2)

    def has_all() -> bool:
        two.beat()
        return len(two.owned) == 4

    wait_for(has_all, what="the session of the static member to end")


# what makes no sense


def joining(group: str, **changes: Any) -> dict[str, Any]:
    return {
        "group_id": group,
        "member_id": "one",
        "member_epoch": 0,
        "rebalance_timeout_ms": 1000,
        "subscribed_topic_names": [],
        "topic_partitions": [],
    } | changes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"member_id": " "}, "MemberId can't be empty."),
        ({"instance_id": ""}, "InstanceId can't be empty."),
        ({"rack_id": " "}, "RackId can't be empty."),
        ({"rebalance_timeout_ms": -1}, "RebalanceTimeoutMs must be provided in first request."),
        ({"topic_partitions": None}, "TopicPartitions must be empty when (re-)joining."),
        (
            {"topic_partitions": [TopicPartitions(bytes(15) + b"1", [0])]},
            "TopicPartitions must be empty when (re-)joining.",
        ),
        (
            {"subscribed_topic_names": None},
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        ({"member_epoch": -2}, "InstanceId can't be null."),
        ({"member_epoch": -3}, "MemberEpoch is invalid."),
    ],
)
def test_a_request_that_makes_no_sense(
    client: WireClient, group: str, changes: dict[str, Any], message: str
) -> None:
    assert refusal(client, **joining(group, **changes)) == (ErrorCode.INVALID_REQUEST, message)


def test_a_group_needs_a_name(client: WireClient) -> None:
    assert refusal(client, **joining("")) == (ErrorCode.INVALID_REQUEST, "GroupId can't be empty.")


def test_the_first_version_lets_the_broker_name_members(client: WireClient, group: str) -> None:
    response = client.send(ConsumerGroupHeartbeatRequest(**joining(group, member_id="")), 0)
    assert response.error_code == 0
    assert response.member_id
    assert refusal(client, 0, **joining(group, member_id="", member_epoch=1)) == (
        ErrorCode.INVALID_REQUEST,
        "MemberId can't be empty.",
    )


def test_an_assignor_that_there_is_not(client: WireClient, group: str) -> None:
    assert refusal(client, **joining(group, server_assignor="magic")) == (
        ErrorCode.UNSUPPORTED_ASSIGNOR,
        "ServerAssignor magic is not supported. Supported assignors: uniform, range.",
    )


def test_unknown_members_and_groups(client: WireClient, consumer: NewConsumer, group: str) -> None:
    assert refusal(client, group_id=group, member_id="one", member_epoch=1) == (
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Consumer group {group} not found.",
    )
    assert refusal(client, group_id=group, member_id="one", member_epoch=-1) == (
        ErrorCode.GROUP_ID_NOT_FOUND,
        f"Group {group} not found.",
    )
    consumer("one").beat()
    for epoch in (1, -1):
        assert refusal(client, group_id=group, member_id="two", member_epoch=epoch) == (
            ErrorCode.UNKNOWN_MEMBER_ID,
            f"Member two is not a member of group {group}.",
        )


def test_a_full_group(client: WireClient, consumer: NewConsumer) -> None:
    members = [consumer(f"m{number}") for number in range(4)]
    for member in members:
        member.beat()
    assert refusal(client, **fields_of(consumer("m4").request())) == (
        ErrorCode.GROUP_MAX_SIZE_REACHED,
        "The consumer group has reached its maximum capacity of 4 members.",
    )
    members[0].beat()
    assert members[0].error is None


# regular expressions


def test_a_subscription_by_regular_expression(client: WireClient, consumer: NewConsumer, topic: str) -> None:
    one = consumer("one", [], regex=f"{topic[:-1]}[{topic[-1]}]")
    one.beat()
    assert (one.epoch, one.owned) == (1, set())

    def has_topic() -> bool:
        one.beat()
        return one.owned == places(client, topic, 0, 1, 2, 3)

    wait_for(has_topic, what="the expression to be resolved")
    assert one.epoch == 2


def test_a_regular_expression_that_is_none(client: WireClient, group: str) -> None:
    code, message = refusal(
        client, **joining(group, subscribed_topic_names=None, subscribed_topic_regex="(foo.*")
    )
    assert code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert message is not None
    assert message.startswith("SubscribedTopicRegex `(foo.*` is not a valid regular expression: ")


# offsets


def test_commits_of_members(client: WireClient, consumer: NewConsumer, group: str, topic: str) -> None:
    one = consumer("one")
    settle([one])
    who: dict[str, Any] = {"member_id": "one", "generation_id_or_member_epoch": 2}
    assert commit(client, group, topic, 7, **who) == 0
    assert committed(client, group, topic) == 7
    assert commit(client, group, topic, 7, version=8, **who) == ErrorCode.UNSUPPORTED_VERSION
    assert commit(client, group, topic, 7) == ErrorCode.UNKNOWN_MEMBER_ID
    who["member_id"] = "two"
    assert commit(client, group, topic, 7, **who) == ErrorCode.UNKNOWN_MEMBER_ID
    who |= {"member_id": "one", "generation_id_or_member_epoch": 3}
    assert commit(client, group, topic, 7, **who) == ErrorCode.STALE_MEMBER_EPOCH


def test_a_member_that_is_behind_may_commit_what_it_owned_before(
    client: WireClient, consumer: NewConsumer, group: str, topic: str
) -> None:
    """KIP-1251: what counts is since when it owns the partition."""
    one, two = consumer("one"), consumer("two")
    settle([one, two])
    (kept, *_), (lost, *_) = sorted(one.owned), sorted(two.owned)
    who: dict[str, Any] = {"member_id": "one", "generation_id_or_member_epoch": 2}
    assert one.epoch == 3
    assert commit(client, group, topic, 1, kept[1], **who) == 0
    assert commit(client, group, topic, 1, lost[1], **who) == ErrorCode.STALE_MEMBER_EPOCH
    who["member_id"] = "two"
    assert commit(client, group, topic, 1, lost[1], **who) == ErrorCode.STALE_MEMBER_EPOCH


def test_an_administrator_commits_for_an_empty_group(
    client: WireClient, consumer: NewConsumer, group: str, topic: str
) -> None:
    one = consumer("one")
    one.beat()
    one.leave()
    assert commit(client, group, topic, 3) == 0
    assert committed(client, group, topic) == 3


def test_members_see_committed_offsets_in_their_epoch(
    client: WireClient, consumer: NewConsumer, group: str, topic: str
) -> None:
    settle([consumer("one")])

    def code(member_id: str | None, epoch: int) -> int:
        answer = fetch_group(client, group, {topic: [0]}, member_id=member_id, member_epoch=epoch)
        found: int = answer.error_code
        return found

    assert code("one", 2) == code(None, -1) == 0
    assert code("one", 1) == code("one", 3) == ErrorCode.STALE_MEMBER_EPOCH
    assert code("two", 2) == ErrorCode.UNKNOWN_MEMBER_ID


# describing


def test_describe(client: WireClient, consumer: NewConsumer, group: str, topic: str) -> None:
    one, two = consumer("one", instance_id="i"), consumer("two")
    one.beat()
    assert describe(client, group).group_state == "Stable"
    two.beat()
    described = describe(client, group)
    assert described.group_state == "Reconciling"
    settle([one, two])
    described = describe(client, group)
    assert (described.error_code, described.group_state) == (0, "Stable")
    assert (described.group_epoch, described.assignment_epoch, described.assignor_name) == (3, 3, "uniform")
    members = {member.member_id: member for member in described.members}
    assert members.keys() == {"one", "two"}
    shown = members["one"]
    assert (shown.instance_id, shown.member_epoch, shown.client_id) == ("i", 3, "test")
    assert (shown.client_host, shown.subscribed_topic_names) == ("/127.0.0.1", [topic])
    assert (shown.subscribed_topic_regex, shown.rack_id, shown.member_type) == ("", None, 1)
    (owned,) = shown.assignment.topic_partitions
    assert (owned.topic_name, {(owned.topic_id, index) for index in owned.partitions}) == (topic, one.owned)
    assert sorted(shown.target_assignment.topic_partitions[0].partitions) == sorted(owned.partitions)
    one.leave()
    assert describe(client, group).group_state == "Assigning"
    two.leave()
    described = describe(client, group)
    assert (described.group_state, described.members) == ("Empty", [])


def test_describe_what_is_not_there(client: WireClient, group: str) -> None:
    described = describe(client, group)
    assert described.error_code == ErrorCode.GROUP_ID_NOT_FOUND
    assert described.error_message == f"Group {group} not found."
    assert describe(client, "").error_code == ErrorCode.INVALID_GROUP_ID


@pytest.mark.skipif(PEER == "apache", reason="starts Penstock with a setting of its own")
def test_the_protocol_can_be_switched_off() -> None:
    with (
        InProcessBroker({"group.coordinator.rebalance.protocols": "classic"}) as broker,
        WireClient(broker.bootstrap_servers) as client,
    ):
        assert refusal(client, **joining("g"))[0] == ErrorCode.UNSUPPORTED_VERSION
        assert describe(client, "g").error_code == ErrorCode.UNSUPPORTED_VERSION
