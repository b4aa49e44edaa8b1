"""`POST /topics/{topic}` in binary and json, as Confluent's documentation asks for it, read back with a consumer."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Answer, Proxy, running
from tests.rest.v3.test_produce import records_of
from tests.support.cluster_fixture import only_one_broker
from tests.support.processes import free_port

V2 = "application/vnd.kafka.v2+json"
BINARY, JSON, AVRO = (f"application/vnd.kafka.{name}.v2+json" for name in ("binary", "json", "avro"))


def post(proxy: Proxy, path: str, body: Any, content_type: str = JSON, accept: str = V2) -> Answer:
    return proxy.ask("POST", path, body, {"Content-Type": content_type, "Accept": accept})


def base64_of(data: bytes) -> str:
    return base64.b64encode(data).decode()


def offsets(*places: tuple[int, int]) -> dict[str, Any]:
    return {
        "offsets": [
            {"partition": partition, "offset": offset, "error_code": None, "error": None}
            for partition, offset in places
        ],
        "key_schema_id": None,
        "value_schema_id": None,
    }


def test_json_records(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("jsontest", 1)
    body = {
        "records": [
            {"value": {"foo": "bar"}},
            {"key": "k", "value": [1, "ż", None, 0.5]},
            {"key": {"id": 7}, "value": None},
            {"value": False},
            {},
        ]
    }
    answer = post(proxy, "/topics/jsontest", body)
    assert (answer.status, answer.headers["content-type"]) == (200, V2)
    assert answer.json == offsets((0, 0), (0, 1), (0, 2), (0, 3), (0, 4))
    assert [(each.key, each.value) for each in records_of(broker, "jsontest", 5)] == [
        (None, b'{"foo":"bar"}'),
        (b'"k"', '[1,"ż",null,0.5]'.encode()),
        (b'{"id":7}', None),
        (None, b"false"),
        (None, None),
    ]


@pytest.mark.parametrize("content_type", [BINARY, BINARY + "; charset=utf-8", "application/octet-stream", ""])
def test_binary_records(proxy: Proxy, broker: InProcessBroker, content_type: str) -> None:
    topic = f"binarytest{len(content_type)}"
    broker.create_topic(topic, 1)
    body = {"records": [{"key": base64_of(b"\xff"), "value": base64_of(b"Kafka\x00")}]}
    assert post(proxy, f"/topics/{topic}", body, content_type).json == offsets((0, 0))
    [record] = records_of(broker, topic, 1)
    assert (record.key, record.value) == (b"\xff", b"Kafka\x00")


def test_partitions_of_records_and_of_the_path(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("placed", 3)
    body = {
        "records": [{"value": 1, "partition": 2}, {"value": 2, "partition": 1}, {"value": 3, "partition": 2}]
    }
    assert post(proxy, "/topics/placed", body).json == offsets((2, 0), (1, 0), (2, 1))
    answer = post(
        proxy, "/topics/placed/partitions/1", {"records": [{"value": 4}, {"value": 5, "partition": 0}]}
    )
    assert answer.json == offsets((1, 1), (0, 0))
    assert [each.value for each in records_of(broker, "placed", 2, 1)] == [b"2", b"4"]


def test_keys_decide_as_in_every_other_client(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("keyed", 8)
    body = {"records": [{"key": base64_of(b"key-%d" % (number % 5))} for number in range(50)]}
    answer = post(proxy, "/topics/keyed", body, BINARY).json
    places = [each["partition"] for each in answer["offsets"]]
    assert places == places[:5] * 10
    assert len(set(places)) > 1


def test_many_records_stay_in_order(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("ordered", 1)
    answer = post(proxy, "/topics/ordered", {"records": [{"value": number} for number in range(2000)]}).json
    assert [each["offset"] for each in answer["offsets"]] == list(range(2000))
    assert [int(each.value) for each in records_of(broker, "ordered", 2000)] == list(range(2000))


def test_a_name_with_characters_that_a_path_has_to_escape(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("a.b-c_d", 1)
    assert post(proxy, "/topics/a%2Eb%2Dc_d", {"records": [{"value": 1}]}).json == offsets((0, 0))


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", V2),
        ("*/*", V2),
        (V2, V2),
        ("application/vnd.kafka+json", "application/vnd.kafka+json"),
        ("application/json", "application/json"),
        ("text/html, application/*;q=0.5", V2),
        (f"application/json;q=0.5, {V2}", V2),
    ],
)
def test_the_answer_comes_in_what_is_accepted(
    proxy: Proxy, broker: InProcessBroker, accept: str, content_type: str
) -> None:
    answer = post(proxy, "/topics/accepted", {"records": [{"value": 1}]}, accept=accept)
    assert (answer.status, answer.headers["content-type"]) == (200, content_type)


def test_what_is_neither_taken_nor_given(proxy: Proxy) -> None:
    body = {"records": [{"value": 1}]}
    for content_type in ("application/json", "text/plain", "application/vnd.kafka.v2+json"):
        answer = post(proxy, "/topics/t", body, content_type)
        assert (answer.status, answer.json["error_code"]) == (415, 415)
    answer = post(proxy, "/topics/t", body, accept="text/html")
    assert (answer.status, answer.json["error_code"]) == (406, 406)


ONE = {"records": [{"value": 1}]}
BAD = [
    (b"", JSON, 422, 422, "Request body: takes one JSON object with records"),
    ([], JSON, 422, 422, "Request body: takes one JSON object with records"),
    (b"{}{}", JSON, 422, 422, "Request body: takes one JSON object with records"),
    (b"{", JSON, 400, 400, "Error processing JSON: "),
    (b'{"records": [{"value": NaN}]}', JSON, 400, 400, "Error processing JSON: NaN is not JSON"),
    (b'{"records": [{"value": %s}]}' % (b"9" * 5000), JSON, 400, 400, "Error processing JSON: "),
    (b"\xff", JSON, 400, 400, "Error processing JSON: it is not UTF-8"),
    ({}, JSON, 422, 422, "records: got null, takes an array of at least one record"),
    ({"records": None}, JSON, 422, 422, "records: got null, takes an array of at least one record"),
    ({"records": []}, JSON, 422, 422, "records: got an empty array, takes an array of at least one record"),
    ({"records": {}}, JSON, 422, 422, "records: got an object, takes an array of at least one record"),
    ({"records": [{}, 1]}, JSON, 400, 400, "records[1]: got 1, takes an object with key and value"),
    ({"records": [{"partition": "a"}]}, JSON, 400, 400, "records[0].partition: got 'a', takes the number"),
    ({"records": [{"partition": -1}]}, JSON, 400, 400, "records[0].partition: got -1, takes the number"),
    ({"records": [{"partition": 2**31}]}, JSON, 400, 400, "records[0].partition: got 2147483648, takes"),
    ({"records": [{}, {"key": 1}]}, BINARY, 400, 400, "records[1].key: got 1, takes a base64 string"),
    ({"records": [{"value": "??"}]}, BINARY, 400, 400, "records[0].value: got '??', takes a base64 string"),
    (ONE, AVRO, 422, 42202, "Request includes values but does not include value schema"),
    ({"records": [{"key": 1}]}, AVRO, 422, 42201, "Request includes keys but does not include key schema"),
    (
        {**ONE, "value_schema": '"int"'},
        AVRO,
        422,
        42207,
        "Error serializing message. Schema Registry not defined: the proxy's schema.registry.url is not set",
    ),
]


@pytest.mark.parametrize(("body", "content_type", "status", "error_code", "message"), BAD)
def test_a_bad_request_sends_nothing_and_names_the_field(
    proxy: Proxy,
    broker: InProcessBroker,
    body: Any,
    content_type: str,
    status: int,
    error_code: int,
    message: str,
) -> None:
    answer = post(proxy, "/topics/refused", body, content_type)
    assert (answer.status, answer.json["error_code"]) == (status, error_code)
    assert answer.json["message"].startswith(message)
    assert "refused" not in proxy.get("/topics").json


def test_partitions_that_are_not_there(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("narrow", 1)
    answer = post(proxy, "/topics/narrow/partitions/3", ONE)
    assert (answer.status, answer.json) == (404, {"error_code": 40402, "message": "Partition not found."})
    mixed = post(proxy, "/topics/narrow", {"records": [{"value": 1, "partition": 3}, {"value": 2}]})
    assert mixed.status == 200
    assert mixed.json["offsets"] == [
        {"partition": None, "offset": None, "error_code": 40402, "error": "Partition not found."},
        {"partition": 0, "offset": 0, "error_code": None, "error": None},
    ]
    bad = post(proxy, "/topics/narrow/partitions/one", ONE)
    assert (bad.status, bad.json["message"]) == (
        400,
        "partition_id: got 'one', takes an integer of at least 0",
    )


def test_topics_that_are_not_there() -> None:
    with (
        InProcessBroker({"auto.create.topics.enable": "false"}) as broker,
        running(broker.bootstrap_servers, client_timeout_ms="2000") as proxy,
    ):
        answer = post(proxy, "/topics/nowhere", ONE)
        assert (answer.status, answer.json) == (404, {"error_code": 40401, "message": "Topic not found."})
        v3 = proxy.ask("POST", f"{proxy.cluster}/topics/nowhere/records", {})
        assert v3.json == {"error_code": 40401, "message": "Topic not found."}


def test_records_that_the_broker_refuses(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("tight", 1, configs={"max.message.bytes": "1000"})
    answer = post(proxy, "/topics/tight", {"records": [{"value": "x" * 5000}]})
    assert answer.status == 200
    [refused] = answer.json["offsets"]
    assert (refused["partition"], refused["offset"], refused["error_code"]) == (None, None, 413)
    assert post(proxy, "/topics/tight", ONE).json == offsets((0, 0))


@only_one_broker
@pytest.mark.parametrize(
    ("error", "status", "error_code"),
    [("TOPIC_AUTHORIZATION_FAILED", 403, 40301), ("NOT_ENOUGH_REPLICAS", 503, 50003)],
)
def test_records_that_may_not_be_written_or_not_now(
    broker: InProcessBroker, error: str, status: int, error_code: int
) -> None:
    topic = f"refusing-{status}"
    broker.create_topic(topic, 1)
    with running(broker.bootstrap_servers, client_timeout_ms="2000") as proxy:
        broker.interceptor.answer("Produce", error, topic=topic)
        try:
            answer = post(proxy, f"/topics/{topic}", ONE)
        finally:
            broker.interceptor.clear()
    assert answer.status == status
    if status == 503:
        assert (answer.json["error_code"], int(answer.headers["retry-after"]) > 0) == (error_code, True)
    else:
        [refused] = answer.json["offsets"]
        assert (refused["error_code"], refused["offset"]) == (error_code, None)


def test_a_body_that_is_too_large(broker: InProcessBroker) -> None:
    with running(broker.bootstrap_servers, api_v3_produce_request_size_limit_max_bytes="2000") as proxy:
        answer = post(proxy, "/topics/large", {"records": [{"value": "x" * 3000}]})
        assert (answer.status, answer.json["error_code"]) == (413, 413)


def test_without_kafka_there_is_503_in_time() -> None:
    with running(f"127.0.0.1:{free_port()}", client_timeout_ms="500") as proxy:
        answers = [post(proxy, "/topics/t", ONE), proxy.get("/topics"), proxy.get("/brokers")]
        for answer in answers:
            assert (answer.status, answer.json["error_code"] // 100) in ((503, 500), (503, 503))
            assert int(answer.headers["retry-after"]) > 0
        assert proxy.get("/").json == {}


@pytest.mark.parametrize(
    ("path", "body", "name"),
    [
        ("/topics/{}", {"records": [{"valur": {"foo": "bar"}}]}, "valur"),
        ("/topics/{}/partitions/0", {"records": [{"value": 1, "timestamp": 7}]}, "timestamp"),
        ("/topics/{}", {"record": [], "records": [{"value": 1}]}, "record"),
        ("/consumers/typos", {"fromat": "json"}, "fromat"),
        ("/consumers/typos", {"fromat" * 20: "json"}, "fromat" * 13 + "fr..."),
    ],
)
def test_a_field_that_nobody_reads_is_refused(
    proxy: Proxy, broker: InProcessBroker, topic: str, path: str, body: Any, name: str
) -> None:
    content_type = V2 if "consumers" in path else JSON
    answer = post(proxy, path.format(topic), body, content_type)
    assert answer.json == {"error_code": 422, "message": f"Unrecognized field: {name}"}
    assert answer.status == 422
    written = post(proxy, f"/topics/{topic}", {"records": [{"value": "first"}]})
    assert written.json == offsets((0, 0))


def test_numbers_sent_as_strings_are_numbers(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("stringly", 2)
    body = {"records": [{"value": 1, "partition": "1"}, {"value": 2, "partition": " 0 "}]}
    assert post(proxy, "/topics/stringly", body).json == offsets((1, 0), (0, 0))
    made = post(proxy, "/consumers/stringly", {"fetch.min.bytes": "1"}, V2)
    instance = made.json["base_uri"].partition(f":{proxy.port}")[2]
    assigned = {"partitions": [{"topic": "stringly", "partition": "1"}]}
    assert post(proxy, f"{instance}/assignments", assigned, V2).status == 204
    found = proxy.get(f"{instance}/assignments").json
    assert found == {"partitions": [{"topic": "stringly", "partition": 1}]}
    proxy.ask("DELETE", instance)


@pytest.mark.parametrize("accept", ["*", "*/json", "text/html, *; q=.2", "*/*"])
def test_stars_that_old_clients_send(proxy: Proxy, topic: str, accept: str) -> None:
    answer = post(proxy, f"/topics/{topic}", {"records": [{"value": 1}]}, accept=accept)
    assert answer.status == 200
    assert answer.headers["content-type"] == ("application/json" if accept == "*/json" else V2)
