"""A server for consumer groups with short timeouts, and consumers that talk to it over a socket."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from penstock.errors import ApiError, ErrorCode
from penstock.testing import InProcessBroker
from penstock.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.broker.asking import topic_id
from tests.group.consumers import Consumer, Place
from tests.support.cluster_fixture import PEER, running_apache
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

SETTINGS = {
    "auto.create.topics.enable": "false",
    "group.consumer.assignment.interval.ms": "0",
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.consumer.max.size": "4",
    "group.initial.rebalance.delay.ms": "0",
}
NewConsumer = Callable[..., Consumer]

_numbers = itertools.count()


@contextmanager
def running_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Its address."""
    if PEER == "apache":
        with running_apache(tmp_path_factory.mktemp("kafka"), SETTINGS) as apache:
            yield apache.bootstrap
    else:
        with InProcessBroker(SETTINGS) as broker:
            yield broker.bootstrap_servers


def new_group(client: WireClient) -> str:
    """The name of a new group whose coordinator is ready."""
    name = f"consumers-{os.getpid()}-{next(_numbers)}"
    find = FindCoordinatorRequest(key_type=0, coordinator_keys=[name])
    wait_for(lambda: client.send(find).coordinators[0].error_code == 0, what="the coordinator")
    leave = ConsumerGroupHeartbeatRequest(group_id=name, member_id="nobody", member_epoch=-1)
    wait_for(
        lambda: client.send(leave).error_code == ErrorCode.GROUP_ID_NOT_FOUND, what="the coordinator to load"
    )
    return name


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
