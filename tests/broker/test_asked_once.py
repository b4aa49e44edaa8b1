"""A few bytes that say one name again and again do not get what there is to say of it as often."""

from collections.abc import Callable
from typing import Any

import pytest

from penstock.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.describe_share_group_offsets import (
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from penstock.wire.messages.describe_transactions import DescribeTransactionsRequest
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.wire.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from penstock.wire.messages.share_group_describe import ShareGroupDescribeRequest
from penstock.wire.schema import ApiMessage
from tests.broker.asking import TOPIC_RESOURCE, unique_topic
from tests.broker.committing import find_coordinator
from tests.broker.conftest import only_penstock
from tests.support.wire_client import WireClient

pytestmark = only_penstock

FEW, SO_MANY_THAT_THEY_ARE_CUT = 3, 40_000

Make = Callable[[list[str]], tuple[ApiMessage, str]]
REQUESTS: dict[str, Make] = {
    "classic groups": lambda names: (DescribeGroupsRequest(names), "groups"),
    "consumer groups": lambda names: (ConsumerGroupDescribeRequest(names), "groups"),
    "share groups": lambda names: (ShareGroupDescribeRequest(names), "groups"),
    "transactions": lambda names: (DescribeTransactionsRequest(names), "transaction_states"),
    "offsets": lambda names: (
        OffsetFetchRequest(groups=[OffsetFetchRequestGroup(name, topics=None) for name in names]),
        "groups",
    ),
    "share groups' offsets": lambda names: (
        DescribeShareGroupOffsetsRequest(
            [DescribeShareGroupOffsetsRequestGroup(name, None) for name in names]
        ),
        "groups",
    ),
    "topics": lambda names: (MetadataRequest([MetadataRequestTopic(name=name) for name in names]), "topics"),
    "configs": lambda names: (
        DescribeConfigsRequest([DescribeConfigsResource(TOPIC_RESOURCE, name, None) for name in names]),
        "results",
    ),
}


@pytest.fixture
def names(client: WireClient) -> list[str]:
    topic = unique_topic(client)
    find_coordinator(client, topic)
    return [topic, "another"]


def answered(client: WireClient, asked: tuple[ApiMessage, str]) -> list[Any]:
    request, array = asked
    return list(getattr(client.send(request), array))


@pytest.mark.parametrize("times", [FEW, SO_MANY_THAT_THEY_ARE_CUT])
@pytest.mark.parametrize("what", REQUESTS)
def test_each_is_answered_once_and_in_order(
    client: WireClient, names: list[str], what: str, times: int
) -> None:
    once = answered(client, REQUESTS[what](names))
    assert len(once) == 2
    assert answered(client, REQUESTS[what](names * times)) == once


def test_offsets_of_named_partitions_are_answered_as_often(client: WireClient, names: list[str]) -> None:
    """One group may be asked for some here and some there."""
    topics = [OffsetFetchRequestTopics(names[0], partition_indexes=[0])]
    groups = [OffsetFetchRequestGroup(names[0], topics=topics) for _ in range(3)]
    answer = client.send(OffsetFetchRequest(groups=groups), 9)
    assert [len(group.topics) for group in answer.groups] == [1, 1, 1]
