from pathlib import Path
from typing import Any

import pytest

from penstock.errors import ErrorCode
from penstock.settings.describe import ConfigSource
from penstock.settings.kinds import Kind
from penstock.testing import InProcessBroker
from penstock.wire.messages.alter_configs import AlterableConfig as Replacement
from penstock.wire.messages.alter_configs import AlterConfigsRequest
from penstock.wire.messages.alter_configs import AlterConfigsResource as ReplacedResource
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from penstock.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.wire.messages.list_config_resources import ListConfigResourcesRequest
from tests.broker.committing import new_group
from tests.broker.platform import Platform
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

GROUP = 32
SET, DELETE, APPEND = range(3)

DEFAULTS = {
    "consumer.session.timeout.ms": "45000",
    "consumer.heartbeat.interval.ms": "5000",
    "consumer.assignment.interval.ms": "1000",
    "share.session.timeout.ms": "45000",
    "share.heartbeat.interval.ms": "5000",
    "share.record.lock.duration.ms": "30000",
    "share.delivery.count.limit": "5",
    "share.partition.max.record.locks": "2000",
    "share.auto.offset.reset": "latest",
    "share.isolation.level": "read_uncommitted",
    "share.renew.acknowledge.enable": "true",
    "share.assignment.interval.ms": "1000",
}


@pytest.fixture
def group(client: WireClient) -> str:
    return new_group(client)


def alter(
    client: WireClient,
    group: str,
    *changes: tuple[str, str | None],
    operation: int = SET,
    validate_only: bool = False,
) -> Any:
    configs = [AlterableConfig(name, operation, value) for name, value in changes]
    resource = AlterConfigsResource(GROUP, group, configs)
    request = IncrementalAlterConfigsRequest(resources=[resource], validate_only=validate_only)
    (answer,) = client.send(request).responses
    return answer


def describe(client: WireClient, group: str, *keys: str) -> dict[str, Any]:
    resource = DescribeConfigsResource(GROUP, group, list(keys) or None)
    request = DescribeConfigsRequest([resource], include_synonyms=True, include_documentation=True)
    (result,) = client.send(request).results
    assert result.error_code == 0, result
    return {entry.name: entry for entry in result.configs}


def values(client: WireClient, group: str) -> dict[str, str]:
    found = describe(client, group)
    return {name: found[name].value for name in DEFAULTS}


def synonyms(entry: Any) -> list[tuple[str, str, int]]:
    return [(one.name, one.value, one.source) for one in entry.synonyms]


def listed(client: WireClient) -> list[str]:
    answer = client.send(ListConfigResourcesRequest([GROUP]))
    assert all(one.resource_type == GROUP for one in answer.config_resources)
    return [one.resource_name for one in answer.config_resources]


def test_every_group_has_the_brokers_settings(client: WireClient, group: str) -> None:
    assert values(client, group) == DEFAULTS
    found = describe(client, group)
    session = found["consumer.session.timeout.ms"]
    assert (session.config_source, session.config_type) == (ConfigSource.DEFAULT_CONFIG, Kind.INT)
    assert not session.read_only
    assert not session.is_sensitive
    assert session.documentation
    assert synonyms(session) == [("group.consumer.session.timeout.ms", "45000", ConfigSource.DEFAULT_CONFIG)]
    reset = found["share.auto.offset.reset"]
    assert synonyms(reset) == [("share.auto.offset.reset", "latest", ConfigSource.DEFAULT_CONFIG)]
    assert found["share.renew.acknowledge.enable"].config_type == Kind.BOOLEAN
    assert list(describe(client, group, "share.isolation.level")) == ["share.isolation.level"]
    assert group not in listed(client)


def test_a_group_sets_its_own(client: WireClient, group: str) -> None:
    changes = {
        "consumer.session.timeout.ms": "50000",
        "share.auto.offset.reset": "by_duration:P1DT2H",
        "share.isolation.level": "read_committed",
        "share.renew.acknowledge.enable": "false",
    }
    assert alter(client, group, *changes.items()).error_code == 0
    wait_for(lambda: values(client, group) == {**DEFAULTS, **changes}, what="the new configs")
    session = describe(client, group)["consumer.session.timeout.ms"]
    assert session.config_source == ConfigSource.GROUP_CONFIG
    assert synonyms(session) == [
        ("consumer.session.timeout.ms", "50000", ConfigSource.GROUP_CONFIG),
        ("group.consumer.session.timeout.ms", "45000", ConfigSource.DEFAULT_CONFIG),
    ]
    wait_for(lambda: group in listed(client), what="the group to be listed")
    for name in changes:
        assert alter(client, group, (name, None), operation=DELETE).error_code == 0
    wait_for(lambda: values(client, group) == DEFAULTS, what="the defaults to be back")
    wait_for(lambda: group not in listed(client), what="the group not to be listed")


def test_validation_changes_nothing(client: WireClient, group: str) -> None:
    answer = alter(client, group, ("share.delivery.count.limit", "7"), validate_only=True)
    assert answer.error_code == 0
    assert values(client, group) == DEFAULTS


def test_the_older_request_replaces_all(client: WireClient, group: str) -> None:
    assert alter(client, group, ("share.delivery.count.limit", "7")).error_code == 0
    resource = ReplacedResource(GROUP, group, [Replacement("consumer.heartbeat.interval.ms", "6000")])
    (answer,) = client.send(AlterConfigsRequest([resource])).responses
    assert answer.error_code == 0, answer
    wait_for(
        lambda: values(client, group) == {**DEFAULTS, "consumer.heartbeat.interval.ms": "6000"},
        what="the configs to be replaced",
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("no.such.config", "1", "Unknown group config name: no.such.config"),
        (
            "consumer.session.timeout.ms",
            "44999",
            "consumer.session.timeout.ms must be greater than or equal to group.consumer.min.session.timeout.ms",
        ),
        (
            "consumer.heartbeat.interval.ms",
            "15001",
            "consumer.heartbeat.interval.ms must be less than or equal to group.consumer.max.heartbeat.interval.ms",
        ),
        (
            "consumer.assignment.interval.ms",
            "15001",
            "consumer.assignment.interval.ms must be less than or equal to "
            "group.consumer.max.assignment.interval.ms",
        ),
        (
            "share.session.timeout.ms",
            "60001",
            "share.session.timeout.ms must be less than or equal to group.share.max.session.timeout.ms",
        ),
        (
            "share.heartbeat.interval.ms",
            "4999",
            "share.heartbeat.interval.ms must be greater than or equal to group.share.min.heartbeat.interval.ms",
        ),
        (
            "share.record.lock.duration.ms",
            "60001",
            "share.record.lock.duration.ms must be less than or equal to "
            "group.share.max.record.lock.duration.ms",
        ),
        (
            "share.delivery.count.limit",
            "11",
            "share.delivery.count.limit must be less than or equal to group.share.max.delivery.count.limit",
        ),
        (
            "share.partition.max.record.locks",
            "4001",
            "share.partition.max.record.locks must be less than or equal to "
            "group.share.max.partition.max.record.locks",
        ),
    ],
)
def test_what_is_out_of_bounds(client: WireClient, group: str, name: str, value: str, message: str) -> None:
    answer = alter(client, group, (name, value))
    assert (answer.error_code, answer.error_message) == (ErrorCode.INVALID_CONFIG, message)
    assert values(client, group) == DEFAULTS


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("consumer.session.timeout.ms", "soon"),
        ("consumer.session.timeout.ms", ""),
        ("share.auto.offset.reset", "none"),
        ("share.auto.offset.reset", "by_duration:"),
        ("share.auto.offset.reset", "by_duration:-PT1S"),
        ("share.auto.offset.reset", "by_duration:PT"),
        ("share.auto.offset.reset", "LATEST"),
        ("share.isolation.level", "serializable"),
        ("share.renew.acknowledge.enable", "perhaps"),
    ],
)
def test_values_that_are_none(client: WireClient, group: str, name: str, value: str) -> None:
    assert alter(client, group, (name, value)).error_code == ErrorCode.INVALID_CONFIG
    assert values(client, group) == DEFAULTS


@pytest.mark.parametrize("reset", ["earliest", "by_duration:PT0S", "by_duration:pt1.5s"])
def test_where_a_share_group_may_begin(client: WireClient, group: str, reset: str) -> None:
    assert alter(client, group, ("share.auto.offset.reset", reset)).error_code == 0


def test_refusals_of_the_request_itself(client: WireClient, group: str) -> None:
    answer = alter(client, group, ("share.isolation.level", "x"), operation=APPEND)
    assert answer.error_code == ErrorCode.INVALID_CONFIG
    answer = alter(client, group, ("share.isolation.level", None))
    assert answer.error_code == ErrorCode.INVALID_REQUEST
    answer = alter(client, "", ("share.delivery.count.limit", "7"))
    assert (answer.error_code, answer.error_message) == (
        ErrorCode.INVALID_REQUEST,
        "Default group resources are not allowed.",
    )
    request = DescribeConfigsRequest([DescribeConfigsResource(GROUP, "", None)])
    (result,) = client.send(request).results
    assert (result.error_code, result.error_message) == (
        ErrorCode.INVALID_REQUEST,
        "Group name must not be empty",
    )


ODD_NAMES = ("a/b", "..", "group of \N{SNOWMAN} people", "%2E")


@pytest.mark.processes
def test_group_configs_are_remembered(tmp_path: Path) -> None:
    with Platform(tmp_path, {"group.share.delivery.count.limit": "4"}) as platform:
        with WireClient(platform.bootstrap) as client:
            for number, name in enumerate(ODD_NAMES, 6):
                assert alter(client, name, ("share.delivery.count.limit", str(number))).error_code == 0
        platform.restart_broker(kill=True)
        with WireClient(platform.bootstrap) as client:
            assert listed(client) == sorted(ODD_NAMES)
            for number, name in enumerate(ODD_NAMES, 6):
                limit = describe(client, name)["share.delivery.count.limit"]
                assert synonyms(limit) == [
                    ("share.delivery.count.limit", str(number), ConfigSource.GROUP_CONFIG),
                    ("group.share.delivery.count.limit", "4", ConfigSource.STATIC_BROKER_CONFIG),
                    ("group.share.delivery.count.limit", "5", ConfigSource.DEFAULT_CONFIG),
                ]


def test_machines_see_a_change_at_once(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        group = new_group(client)
        assert alter(client, group, ("consumer.session.timeout.ms", "50000")).error_code == 0
    assert broker.broker.configs.groups.of(group).consumer_session_timeout_ms == 50_000
    assert broker.broker.configs.groups.of("another").consumer_session_timeout_ms == 45_000
