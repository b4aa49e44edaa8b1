"""Settings that change while three brokers run: they reach those that they are for, whoever is asked."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from penstock.errors import ErrorCode
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from penstock.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.broker.asking import batch_of, produce, produced
from tests.broker.conftest import only_penstock
from tests.support.penstock_cluster import PenstockCluster
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = [only_penstock, pytest.mark.processes]

TOPIC, BROKER = 2, 4
SET, DELETE = 0, 1
DYNAMIC_BROKER, DYNAMIC_DEFAULT, STATIC, DEFAULT = 2, 3, 4, 5
EVERY_BROKER = ""
SIZE = "message.max.bytes"


def alter(
    cluster: PenstockCluster, asked: int, kind: int, name: str, configs: dict[str, str | None]
) -> ErrorCode:
    """None for a value deletes it."""
    changes = [
        AlterableConfig(key, DELETE if value is None else SET, value) for key, value in configs.items()
    ]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, changes)])
    (answer,) = cluster.ask(asked, request).responses
    return ErrorCode(answer.error_code)


def described(cluster: PenstockCluster, asked: int, kind: int, name: str) -> Any:
    request = DescribeConfigsRequest([DescribeConfigsResource(kind, name, None)])
    (answer,) = cluster.ask(asked, request).results
    return answer


def values(cluster: PenstockCluster, asked: int, kind: int, name: str, key: str) -> tuple[str, int]:
    (found,) = [each for each in described(cluster, asked, kind, name).configs if each.name == key]
    return found.value, found.config_source


def in_force(cluster: PenstockCluster, key: str) -> list[tuple[str, int]]:
    return [values(cluster, number, BROKER, str(number), key) for number in cluster.ports]


def test_defaults_reach_all_and_a_brokers_own_only_it(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    cluster.create("sized", [[1], [2], [3]])
    (default,) = set(in_force(cluster, SIZE))
    assert alter(cluster, 2, BROKER, EVERY_BROKER, {SIZE: "2000"}) == ErrorCode.NONE
    wait_for(lambda: set(in_force(cluster, SIZE)) == {("2000", DYNAMIC_DEFAULT)}, what="all to know")
    for index, number in enumerate(cluster.ports):
        with WireClient(cluster.address(number)) as client:
            refused = produce(client, "sized", batch_of(b"x" * 5000), index)
            assert refused.error_code == ErrorCode.MESSAGE_TOO_LARGE, "who leads has it"
    assert alter(cluster, 3, BROKER, "3", {SIZE: "9000"}) == ErrorCode.NONE
    expected = [("2000", DYNAMIC_DEFAULT)] * 2 + [("9000", DYNAMIC_BROKER)]
    wait_for(lambda: in_force(cluster, SIZE) == expected, what="broker 3 to have its own")
    with WireClient(cluster.address(3)) as client:
        produced(client, "sized", batch_of(b"x" * 5000), 2)
    assert alter(cluster, 3, BROKER, "3", {SIZE: None}) == ErrorCode.NONE
    assert alter(cluster, 1, BROKER, EVERY_BROKER, {SIZE: None}) == ErrorCode.NONE
    wait_for(lambda: set(in_force(cluster, SIZE)) == {default}, what="all to forget")


def test_a_broker_answers_for_itself_only(penstock_cluster: PenstockCluster) -> None:
    """Clients ask the broker that it is about."""
    assert alter(penstock_cluster, 1, BROKER, "2", {SIZE: "2000"}) == ErrorCode.INVALID_REQUEST
    refused = described(penstock_cluster, 1, BROKER, "2")
    assert refused.error_code == ErrorCode.INVALID_REQUEST
    assert refused.error_message == "Unexpected broker id, expected 1 or empty string, but received 2"


def test_changes_at_several_brokers_at_once_are_all_kept(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    cluster.create("changed", [[1, 2, 3]])
    configs = {
        "retention.ms": "100000",
        "retention.bytes": "100000",
        "segment.ms": "100000",
        "segment.bytes": "2000000",
        "max.message.bytes": "100000",
        "flush.ms": "100000",
        "file.delete.delay.ms": "100000",
        "index.interval.bytes": "100000",
        "delete.retention.ms": "100000",
    }

    def change(number: int, key: str) -> ErrorCode:
        return alter(cluster, number % 3 + 1, TOPIC, "changed", {key: configs[key]})

    with ThreadPoolExecutor(len(configs)) as pool:
        assert set(pool.map(change, range(len(configs)), configs)) == {ErrorCode.NONE}
    one_after_the_other = {"min.compaction.lag.ms": "5", "max.compaction.lag.ms": "7", "preallocate": "true"}
    for number, (key, value) in enumerate(one_after_the_other.items(), 1):
        assert alter(cluster, number, TOPIC, "changed", {key: value}) == ErrorCode.NONE
    configs |= one_after_the_other

    def known_at(number: int) -> dict[str, str]:
        found = described(cluster, number, TOPIC, "changed").configs
        return {each.name: each.value for each in found if each.name in configs}

    for number in cluster.ports:
        wait_for(lambda: known_at(number) == configs, what=lambda: str(known_at(number)))  # noqa: B023
