"""Records through `POST .../records` and `records:batch`, read back with a consumer."""

from __future__ import annotations

import base64
import json
import socket
import struct
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.client import KafkaConsumer, TopicPartition
from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy, running
from tests.support.cluster_fixture import only_one_broker
from tests.support.processes import free_port, wait_for


def records_of(broker: InProcessBroker, topic: str, count: int, partition: int = 0) -> list[Any]:
    with KafkaConsumer(
        bootstrap_servers=broker.bootstrap_servers,
        value_deserializer="bytes",
        key_deserializer="bytes",
        auto_offset_reset="earliest",
    ) as consumer:
        consumer.assign([TopicPartition(topic, partition)])
        consumer.seek_to_beginning()
        found: list[Any] = []
        while len(found) < count:
            found += consumer.poll(1.0)
        return found


def text(data: str) -> dict[str, Any]:
    return {"value": {"type": "STRING", "data": data}}


def test_one_record_with_everything_that_a_record_has(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("everything", 3)
    answer = proxy.ask(
        "POST",
        f"{proxy.cluster}/topics/everything/records",
        {
            "partition_id": 2,
            "headers": [
                {"name": "trace", "value": base64.b64encode(b"\x00\x01").decode()},
                {"name": "empty"},
            ],
            "key": {"type": "BINARY", "data": base64.b64encode(b"\xff\x00key").decode()},
            "value": {"type": "JSON", "data": {"cups": 2, "name": "Zoë", "ratio": 0.5}},
            "timestamp": "2021-02-05T19:14:42.250Z",
        },
    )
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.json == {
        "error_code": 200,
        "cluster_id": proxy.cluster_id,
        "topic_name": "everything",
        "partition_id": 2,
        "offset": 0,
        "timestamp": "2021-02-05T19:14:42.250Z",
        "key": {"type": "BINARY", "size": 5},
        "value": {"type": "JSON", "size": len('{"cups":2,"name":"Zoë","ratio":0.5}'.encode())},
    }
    [record] = records_of(broker, "everything", 1, 2)
    assert record.key == b"\xff\x00key"
    assert record.value == '{"cups":2,"name":"Zoë","ratio":0.5}'.encode()
    assert record.timestamp_ms == 1612552482250
    assert list(record.headers) == [("trace", b"\x00\x01"), ("empty", None)]


def test_a_record_may_lack_key_value_and_data(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("sparse", 1)
    bodies = [{}, {"key": {"type": "STRING", "data": "k"}}, {"value": {"type": "JSON", "data": None}}]
    answers = [proxy.ask("POST", f"{proxy.cluster}/topics/sparse/records", body).json for body in bodies]
    assert [each["offset"] for each in answers] == [0, 1, 2]
    assert "key" not in answers[0]
    assert "value" not in answers[0]
    assert answers[2]["value"] == {"type": "JSON", "size": 0}
    assert [(each.key, each.value) for each in records_of(broker, "sparse", 3)] == [
        (None, None),
        (b"k", None),
        (None, None),
    ]


def test_several_records_in_one_body_are_answered_in_order(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("several", 1)
    body = " \n".join(json.dumps(text(f"record {number}")) for number in range(500)).encode()
    answer = proxy.ask("POST", f"{proxy.cluster}/topics/several/records", body)
    assert [each["offset"] for each in answer.objects] == list(range(500))
    assert {each["error_code"] for each in answer.objects} == {200}
    values = [record.value.decode() for record in records_of(broker, "several", 500)]
    assert values == [f"record {number}" for number in range(500)]


def test_a_stream_is_answered_while_it_is_still_being_sent(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("stream", 1)
    connection = proxy.connection()
    connection.putrequest("POST", f"{proxy.cluster}/topics/stream/records")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Transfer-Encoding", "chunked")
    connection.endheaders()

    def send(piece: bytes) -> None:
        connection.send(b"%x\r\n%s\r\n" % (len(piece), piece))

    whole = json.dumps({"value": {"type": "STRING", "data": 'quotes " and } \\ brackets ž'}}).encode()
    send(whole)
    response = connection.sock.makefile("rb")
    assert response.readline().startswith(b"HTTP/1.1 200")
    while response.readline().strip():
        pass
    assert _next_chunk(response)["offset"] == 0
    for at in range(len(whole)):  # one byte at a time, then two records in one piece
        send(whole[at : at + 1])
    assert _next_chunk(response)["offset"] == 1
    send(whole + b"\n" + whole[:10])
    assert _next_chunk(response)["offset"] == 2
    send(whole[10:])
    assert _next_chunk(response)["offset"] == 3
    connection.send(b"0\r\n\r\n")
    assert response.readline().strip() == b"0"
    connection.close()
    values = {record.value.decode() for record in records_of(broker, "stream", 4)}
    assert values == {'quotes " and } \\ brackets ž'}


def _next_chunk(response: Any) -> Any:
    size = int(response.readline(), 16)
    chunk = response.read(size)
    response.readline()
    return json.loads(chunk)


def test_a_client_that_hangs_up_in_a_stream_harms_nobody(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("hangup", 1)
    gone = socket.create_connection(("127.0.0.1", proxy.port))
    gone.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    record = json.dumps(text("last words")).encode()
    head = f"POST {proxy.cluster}/topics/hangup/records HTTP/1.1\r\nHost: proxy\r\n".encode()
    head += b"Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    gone.sendall(head + b"%x\r\n%s\r\n" % (len(record), record))
    assert gone.recv(100).startswith(b"HTTP/1.1 200")
    gone.close()
    assert records_of(broker, "hangup", 1)[0].value == b"last words"
    assert proxy.ask("POST", f"{proxy.cluster}/topics/hangup/records", text("next")).json["offset"] == 1


def test_a_stream_in_chunks_ends_with_what_is_wrong_in_it(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("broken", 1)
    good, path = json.dumps(text("good")).encode(), f"{proxy.cluster}/topics/broken/records"
    bad_field = json.dumps({"value": {"type": "STRING", "data": 7}}).encode()
    answers = proxy.ask("POST", path, chunks=[good, bad_field, good, b'{"value": nope}', good]).objects
    assert [each["error_code"] for each in answers] == [200, 400, 200, 400]
    assert answers[1]["message"] == "value.data: got 7, takes a string"
    assert "Expecting value at line 1, column 11" in answers[3]["message"]
    [unfinished] = proxy.ask("POST", path, chunks=[b'{"value": ']).objects
    assert unfinished["message"] == "Error processing JSON: the last object is not complete"
    [empty] = proxy.ask("POST", path, chunks=[b"  "]).objects
    assert empty["error_code"] == 42206


def test_one_record_of_a_stream_has_a_limit_but_not_the_stream(broker: InProcessBroker) -> None:
    broker.create_topic("limited", 1)
    limit = {"api_v3_produce_request_size_limit_max_bytes": "2000"}
    with running(broker.bootstrap_servers, **limit) as proxy:
        path = f"{proxy.cluster}/topics/limited/records"
        chunks = [json.dumps(text("x" * 1000)).encode()] * 20
        assert len(proxy.ask("POST", path, chunks=chunks).objects) == 20
        length = {"Content-Length": str(sum(map(len, chunks)))}
        assert len(proxy.ask("POST", path, b"".join(chunks), length).objects) == 20
        [refused] = proxy.ask("POST", path, chunks=[b'{"value": "', b"x" * 3000]).objects
        assert refused["error_code"] == 413
        assert proxy.ask("POST", f"{path}:batch", b"x" * 3000).status == 413


BAD_RECORDS = [
    ({"partition_id": "one"}, 400, "partition_id: got 'one', takes the number of a partition"),
    ({"partition_id": True}, 400, "partition_id: got true, takes the number of a partition"),
    ({"partition_id": -1}, 40402, "Partition not found."),
    ({"partition_id": 7}, 40402, "Partition not found."),
    ({"key": "k"}, 400, "key: got 'k', takes an object with type and data"),
    ({"value": {"type": "BINARY", "data": "%%"}}, 400, "value.data: got '%%', takes a base64 string"),
    ({"value": {"type": "BINARY", "data": {}}}, 400, "value.data: got an object, takes a base64 string"),
    ({"key": {"type": "STRING", "data": []}}, 400, "key.data: got an array, takes a string"),
    ({"value": {"type": "XML", "data": ""}}, 400, "value.type: got 'XML', takes one of BINARY, JSON, STRING"),
    ({"value": {"type": ["JSON"]}}, 400, "value.type: got an array, takes one of"),
    ({"value": {"data": 1}}, 42207, "Error serializing message. Schema Registry not defined"),
    ({"timestamp": "yesterday"}, 400, "timestamp: got 'yesterday', takes a time as in"),
    ({"timestamp": "2021-02-05T19:14:42"}, 400, "timestamp: got '2021-02-05T19:14:42', takes a time as in"),
    ({"headers": {}, "key": None}, 200, ""),
    ({"headers": "h"}, 400, "headers: got 'h', takes an array"),
    ({"headers": [{"value": ""}]}, 400, "headers[0].name: got null, takes a string"),
    ({"headers": [{"name": "h", "value": 1}]}, 400, "headers[0].value: got 1, takes a base64 string"),
]


@pytest.fixture(scope="module")
def refusing(broker: InProcessBroker) -> Iterator[str]:
    broker.create_topic("refusing", 1)
    return "refusing"


@pytest.mark.parametrize(("body", "error_code", "message"), BAD_RECORDS)
def test_a_bad_record_is_told_which_field_is_wrong(
    proxy: Proxy, refusing: str, body: Any, error_code: int, message: str
) -> None:
    answer = proxy.ask("POST", f"{proxy.cluster}/topics/{refusing}/records", body)
    assert answer.status == 200
    assert answer.json["error_code"] == error_code
    assert answer.json.get("message", "").startswith(message)


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", b"{", b"[1", b'{"value": {"type": "JSON", "data": NaN}}', b"[" * 99999]
)
def test_what_is_no_json_is_refused(proxy: Proxy, refusing: str, body: bytes) -> None:
    [answer] = proxy.ask("POST", f"{proxy.cluster}/topics/{refusing}/records", body).objects
    assert answer["error_code"] == 400
    assert answer["message"].startswith("Error processing JSON: ")


def test_numbers_and_characters_that_cannot_be_written_again_are_refused(proxy: Proxy, refusing: str) -> None:
    for data in (b"1e999", rb'"\ud800"'):
        body = b'{"value": {"type": "JSON", "data": %s}}' % data
        answer = proxy.ask("POST", f"{proxy.cluster}/topics/{refusing}/records", body).json
        assert (answer["error_code"], answer["message"][:11]) == (400, "value.data:")


def test_an_empty_body_and_another_cluster_are_refused(proxy: Proxy, refusing: str) -> None:
    empty = proxy.ask("POST", f"{proxy.cluster}/topics/{refusing}/records", b"")
    assert (empty.status, empty.json["error_code"]) == (422, 42206)
    elsewhere = proxy.ask("POST", f"/v3/clusters/elsewhere/topics/{refusing}/records", {})
    assert (elsewhere.status, elsewhere.json) == (
        404,
        {"error_code": 404, "message": "Cluster elsewhere cannot be found."},
    )


def test_a_record_that_the_broker_refuses(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("small", 1, configs={"max.message.bytes": "1000"})
    answer = proxy.ask("POST", f"{proxy.cluster}/topics/small/records", text("x" * 5000))
    assert answer.json["error_code"] == 413


# --- batches


def test_a_batch_says_of_each_entry_what_became_of_it(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("batch", 1)
    entries = [{"id": f"e-{number}", **text(f"entry {number}")} for number in range(100)]
    entries[50]["value"] = {"type": "STRING", "data": None, "schema_id": None}
    entries[60]["value"] = {"type": "BINARY", "data": "?"}
    answer = proxy.ask("POST", f"{proxy.cluster}/topics/batch/records:batch", {"entries": entries})
    assert answer.status == 207
    successes, failures = answer.json["successes"], answer.json["failures"]
    assert [each["id"] for each in successes] == [f"e-{number}" for number in range(100) if number != 60]
    assert [each["offset"] for each in successes] == list(range(99))
    assert successes[0]["cluster_id"] == proxy.cluster_id
    assert failures == [
        {"id": "e-60", "error_code": 400, "message": "value.data: got '?', takes a base64 string"}
    ]
    assert records_of(broker, "batch", 99)[0].value == b"entry 0"


BAD_BATCHES = [
    (b"", 422, 42208, "Request body is empty. Data is required."),
    ({"entries": []}, 422, 42208, "Empty batch."),
    ({}, 400, 400, "entries: got null, takes an array of records with ids"),
    ([], 400, 400, "entries: got null, takes an array of records with ids"),
    ({"entries": [1]}, 400, 400, "entries[0]: got 1, takes an object with id and value"),
    ({"entries": [{"id": "1"}, {"id": "1"}]}, 422, 42208, "Batch entry IDs are not distinct."),
    ({"entries": [{"id": 1}]}, 422, 42208, "Batch entry identifier is not a valid string: entries[0].id."),
    ({"entries": [{"id": 'a"'}]}, 422, 42208, "Batch entry identifier is not a valid string: entries[0].id."),
    ({"entries": [{"id": "x" * 81}]}, 422, 42208, "Batch entry identifier is not a valid string"),
    (
        {"entries": [{"id": str(n)} for n in range(1001)]},
        422,
        42208,
        "Too many entries in batch: entries has 1001",
    ),
]


@pytest.mark.parametrize(("body", "status", "error_code", "message"), BAD_BATCHES)
def test_a_bad_batch_is_refused_as_a_whole(
    proxy: Proxy, refusing: str, body: Any, status: int, error_code: int, message: str
) -> None:
    answer = proxy.ask("POST", f"{proxy.cluster}/topics/{refusing}/records:batch", body)
    assert (answer.status, answer.json["error_code"]) == (status, error_code)
    assert answer.json["message"].startswith(message)


def test_without_kafka_there_is_503_in_time() -> None:
    with running(f"127.0.0.1:{free_port()}", client_timeout_ms="500") as proxy:
        for method, path in (("GET", ""), ("POST", "/any/topics/t/records"), ("GET", "/any/brokers")):
            answer = proxy.ask(method, f"/v3/clusters{path}", {} if method == "POST" else None)
            assert answer.status == 503
            assert int(answer.headers["retry-after"]) > 0
            assert answer.json["error_code"] == 50302


def test_when_kafka_goes_away_records_fail_with_503_in_time() -> None:
    with InProcessBroker() as broker, running(broker.bootstrap_servers, client_timeout_ms="1500") as proxy:
        path = f"{proxy.cluster}/topics/interrupted/records"
        assert proxy.ask("POST", path, text("before")).json["error_code"] == 200
        broker.stop_broker()
        answer = proxy.ask("POST", path, text("during"))
        assert (answer.status, answer.json["error_code"] // 100) == (503, 500)
        assert int(answer.headers["retry-after"]) > 0
        assert proxy.ask("POST", f"{path}:batch", {"entries": [{"id": "1", **text("x")}]}).status == 503
        broker.start_broker()
        wait_for(
            lambda: proxy.ask("POST", path, text("after")).status == 200, 60, "the proxy to find Kafka again"
        )


@only_one_broker
def test_after_an_error_that_is_fatal_for_the_producer_there_is_another(broker: InProcessBroker) -> None:
    broker.create_topic("fatal", 1)
    with running(broker.bootstrap_servers) as proxy:
        path = f"{proxy.cluster}/topics/fatal/records"
        assert proxy.ask("POST", path, text("before")).json["error_code"] == 200
        broker.interceptor.answer("Produce", "OUT_OF_ORDER_SEQUENCE_NUMBER", topic="fatal", times=1)
        assert proxy.ask("POST", path, text("during")).json["error_code"] == 50002
        broker.interceptor.clear()
        assert proxy.ask("POST", path, text("after")).json["error_code"] == 200


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ({"records": [{"value": 1}]}, "records"),
        ({"valur": {"type": "JSON", "data": 1}}, "valur"),
        ({"value": {"type": "JSON", "date": 1}}, "date"),
        ({"headers": [{"key": "a", "value": ""}]}, "key"),
    ],
)
def test_a_field_that_nobody_reads_is_refused(
    proxy: Proxy, broker: InProcessBroker, topic: str, body: Any, name: str
) -> None:
    path = f"{proxy.cluster}/topics/{topic}/records"
    refused = {"error_code": 400, "message": f"Unrecognized field: {name}"}
    answer = proxy.ask("POST", path, body)
    assert (answer.status, answer.json) == (400, refused)
    among_others = json.dumps(text("a")) + json.dumps(body) + json.dumps(text("b"))
    answers = proxy.ask("POST", path, among_others.encode()).objects
    assert [each.get("offset") for each in answers] == [0, None, 1]
    assert answers[1] == refused
    batch = proxy.ask("POST", f"{path}:batch", {"entries": [{"id": "1", **body}, {"id": "2", **text("c")}]})
    assert batch.json["failures"] == [{"id": "1", **refused}]
    assert [each["offset"] for each in batch.json["successes"]] == [2]
    assert proxy.ask("POST", f"{path}:batch", {"entries": [], "entry": 1}).json["message"].endswith("entry")


def test_numbers_sent_as_strings_are_numbers(proxy: Proxy, broker: InProcessBroker) -> None:
    made = proxy.ask("POST", f"{proxy.cluster}/topics", {"topic_name": "stringly-3", "partitions_count": "3"})
    assert (made.status, made.json["partitions_count"]) == (201, 3)
    record = {"partition_id": "2", **text("a")}
    answer = proxy.ask("POST", f"{proxy.cluster}/topics/stringly-3/records", record)
    assert answer.json["partition_id"] == 2


def test_topics_are_not_created_with_fields_that_nobody_reads(proxy: Proxy) -> None:
    for body, name in (
        ({"topic_name": "typo", "partition_count": 3}, "partition_count"),
        ({"topic_name": "typo", "configs": [{"name": "retention.ms", "vale": "1"}]}, "vale"),
    ):
        answer = proxy.ask("POST", f"{proxy.cluster}/topics", body)
        assert (answer.status, answer.json) == (
            400,
            {"error_code": 400, "message": f"Unrecognized field: {name}"},
        )
    assert proxy.get(f"{proxy.cluster}/topics/typo").status == 404
