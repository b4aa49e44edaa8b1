"""Several registries on one Kafka: one leads, the others forward, and another takes over."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from penstock.wire.messages.describe_groups import DescribeGroupsRequest, DescribeGroupsResponse
from penstock.wire_client import ClusterConfig, blocking_cluster, now
from tests.registry.api.schemas import USER, enum
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for
from tests.support.registry import Registry, own_group

pytestmark = pytest.mark.processes

PATIENCE_SECONDS = 60.0
Start = Callable[..., Registry]


@pytest.fixture
def start(registry_kafka: KafkaServer, tmp_path: Path) -> Iterator[Start]:
    """Starts registries of one group."""
    common = own_group()
    with ExitStack() as running:

        def start_one(**settings: str) -> Registry:
            named = {name.replace("_", "."): value for name, value in settings.items()}
            registry = Registry(registry_kafka.bootstrap, tmp_path, {**common, **named})
            running.callback(registry.process.stop)
            registry.wait_until_ready()
            return registry

        yield start_one


def group_of(kafka: KafkaServer, registry: Registry) -> DescribeGroupsResponse:
    name = registry.settings["schema.registry.group.id"]
    with blocking_cluster(ClusterConfig.from_configs({"bootstrap.servers": kafka.bootstrap})) as cluster:
        request = DescribeGroupsRequest([name])
        return now(cluster.ask_coordinator(name, request, DescribeGroupsResponse, error_of=lambda said: 0))


def leader_url(kafka: KafkaServer, registry: Registry, members: int) -> str:
    """What the assignment of a stable group of so many members says."""

    def ask() -> str:
        group = group_of(kafka, registry).groups[0]
        if group.group_state != "Stable" or len(group.members) != members:
            return ""
        said = {bytes(member.member_assignment) for member in group.members}
        assert len(said) == 1, "all members have the same assignment"
        leader = json.loads(said.pop()).get("master_identity")
        return f"http://{leader['host']}:{leader['port']}" if leader else "nobody"

    return wait_for(ask, PATIENCE_SECONDS, f"a stable group of {members}", interval=0.1)


def test_registries_meet_in_confluents_group(registry_kafka: KafkaServer, start: Start) -> None:
    registry = start()
    leader_url(registry_kafka, registry, 1)
    group = group_of(registry_kafka, registry).groups[0]
    assert (group.protocol_type, group.protocol_data) == ("sr", "v0")
    identity = json.loads(bytes(group.members[0].member_metadata))
    assert (identity["host"], identity["port"], identity["master_eligibility"]) == (
        "127.0.0.1",
        registry.port,
        True,
    )


def test_a_follower_forwards_writes_and_reads_them_back(registry_kafka: KafkaServer, start: Start) -> None:
    one, two = start(), start()
    leader = leader_url(registry_kafka, one, 2)
    assert leader == min(one.url, two.url)
    follower = one if two.url == leader else two
    other = two if follower is one else one
    schema_id = follower.register("users-value", USER)
    assert other.get("/subjects/users-value/versions/1").body["id"] == schema_id
    wait_for(lambda: follower.get("/subjects/users-value/versions/1").status == 200, PATIENCE_SECONDS)
    assert follower.put("/config/users-value", {"compatibility": "NONE"}).body == {"compatibility": "NONE"}
    refused = follower.put("/config/users-value", {"compatibility": "SIDEWARD"})
    assert (refused.status, refused.body["error_code"]) == (422, 42203)
    assert follower.post("/contexts/.side/subjects/users-value/versions", {"schema": USER}).status == 200
    assert follower.delete("/subjects/users-value").body == [1]


def test_another_takes_over_from_a_leader_that_stops(registry_kafka: KafkaServer, start: Start) -> None:
    one, two = start(), start()
    leader = leader_url(registry_kafka, one, 2)
    first, second = (one, two) if one.url == leader else (two, one)
    before = first.register("a", enum("A"))
    assert first.process.stop() == 0
    assert leader_url(registry_kafka, second, 1) == second.url
    assert second.register("a", enum("A")) == before
    assert second.register("b", enum("B")) == before + 1


def test_one_that_may_not_lead_leaves_it_to_others(registry_kafka: KafkaServer, start: Start) -> None:
    follower = start(
        leader_eligibility="false", kafkastore_timeout_ms="300", kafkastore_init_timeout_ms="3000"
    )
    assert leader_url(registry_kafka, follower, 1) == "nobody"
    refused = follower.post("/subjects/a/versions", {"schema": USER})
    assert (refused.status, refused.body["error_code"]) == (500, 50004)
    leader = start()
    assert leader_url(registry_kafka, follower, 2) == leader.url
    assert follower.register("a", USER) == 1


def test_a_leader_that_cannot_be_reached_is_named(registry_kafka: KafkaServer, start: Start) -> None:
    nowhere = start(host_name="127.0.0.1", host_port="1")
    follower = start(leader_eligibility="false")
    assert leader_url(registry_kafka, nowhere, 2) == "http://127.0.0.1:1"
    said = follower.post("/subjects/a/versions", {"schema": USER})
    assert (said.status, said.body["error_code"]) == (500, 50003)
    assert "http://127.0.0.1:1" in said.body["message"]


def test_two_registries_with_one_address_are_told_so(start: Start) -> None:
    start(host_port="8081")
    second = start(host_port="8081")
    wait_for(lambda: "have one address; set host.name" in second.process.log_text(), PATIENCE_SECONDS)


def test_a_sticky_leader_stays(registry_kafka: KafkaServer, start: Start) -> None:
    first = start(leader_election_sticky="true", host_name="localhost")
    assert leader_url(registry_kafka, first, 1) == f"http://localhost:{first.port}"
    smaller = start(leader_election_sticky="true")
    assert leader_url(registry_kafka, smaller, 2) == f"http://localhost:{first.port}"
