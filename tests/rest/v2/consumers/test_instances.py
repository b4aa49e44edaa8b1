"""Consumer instances come and go: made, named, refused, deleted, and closed when nobody uses them."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from penstock.client import KafkaAdmin, KafkaError
from penstock.errors import ErrorCode
from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy, running
from tests.rest.v2.consumers.conftest import QUICK
from tests.rest.v2.consumers.instance import V2, Instance, ask, produce, unique
from tests.support.processes import wait_for


def members_of(broker: InProcessBroker, group: str) -> list[str]:
    """The client ids of the members of a group, which is there once the first has joined."""
    with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
        try:
            found = admin.describe_consumer_groups([group])[group]
        except KafkaError as error:
            if error.code != ErrorCode.GROUP_ID_NOT_FOUND:
                raise
            return []
    return sorted(member.client_id for member in found.members)


def test_an_instance_is_made_with_the_name_that_it_is_given(proxy: Proxy, group: str) -> None:
    made = ask(proxy, "POST", f"/consumers/{group}", {"name": "a b/ü", "format": "json"})
    base = f"http://127.0.0.1:{proxy.port}/consumers/{group}/instances/a%20b%2F%C3%BC"
    assert (made.status, made.json) == (200, {"instance_id": "a b/ü", "base_uri": base})
    assert made.headers["content-type"] == V2
    again = ask(proxy, "POST", f"/consumers/{group}", {"name": "a b/ü"})
    assert (again.status, again.json) == (
        409,
        {
            "error_code": 40902,
            "message": "Consumer with specified consumer ID already exists in the specified consumer group.",
        },
    )
    assert ask(proxy, "POST", f"/consumers/{unique('other')}", {"name": "a b/ü"}).status == 200
    path = base.removeprefix(f"http://127.0.0.1:{proxy.port}")
    gone = ask(proxy, "DELETE", path)
    assert (gone.status, gone.text) == (204, b"")
    missing = ask(proxy, "DELETE", path)
    assert (missing.status, missing.json) == (
        404,
        {"error_code": 40403, "message": "Consumer instance not found."},
    )
    assert ask(proxy, "POST", f"/consumers/{group}", {"id": "a b/ü"}).status == 200


def test_an_instance_without_a_name_gets_one(proxy: Proxy, broker: InProcessBroker, group: str) -> None:
    for body in (None, {}, b" "):
        name = ask(proxy, "POST", f"/consumers/{group}", body).json["instance_id"]
        assert uuid.UUID(name.removeprefix("rest-consumer-")).version == 4
    with running(broker.bootstrap_servers, id="west", host_name="proxy.example") as named:
        made = ask(named, "POST", f"/consumers/{group}", {}).json
    assert made["instance_id"].startswith("rest-consumer-west-")
    assert made["base_uri"].startswith(f"http://proxy.example:{named.port}/consumers/{group}/instances/rest-")


@pytest.mark.parametrize(
    ("body", "status", "code", "message"),
    [
        (
            {"format": "xml"},
            422,
            422,
            "Invalid format type. format: got 'xml', takes one of binary, json, avro",
        ),
        ({"format": 7}, 400, 400, "format: got 7, takes a string"),
        ({"name": ""}, 400, 400, "name: got '', takes a name"),
        ({"name": ".."}, 400, 400, "name: got '..', takes a name"),
        (
            {"auto.offset.reset": "middle"},
            422,
            42204,
            "Invalid consumer configuration: auto.offset.reset: got 'middle'; takes one of earliest, latest",
        ),
        (
            {"auto.commit.enable": "perhaps"},
            422,
            42204,
            "Invalid consumer configuration: auto.commit.enable: got 'perhaps'; takes true or false",
        ),
        (
            {"consumer.request.timeout.ms": "soon"},
            422,
            42204,
            "Invalid consumer configuration: consumer.request.timeout.ms: got 'soon', takes an integer",
        ),
        (
            {"consumer.request.timeout.ms": -1},
            422,
            42204,
            "Invalid consumer configuration: consumer.request.t",
        ),
        ({"fetch.min.bytes": True}, 422, 42204, "Invalid consumer configuration: fetch.min.bytes: got true"),
        (
            {"fetch.min.bytes": 10_000_001},
            422,
            40001,
            "Invalid consumer configuration. It does not abide by the constraints: fetch.min.bytes: got 10000001",
        ),
        (b"{", 400, 400, "Request body is not JSON"),
        ([], 422, 422, "Request body: got an array, takes a JSON object"),
    ],
)
def test_a_bad_config_is_told_which_field_is_wrong(
    proxy: Proxy, group: str, body: Any, status: int, code: int, message: str
) -> None:
    said = ask(proxy, "POST", f"/consumers/{group}", body)
    assert (said.status, said.json["error_code"]) == (status, code)
    assert said.json["message"].startswith(message)


def test_numbers_and_flags_may_come_in_strings(proxy: Proxy, group: str) -> None:
    Instance(proxy, group, "BINARY", auto_commit_enable="false", fetch_min_bytes="5")
    Instance(proxy, group, auto_commit_enable=False, consumer_request_timeout_ms="100")


@pytest.mark.parametrize("path", ["", "/subscription", "/assignments", "/offsets", "/records", "/positions"])
def test_an_instance_that_is_not_there_is_not_found(proxy: Proxy, path: str) -> None:
    method = {"": "DELETE", "/positions": "POST"}.get(path, "GET")
    said = ask(proxy, method, f"/consumers/nobody/instances/nothing{path}", {})
    assert (said.status, said.json["error_code"]) == (404, 40403)


def test_there_are_only_so_many(broker: InProcessBroker, group: str) -> None:
    with running(broker.bootstrap_servers, consumer_instances_max="2") as proxy:
        first, _ = Instance(proxy, group), Instance(proxy, group)
        refused = ask(proxy, "POST", f"/consumers/{group}", {})
        assert (refused.status, refused.json["error_code"]) == (429, 429)
        assert "consumer.instances.max" in refused.json["message"]
        first.delete()
        Instance(proxy, group)


def test_an_instance_that_nobody_uses_is_closed_and_leaves_its_group(
    broker: InProcessBroker, group: str, topic: str
) -> None:
    with running(broker.bootstrap_servers, **QUICK, consumer_instance_timeout_ms="3000") as proxy:
        used, unused = Instance(proxy, group, name="used"), Instance(proxy, group, name="unused")
        for each in (used, unused):
            each.subscribe(topic)

        def members_while_using(*instances: Instance) -> list[str]:
            for each in instances:
                assert each.get("subscription").status == 200
            return members_of(broker, group)

        wait_for(lambda: members_while_using(used, unused) == ["unused", "used"], what="both to be members")
        wait_for(lambda: members_while_using(used) == ["used"], what="the other to be closed")
        assert unused.get("subscription").status == 404
        assert used.wait_for_assignments(2) == [(topic, 0), (topic, 1)]


def test_an_instance_in_use_is_not_idle(broker: InProcessBroker, group: str, topic: str) -> None:
    with running(broker.bootstrap_servers, **QUICK, consumer_instance_timeout_ms="2000") as proxy:
        instance = Instance(proxy, group, consumer_request_timeout_ms=4000)
        instance.subscribe(topic)
        assert instance.read() == []
        assert instance.get("subscription").json == {"topics": [topic]}


def test_the_end_of_the_proxy_is_the_end_of_its_instances(
    broker: InProcessBroker, group: str, topic: str
) -> None:
    produce(broker.bootstrap_servers, topic, 1, 2)
    with running(broker.bootstrap_servers, **QUICK) as proxy:
        for _ in range(5):
            Instance(proxy, group).subscribe(topic)
        wait_for(lambda: len(members_of(broker, group)) == 5, what="all to be members")
    assert members_of(broker, group) == []
