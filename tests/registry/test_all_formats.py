"""The three formats behind the same decisions: references, words, and what is no schema."""

import json
from typing import Any

import pytest

from penstock.registry.formats import avro, json_schema, protobuf
from tests.registry.desk import Desk, refusal

FORMATS = {"AVRO": avro, "JSON": json_schema, "PROTOBUF": protobuf}
MONEY = {
    "AVRO": '{"type":"record","name":"Money","fields":[{"name":"cents","type":"long"}]}',
    "JSON": '{"$id":"money.json","type":"object","properties":{"cents":{"type":"integer"}}}',
    "PROTOBUF": 'syntax = "proto3"; package shop; message Money { int64 cents = 1; }',
}
ORDER = {
    "AVRO": '{"type":"record","name":"Order","fields":[{"name":"total","type":"Money"}]}',
    "JSON": '{"type":"object","properties":{"total":{"$ref":"money.json"}}}',
    "PROTOBUF": 'syntax = "proto3"; import "money.proto"; message Order { shop.Money total = 1; }',
}
REFERENCE_NAMES = {"AVRO": "Money", "JSON": "money.json", "PROTOBUF": "money.proto"}
TEXT_INSTEAD = {
    "AVRO": MONEY["AVRO"].replace("long", "string"),
    "JSON": MONEY["JSON"].replace("integer", "string"),
    "PROTOBUF": MONEY["PROTOBUF"].replace("int64", "string"),
}
TYPES = pytest.mark.parametrize("schema_type", list(MONEY))


def registered(schema_type: str) -> tuple[Desk, Any]:
    desk = Desk(formats=FORMATS)
    desk.register("money", MONEY[schema_type], schemaType=schema_type)
    reference = {"name": REFERENCE_NAMES[schema_type], "subject": "money", "version": -1}
    answer = desk.register("order", ORDER[schema_type], schemaType=schema_type, references=[reference])
    return desk, answer


@TYPES
def test_references(schema_type: str) -> None:
    desk, answer = registered(schema_type)
    assert (answer["id"], answer["version"], answer["schemaType"]) == (2, 1, schema_type)
    assert answer["references"] == [{"name": REFERENCE_NAMES[schema_type], "subject": "money", "version": 1}]
    assert desk.referenced_by("money", 1) == [2]
    assert refusal(desk.delete_subject, "money")[1] == 42206
    unresolved = refusal(desk.register, "alone", ORDER[schema_type], schemaType=schema_type)
    assert unresolved[:2] == (422, 42201)


@TYPES
def test_the_stored_text_is_its_own_canonical_form(schema_type: str) -> None:
    desk, answer = registered(schema_type)
    again = desk.register(
        "order", answer["schema"], schemaType=schema_type, references=answer["references"], normalize=False
    )
    assert again["id"] == 2
    assert len(desk.log) == 2


@TYPES
def test_incompatible_changes_are_worded(schema_type: str) -> None:
    desk, _ = registered(schema_type)
    messages = desk.check("money", TEXT_INSTEAD[schema_type], schemaType=schema_type, verbose=True)[
        "messages"
    ]
    assert messages[0].startswith("{errorType:")
    assert "%s" not in messages[0]
    assert messages[-3:-1] == ["{oldSchemaVersion: 1}", f"{{oldSchema: '{desk.get('money', 1)['schema']}'}}"]


@pytest.mark.parametrize(("schema_type", "text"), [("AVRO", "{"), ("JSON", "{"), ("PROTOBUF", "message {")])
def test_what_is_no_schema_says_where(schema_type: str, text: str) -> None:
    status, code, message = refusal(Desk(formats=FORMATS).register, "s", text, schemaType=schema_type)
    assert (status, code) == (422, 42201)
    assert message.startswith(f"Invalid schema of type {schema_type}, details: ")


def test_a_subject_keeps_to_one_type() -> None:
    desk = Desk(formats=FORMATS)
    desk.register("s", MONEY["AVRO"])
    status, code, message = refusal(desk.register, "s", MONEY["JSON"], schemaType="JSON")
    assert (status, code) == (409, 40901)
    assert "Incompatible because of different schema type" in message


def test_field_names_are_checked_on_demand() -> None:
    desk = Desk(formats=FORMATS, validate_fields=True)
    schema = json.dumps({"type": "object", "properties": {"$$a": {"type": "string"}}})
    assert refusal(desk.register, "s", schema, schemaType="JSON")[1] == 42201
