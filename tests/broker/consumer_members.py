"""Consumers that talk to a server over a socket."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from tests.broker.asking import topic_id
from tests.group.consumers import Consumer, Place
from tests.support.wire_client import WireClient

NewConsumer = Callable[..., Consumer]


def consumers_of(client: WireClient, group: str, topic: str) -> NewConsumer:
    """Makes consumers of a topic in a group."""

    def send(request: ConsumerGroupHeartbeatRequest) -> Any:
        response = client.send(request)
        if response.error_code:
            return ApiError(ErrorCode(response.error_code), response.error_message)
        return response

    def make(member_id: str, topics: list[str] | None = None, **options: Any) -> Consumer:
        return Consumer(send, member_id, [topic] if topics is None else topics, group_id=group, **options)

    return make


def places(client: WireClient, topic: str, *partitions: int) -> set[Place]:
    return {(topic_id(client, topic), partition) for partition in partitions}


def describe(client: WireClient, group: str) -> Any:
    return client.send(ConsumerGroupDescribeRequest(group_ids=[group])).groups[0]
