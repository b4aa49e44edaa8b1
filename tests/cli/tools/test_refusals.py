"""What the tools say when the broker refuses: no permission, a policy, a quota. The broker is made to answer so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.testing import InProcessBroker
from tests.cli.tools.both_tools import BothTools
from tests.cli.tools.masks import mask
from tests.support.cluster_fixture import KafkaServer

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as running:
        running.create_topic("orders")
        yield running


@pytest.fixture
def refused(broker: InProcessBroker, request: pytest.FixtureRequest) -> Iterator[BothTools]:
    server = KafkaServer(broker.bootstrap_servers, Path("."), 0, False, ())
    yield BothTools(server, request.node.name)
    broker.interceptor.clear()


TOPIC = ("--topic", "orders")
# The reset of an application says it in words of its own here, or in another place.
WHY = mask(
    r"(TopicAuthorization|CommitFailed)Exception: .*|FindCoordinator request .*|Group auth.*", r"\1 <why>"
)
NOT_DELETED = mask(r"(?<=deleting topic shop-counts-changelog): .*", "")


@pytest.mark.parametrize(
    ("api", "error", "words"),
    [
        ("CreateTopics", "CLUSTER_AUTHORIZATION_FAILED", ("--create", "--topic", "new")),
        ("CreateTopics", "POLICY_VIOLATION", ("--create", "--topic", "new")),
        ("CreateTopics", "THROTTLING_QUOTA_EXCEEDED", ("--create", "--topic", "new")),
        ("CreatePartitions", "TOPIC_AUTHORIZATION_FAILED", ("--alter", *TOPIC, "--partitions", "9")),
        ("DeleteTopics", "TOPIC_AUTHORIZATION_FAILED", ("--delete", *TOPIC)),
        ("DeleteTopics", "TOPIC_DELETION_DISABLED", ("--delete", *TOPIC)),
        ("DescribeTopicPartitions", "TOPIC_AUTHORIZATION_FAILED", ("--describe", *TOPIC)),
        ("DescribeConfigs", "TOPIC_AUTHORIZATION_FAILED", ("--describe", *TOPIC)),
        ("ListPartitionReassignments", "CLUSTER_AUTHORIZATION_FAILED", ("--describe", *TOPIC)),
    ],
)
def test_topics(
    refused: BothTools, broker: InProcessBroker, api: str, error: str, words: tuple[str, ...]
) -> None:
    rule = broker.interceptor.answer(api, error)
    refused("kafka-topics", "--bootstrap-server", refused.bootstrap, *words)
    rule.assert_matched()


@pytest.mark.parametrize(
    ("api", "error", "words"),
    [
        ("DescribeConfigs", "TOPIC_AUTHORIZATION_FAILED", ("--describe", *TOPIC)),
        (
            "IncrementalAlterConfigs",
            "CLUSTER_AUTHORIZATION_FAILED",
            ("--alter", *TOPIC, "--add-config", "a=b"),
        ),
        (
            "IncrementalAlterConfigs",
            "POLICY_VIOLATION",
            ("--alter", *TOPIC, "--delete-config", "retention.ms"),
        ),
        ("ListConfigResources", "CLUSTER_AUTHORIZATION_FAILED", ("--describe", "--entity-type", "groups")),
        ("ListConfigResources", "CLUSTER_AUTHORIZATION_FAILED", ("--describe", "--group", "nobody")),
        (
            "ListConfigResources",
            "CLUSTER_AUTHORIZATION_FAILED",
            ("--describe", "--entity-type", "client-metrics"),
        ),
    ],
)
def test_configs(
    refused: BothTools, broker: InProcessBroker, api: str, error: str, words: tuple[str, ...]
) -> None:
    rule = broker.interceptor.answer(api, error)
    refused("kafka-configs", "--bootstrap-server", refused.bootstrap, *words, stderr="first line")
    rule.assert_matched()


@pytest.mark.parametrize(
    ("api", "words"),
    [
        ("DescribeAcls", ("--list",)),
        ("DescribeAcls", ("--add", *TOPIC, "--allow-principal", "User:ann")),
        ("DeleteAcls", ("--remove", *TOPIC, "--force")),
    ],
)
def test_acls(refused: BothTools, broker: InProcessBroker, api: str, words: tuple[str, ...]) -> None:
    rule = broker.interceptor.answer(api, "CLUSTER_AUTHORIZATION_FAILED", message="not for you")
    refused("kafka-acls", "--bootstrap-server", refused.bootstrap, *words)
    rule.assert_matched()


@pytest.mark.parametrize(
    ("api", "error"),
    [
        ("FindCoordinator", "GROUP_AUTHORIZATION_FAILED"),
        ("DescribeGroups", "GROUP_AUTHORIZATION_FAILED"),
        ("ListOffsets", "TOPIC_AUTHORIZATION_FAILED"),
        ("OffsetFetch", "GROUP_AUTHORIZATION_FAILED"),
        ("OffsetCommit", "GROUP_AUTHORIZATION_FAILED"),
        ("OffsetCommit", "TOPIC_AUTHORIZATION_FAILED"),
        ("OffsetCommit", "UNKNOWN_MEMBER_ID"),
        ("DeleteTopics", "TOPIC_AUTHORIZATION_FAILED"),
    ],
)
def test_application_reset(refused: BothTools, broker: InProcessBroker, api: str, error: str) -> None:
    if "shop-counts-changelog" not in broker.broker.image.topics:
        broker.create_topic("shop-counts-changelog")
    rule = broker.interceptor.answer(api, error)
    words = ("--application-id", "shop", "--input-topics", "orders", "--shift-by", "0")
    server = ("--bootstrap-server", refused.bootstrap)
    done = refused(
        "kafka-streams-application-reset", *server, *words, stderr="first line", masks=[WHY, NOT_DELETED]
    )
    assert done.returncode == 1
    rule.assert_matched()
