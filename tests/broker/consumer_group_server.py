"""A server for consumer groups with short timeouts, and what its tests begin with."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.testing import InProcessBroker
from tests.broker.asking import unique_topic
from tests.broker.committing import new_group
from tests.broker.consumer_members import NewConsumer, consumers_of
from tests.support.cluster_fixture import PEER, running_apache
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


@pytest.fixture(scope="module")
def bootstrap(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    if PEER == "apache":
        with running_apache(tmp_path_factory.mktemp("kafka"), SETTINGS) as apache:
            yield apache.bootstrap
    else:
        with InProcessBroker(SETTINGS) as broker:
            yield broker.bootstrap_servers


@pytest.fixture
def client(bootstrap: str) -> Iterator[WireClient]:
    with WireClient(bootstrap) as connected:
        yield connected


@pytest.fixture
def group(client: WireClient) -> str:
    return new_group(client)


@pytest.fixture
def topic(client: WireClient) -> str:
    return unique_topic(client, 4)


@pytest.fixture
def consumer(client: WireClient, group: str, topic: str) -> NewConsumer:
    return consumers_of(client, group, topic)
