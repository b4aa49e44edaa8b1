"""What a request asks for more than once is answered once.

An answer about a group, a topic or a transaction may be thousands of times longer than its name, so a request of a few
kilobytes that repeats a name could ask for more than there is memory.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from penstock.wire.messages.describe_transactions import DescribeTransactionsRequest
from penstock.wire.messages.metadata import MetadataRequest
from penstock.wire.messages.offset_fetch import OffsetFetchRequest
from penstock.wire.messages.share_group_describe import ShareGroupDescribeRequest
from penstock.wire.messages.streams_group_describe import StreamsGroupDescribeRequest
from penstock.wire.schema import ApiMessage


class Once(NamedTuple):
    array: str
    identity: Callable[[Any], object]
    """Elements of the request's array for which it is the same ask for the same."""


def _name(name: str) -> object:
    return name


def _offsets(group: Any) -> object:
    """Who asks for the offsets of some partitions gets as many as were named."""
    return group.group_id if group.topics is None else id(group)


def _configs(resource: DescribeConfigsResource) -> object:
    keys = resource.configuration_keys
    return resource.resource_type, resource.resource_name, None if keys is None else tuple(keys)


ANSWERED_ONCE: dict[type[ApiMessage], Once] = {
    ConsumerGroupDescribeRequest: Once("group_ids", _name),
    DescribeConfigsRequest: Once("resources", _configs),
    DescribeGroupsRequest: Once("groups", _name),
    DescribeShareGroupOffsetsRequest: Once("groups", _offsets),
    DescribeTransactionsRequest: Once("transactional_ids", _name),
    MetadataRequest: Once("topics", lambda topic: (topic.name, topic.topic_id)),
    OffsetFetchRequest: Once("groups", _offsets),
    ShareGroupDescribeRequest: Once("group_ids", _name),
    StreamsGroupDescribeRequest: Once("group_ids", _name),
}


def leave_out_repetitions(request: ApiMessage, once: Once) -> None:
    elements = getattr(request, once.array)
    if elements and len(elements) > 1:
        setattr(request, once.array, list({once.identity(element): element for element in elements}.values()))
