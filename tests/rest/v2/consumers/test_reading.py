"""Records through a consumer instance: how many, how long, in which format, to whom."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from penstock.client import KafkaProducer
from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy, running
from tests.rest.v2.consumers.conftest import QUICK
from tests.rest.v2.consumers.instance import V2, Instance, ask, media_type, produce, unique
from tests.support.processes import wait_for


def test_subscribed_records_come_in_confluents_shape(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
        for key, value in ((b"k", b"\x00\xff"), (None, b"v"), (b"gone", None)):
            producer.send(topic, value, key=key, partition=1).result(30)
    instance = Instance(proxy, group)
    instance.subscribe(topic)
    assert instance.get("subscription").json == {"topics": [topic]}
    said = instance.records()
    assert said.headers["content-type"] == media_type("binary")
    assert said.json == [
        {"topic": topic, "key": "aw==", "value": "AP8=", "partition": 1, "offset": 0},
        {"topic": topic, "key": None, "value": "dg==", "partition": 1, "offset": 1},
        {"topic": topic, "key": "Z29uZQ==", "value": None, "partition": 1, "offset": 2},
    ]
    assert list(said.json[0]) == ["topic", "key", "value", "partition", "offset"]
    assert instance.assignments() == [(topic, 0), (topic, 1)]


@pytest.mark.parametrize(
    ("made_as", "accept", "status", "content_type"),
    [
        ("json", media_type("json"), 200, media_type("json")),
        ("json", V2, 200, media_type("json")),
        ("json", "*/*", 200, media_type("json")),
        ("json", media_type("binary"), 406, None),
        ("json", media_type("avro"), 406, None),
        ("binary", media_type("json"), 406, None),
        ("avro", media_type("json"), 406, None),
        ("avro", media_type("protobuf"), 200, media_type("protobuf")),
        ("json", "text/html", 406, None),
    ],
)
def test_the_format_that_is_asked_for_must_be_the_instances(
    proxy: Proxy, group: str, topic: str, made_as: str, accept: str, status: int, content_type: str | None
) -> None:
    instance = Instance(proxy, group, made_as)
    instance.assign(topic, 0)
    said = instance.records("?timeout=1", accept=accept)
    assert said.status == status
    if content_type is not None:
        assert said.headers["content-type"] == content_type
    elif accept != "text/html":
        assert said.json == {
            "error_code": 40601,
            "message": "The requested embedded data format does not match the deserializer for this consumer "
            "instance",
        }


def test_json_is_read_and_what_is_none_is_told_where_it_is(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    produce(broker.bootstrap_servers, topic, '{"a": [1, null]}', '"\\ud800"', "{broken", '"after"')
    instance = Instance(proxy, group, "json")
    instance.assign(topic, 0)
    assert instance.read_values(2) == [{"a": [1, None]}, "\ud800"]
    for _ in range(2):
        said = instance.records()
        assert (said.status, said.json["error_code"]) == (408, 40801)
        assert said.json["message"].startswith(
            f"The value at offset 2 of {topic}-0 cannot be read: Expecting"
        )
    position = {"offsets": [{"topic": topic, "partition": 0, "offset": 3}]}
    assert instance.post("positions", position).status == 204
    assert instance.read_values(1) == ["after"]


def test_bytes_are_limited_but_one_record_always_comes(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    values = ["1" * 100, "2" * 100, "3" * 4000, "4"]
    produce(broker.bootstrap_servers, topic, *values)
    instance = Instance(proxy, group, "json")
    instance.assign(topic, 0)
    sizes = [[len(str(each["value"])) for each in instance.read("?max_bytes=200")] for _ in range(3)]
    assert sizes == [[100, 100], [4000], [1]]
    assert (
        instance.post("positions/beginning", {"partitions": [{"topic": topic, "partition": 0}]}).status == 204
    )
    assert [len(instance.read("?max_bytes=1")) for _ in range(4)] == [1, 1, 1, 1]


def test_the_proxy_limits_bytes_and_time_too(broker: InProcessBroker, group: str, topic: str) -> None:
    produce(broker.bootstrap_servers, topic, "1" * 100, "2" * 100)
    limits = {"consumer_request_max_bytes": "150", "consumer_request_timeout_ms": "300", "id": "x"}
    with running(broker.bootstrap_servers, **limits) as proxy:
        made = ask(proxy, "POST", f"/consumers/{group}", {"name": "i", "auto.offset.reset": "earliest"})
        assert made.status == 200
        path = f"/consumers/{group}/instances/i"
        ask(proxy, "POST", f"{path}/assignments", {"partitions": [{"topic": topic, "partition": 0}]})
        counts = [
            len(ask(proxy, "GET", f"{path}/records?max_bytes=99999999&timeout=99999999").json)
            for _ in range(3)
        ]
    assert counts == [1, 1, 0]


@pytest.mark.parametrize("query", ["timeout=soon", "max_bytes=1.5"])
def test_a_bad_limit_is_told_by_name(proxy: Proxy, group: str, topic: str, query: str) -> None:
    instance = Instance(proxy, group)
    instance.assign(topic, 0)
    said = instance.records(f"?{query}")
    assert (said.status, said.json["error_code"]) == (400, 400)
    assert said.json["message"].startswith(
        f"{query.partition('=')[0]}: got '{query.partition('=')[2]}', takes"
    )


def test_a_read_waits_for_as_many_bytes_as_the_instance_wants(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    instance = Instance(proxy, group, "json", fetch_min_bytes=10)
    instance.assign(topic, 0)
    with ThreadPoolExecutor() as pool:
        reading = pool.submit(instance.read)
        for number in range(5):
            produce(broker.bootstrap_servers, topic, f'"{number}{number}"')
        assert [each["value"] for each in reading.result(30)][:3] == ["00", "11", "22"]


def test_nothing_to_read_is_an_illegal_state(proxy: Proxy, group: str) -> None:
    said = Instance(proxy, group).records()
    assert (said.status, said.json) == (
        409,
        {
            "error_code": 40903,
            "message": "Illegal state: Consumer is not subscribed to any topics or assigned any partitions",
        },
    )


def test_latest_is_what_comes_after_the_subscription(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    produce(broker.bootstrap_servers, topic, '"before"')
    instance = Instance(proxy, group, "json", auto_offset_reset="latest")
    instance.subscribe(topic)
    assert instance.read("?timeout=1500") == []
    produce(broker.bootstrap_servers, topic, '"after"')
    assert instance.read_values(1) == ["after"]


def test_without_a_committed_offset_and_a_rule_there_is_an_error(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    instance = Instance(proxy, group, auto_offset_reset="none")
    instance.assign(topic, 0)
    said = instance.records()
    assert said.status == 400
    assert said.json["message"] == (
        f"auto.offset.reset is none, and there is no valid committed offset of {topic}-0"
    )


def test_reads_of_one_instance_take_turns(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    produce(broker.bootstrap_servers, topic, *range(200))
    instance = Instance(proxy, group, "json", consumer_request_timeout_ms=2000)
    instance.subscribe(topic)
    instance.wait_for_assignments(2)
    found: list[int] = []
    with ThreadPoolExecutor(8) as pool:
        while len(found) < 200:
            for records in pool.map(lambda _: instance.read("?max_bytes=20"), range(8)):
                found += [each["value"] for each in records]
    assert sorted(found) == list(range(200))


def test_a_second_read_ends_by_its_own_time(proxy: Proxy, group: str, topic: str) -> None:
    instance = Instance(proxy, group, consumer_request_timeout_ms=60_000)
    instance.assign(topic, 0)
    connection = proxy.connection()
    connection.request("GET", f"{instance.path}/records")
    wait_for(lambda: instance.read("?timeout=100") == [], what="the second to give up")
    assert instance.delete().status == 204
    response = connection.getresponse()
    assert (response.status, json.load(response)["error_code"]) == (404, 40403)
    connection.close()


def test_a_deleted_instance_ends_the_read_that_waits(proxy: Proxy, group: str, topic: str) -> None:
    instance = Instance(proxy, group, consumer_request_timeout_ms=60_000)
    instance.subscribe(topic)
    instance.wait_for_assignments(2)
    with ThreadPoolExecutor() as pool:
        reads = [pool.submit(instance.records) for _ in range(3)]
        assert instance.delete().status == 204
        said = [each.result(20) for each in reads]
    assert {(each.status, each.json["error_code"]) for each in said} == {(404, 40403)}


def test_a_client_that_hangs_up_takes_nothing_along(
    proxy: Proxy, broker: InProcessBroker, group: str, topic: str
) -> None:
    instance = Instance(proxy, group, "json", consumer_request_timeout_ms=60_000)
    instance.assign(topic, 0)
    connection = proxy.connection()
    connection.request("GET", f"{instance.path}/records")
    connection.sock.close()
    connection.close()
    produce(broker.bootstrap_servers, topic, 1, 2, 3)
    assert instance.read_values(3) == [1, 2, 3]


def test_only_committed_records_if_so_set(broker: InProcessBroker, group: str, topic: str) -> None:
    config = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": unique("v2")}
    with KafkaProducer(config) as producer:
        for value, end in ((b"1", "commit"), (b"2", "abort"), (b"3", "commit")):
            producer.begin_transaction()
            producer.send(topic, value, partition=0).result(30)
            getattr(producer, f"{end}_transaction")()
    with running(broker.bootstrap_servers, **QUICK, consumer_isolation_level="read_committed") as proxy:
        careful = Instance(proxy, group, "json")
        careful.assign(topic, 0)
        assert careful.read_values(2) == [1, 3]
        careful.commit()
        assert careful.committed(topic, 0) == {0: 6}  # behind the markers
    with running(broker.bootstrap_servers, **QUICK) as proxy:
        careless = Instance(proxy, unique("g"), "json")
        careless.assign(topic, 0)
        assert careless.read_values(3) == [1, 2, 3]
