"""Records with schemas through v3: produced in every way that names a schema, and read again."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.client import AvroSerializer, KafkaProducer, SchemaRegistryClient
from penstock.testing.in_process import InProcessBroker
from tests.client.registry.confluent import TheirClient
from tests.rest.proxy import Proxy, running
from tests.rest.schema_cases import CASES, USER, Case
from tests.rest.v3.test_consume import events
from tests.rest.v3.test_produce import records_of
from tests.support.processes import free_port
from tests.support.registry import Registry

AVRO_CASE, JSON_CASE, PROTOBUF_CASE = CASES
each_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)


def post(proxy: Proxy, topic: str, *records: Any) -> list[Any]:
    body = b"\n".join(json.dumps(record).encode() for record in records)
    return proxy.ask("POST", f"{proxy.cluster}/topics/{topic}/records", body).objects


@each_case
def test_the_text_of_a_schema(
    schema_proxy: Proxy, broker: InProcessBroker, theirs: TheirClient, topic: str, case: Case
) -> None:
    payload = {"type": case.type, "schema": case.schema, "data": case.data}
    first, second = post(schema_proxy, topic, {"key": payload, "value": payload}, {"value": payload})
    record, _ = records_of(broker, topic, 2)
    assert [first["error_code"], second["error_code"]] == [200, 200]
    assert first["value"] == {
        "type": case.type,
        "subject": f"{topic}-value",
        "schema_id": int.from_bytes(record.value[1:5], "big"),
        "schema_version": 1,
        "size": len(record.value),
    }
    assert first["key"]["subject"] == f"{topic}-key"
    assert case.read_by_theirs(theirs, topic, "value", record.value) == case.theirs
    assert case.read_by_theirs(theirs, topic, "key", record.key) == case.theirs


@each_case
def test_an_id_a_version_and_the_latest(
    schema_proxy: Proxy, broker: InProcessBroker, registry: Registry, topic: str, case: Case
) -> None:
    schema_id = registry.register(f"{topic}-value", case.schema, schemaType=case.schema_type)
    registry.register(f"{topic}-elsewhere", case.schema, schemaType=case.schema_type)
    answers = post(
        schema_proxy,
        topic,
        {"value": {"schema_id": schema_id, "data": case.data}},
        {"value": {"schema_version": 1, "data": case.data}},
        {"value": {"data": case.data}},
        {"value": {"subject": f"{topic}-elsewhere", "data": case.data}},
        {"value": {"subject": f"{topic}-elsewhere", "schema_version": 1, "data": case.data}},
        {"value": {"subject": f"{topic}-elsewhere", "schema_id": schema_id, "data": case.data}},
        {"value": {"subject_name_strategy": "TOPIC_NAME", "data": case.data}},
        {"value": {"schema_id": schema_id, "data": None}},
    )
    assert [each["error_code"] for each in answers] == [200] * 8
    subjects = [each["value"]["subject"].removeprefix(topic) for each in answers]
    assert subjects == ["-value"] * 3 + ["-elsewhere"] * 3 + ["-value"] * 2
    assert {each["value"]["type"] for each in answers} == {case.type}
    assert {each["value"]["schema_id"] for each in answers} == {schema_id}
    *written, tombstone = records_of(broker, topic, 8)
    assert len({each.value for each in written}) == 1
    assert tombstone.value is None


@each_case
@pytest.mark.parametrize(
    ("strategy", "prefix"), [("RECORD_NAME", ""), ("topic_record_name", "{topic}-")], ids=str.lower
)
def test_subjects_that_are_called_after_the_record(
    schema_proxy: Proxy, registry: Registry, topic: str, case: Case, strategy: str, prefix: str
) -> None:
    text = {"type": case.type, "subject_name_strategy": strategy, "schema": case.schema, "data": case.data}
    [first] = post(schema_proxy, topic, {"value": text})
    assert first["value"]["subject"] == prefix.format(topic=topic) + case.record_name
    by_id = {"subject_name_strategy": strategy, "schema_id": first["value"]["schema_id"], "data": case.data}
    [second] = post(schema_proxy, topic, {"value": by_id})
    assert second["value"] == first["value"]


def test_the_latest_version_is_asked_for_again_after_a_while(
    broker: InProcessBroker, registry: Registry, topic: str
) -> None:
    settings = {"schema_registry_url": registry.url, "schema_registry_latest_cache_ttl_sec": "0"}
    with running(broker.bootstrap_servers, **settings) as proxy:
        registry.register(f"{topic}-value", '"int"')
        [first] = post(proxy, topic, {"value": {"data": 1}})
        registry.register(f"{topic}-value", '"long"')
        [second] = post(proxy, topic, {"value": {"data": 1}})
    assert (first["value"]["schema_version"], second["value"]["schema_version"]) == (1, 2)


def test_a_batch_and_a_stream(schema_proxy: Proxy, broker: InProcessBroker, topic: str) -> None:
    def payload(number: int) -> dict[str, Any]:
        return {"type": "AVRO", "schema": '"int"', "data": number}

    path = f"{schema_proxy.cluster}/topics/{topic}/records"
    entries = [{"id": str(number), "value": payload(number)} for number in range(50)]
    entries[7]["value"] = payload(2**40)
    answer = schema_proxy.ask("POST", f"{path}:batch", {"entries": entries}).json
    assert [each["offset"] for each in answer["successes"]] == list(range(49))
    assert answer["failures"] == [
        {"id": "7", "error_code": 400, "message": f"value.data: got {2**40}, takes an integer of 32 bits"}
    ]
    chunks = [json.dumps({"value": payload(number)}).encode() for number in range(50)]
    streamed = schema_proxy.ask("POST", path, chunks=chunks).objects
    assert [each["offset"] for each in streamed] == list(range(49, 99))
    assert {each["value"]["schema_version"] for each in streamed} == {1}


BAD = [
    ({"type": "AVRO", "data": 1}, 400, "value.schema: is missing; type AVRO takes a schema beside it"),
    ({"type": "AVRO", "schema_id": 1, "data": 1}, 400, "value.schema_id: cannot be used with type AVRO"),
    ({"type": "AVRO", "schema_version": 1}, 400, "value.schema_version: cannot be used with type AVRO"),
    ({"schema": '"int"', "data": 1}, 400, "value.type: is missing; a schema takes a type beside it"),
    (
        {"schema_id": 1, "schema_version": 1},
        400,
        "value.schema_version: only one of schema_id, schema_version",
    ),
    ({"type": "AVRO", "schema": "1", "schema_id": 1}, 400, "value.schema: only one of schema_id, "),
    ({"subject": "s", "subject_name_strategy": "TOPIC_NAME"}, 400, "value.subject: only one of subject, "),
    (
        {"subject_name_strategy": "NAME"},
        400,
        "value.subject_name_strategy: got 'NAME', takes one of TOPIC_NAME",
    ),
    ({"subject_name_strategy": "RECORD_NAME"}, 400, "value.subject_name_strategy: takes schema_id or schema"),
    ({"type": "JSON", "data": 1, "schema": "{}"}, 400, "value.schema: cannot be used with type JSON"),
    ({"type": "BINARY", "data": "", "subject": "s"}, 400, "value.subject: cannot be used with type BINARY"),
    ({"type": "STRING", "data": "", "schema_id": 1}, 400, "value.schema_id: cannot be used with type STRING"),
    ({"schema_id": "one"}, 400, "value.schema_id: got 'one', takes an integer"),
    ({"schema_id": -1}, 400, "value.schema_id: got -1, takes a number from 0 to 2147483647"),
    ({"schema_version": True}, 400, "value.schema_version: got true, takes an integer"),
    ({"type": "AVRO", "schema": {}}, 400, "value.schema: got an object, takes a string"),
    ({"subject": 5}, 400, "value.subject: got 5, takes a string"),
    (
        {"type": "avro", "schema": '"int"'},
        400,
        "value.type: got 'avro', takes one of BINARY, JSON, STRING, AVRO",
    ),
    ({"type": "AVRO", "schema": '{"type": "'}, 42205, "Invalid schema: value: "),
    ({"data": 1}, 42207, "Error serializing message. value: the registry said: Subject '"),
    ({"schema_id": 123456}, 42207, "Error serializing message. value: the registry said: Schema 123456"),
    ({"schema_version": 3}, 400, "value.schema_version: Schema does not exist for subject: "),
]


@pytest.mark.parametrize(("payload", "error_code", "message"), BAD)
def test_what_does_not_go_together(
    schema_proxy: Proxy, topic: str, payload: Any, error_code: int, message: str
) -> None:
    good = {"value": {"type": "AVRO", "schema": '"int"', "data": 1, "subject": "v3-good"}}
    first, refused, last = post(schema_proxy, topic, good, {"value": payload}, good)
    assert refused["error_code"] == error_code
    assert refused["message"].startswith(message)
    assert [first["offset"], last["offset"]] == [0, 1]


@each_case
def test_data_that_does_not_fit(schema_proxy: Proxy, topic: str, case: Case) -> None:
    payload = {"type": case.type, "schema": case.schema, "data": case.bad}
    [refused] = post(schema_proxy, topic, {"key": payload})
    assert refused["error_code"] == 400
    assert refused["message"].startswith(f"key.data{case.complaint}")


def test_without_the_registry_records_with_schemas_fail_and_others_do_not(
    broker: InProcessBroker, topic: str
) -> None:
    settings = {"schema_registry_url": f"http://127.0.0.1:{free_port()}", "client_timeout_ms": "2000"}
    with running(broker.bootstrap_servers, **settings) as proxy:
        with_schema, plain = {"value": {"data": 1}}, {"value": {"type": "JSON", "data": 1}}
        path = f"{proxy.cluster}/topics/{topic}/records"
        answer = proxy.ask("POST", path, with_schema)
        assert (answer.status, answer.json["error_code"]) == (503, 50003)
        assert int(answer.headers["retry-after"]) > 0
        both = post(proxy, topic, plain, with_schema, plain)
        assert [each["error_code"] for each in both] == [200, 50003, 200]


# --- reading


@each_case
def test_records_are_read_with_their_schemas(schema_proxy: Proxy, topic: str, case: Case) -> None:
    payload = {"type": case.type, "schema": case.schema, "data": case.data}
    [posted] = post(schema_proxy, topic, {"key": payload, "value": payload})
    path = f"{schema_proxy.cluster}/topics/{topic}"
    query = f"key_type={case.type}&value_type={case.name}"
    [record] = schema_proxy.get(f"{path}/partitions/0/records?{query}").json["data"]
    read = {"type": case.type, "schema_id": posted["value"]["schema_id"], "data": case.read}
    assert (record["key"], record["value"]) == (read, read)
    with events(schema_proxy, f"{path}/records?from=earliest&{query}") as stream:
        assert stream.record()[1]["value"] == read
    sent_back = {name: read[name] for name in ("schema_id", "data")}
    assert post(schema_proxy, topic, {"value": sent_back})[0]["value"] == posted["value"]


def test_what_is_no_such_record_is_read_as_bytes(schema_proxy: Proxy, topic: str) -> None:
    avro = {"type": "AVRO", "schema": USER, "data": {"name": "Ada"}}
    others = [{"type": "STRING", "data": "not framed"}, {"type": "BINARY", "data": "AAAP////"}, None]
    post(schema_proxy, topic, {"value": avro}, *({"value": each} for each in others))
    path = f"{schema_proxy.cluster}/topics/{topic}/partitions/0/records?value_type="
    types = {
        kind: [each["value"] and each["value"]["type"] for each in schema_proxy.get(path + kind).json["data"]]
        for kind in ("AVRO", "PROTOBUF")
    }
    assert types == {"AVRO": ["AVRO", "BINARY", "BINARY", None], "PROTOBUF": ["BINARY"] * 3 + [None]}


def test_ids_in_headers_are_read(
    schema_proxy: Proxy, broker: InProcessBroker, registry: Registry, topic: str
) -> None:
    serializer = AvroSerializer(USER, registry.url, schema_id_serializer="header")
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, value_serializer=serializer) as producer:
        producer.send(topic, {"name": "Ada", "age": 3, "secret": b""}).result(timeout=30)
    path = f"{schema_proxy.cluster}/topics/{topic}/partitions/0/records?value_type=AVRO"
    [record] = schema_proxy.get(path).json["data"]
    with SchemaRegistryClient(registry.url) as client:
        latest = client.latest_version(f"{topic}-value")
        guid = client.registered_by_id(latest.id).guid
    assert record["value"] == {
        "type": "AVRO",
        "schema_guid": guid,
        "data": {"name": "Ada", "age": {"int": 3}, "secret": ""},
    }
