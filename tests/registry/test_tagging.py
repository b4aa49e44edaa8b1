"""Tags within schemas: found, added and removed, in each format by its own paths."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.registry.all_formats import FORMATS
from penstock.registry.decisions_tags import decide_modify_tags
from tests.registry.desk import Desk, record, refusal

TAGS = "confluent:tags"
ADDRESS = {**record("Address", "street:string"), "namespace": "places"}
USER = {
    **record("User", "id:long", {"name": "home", "type": ["null", ADDRESS]}, "email:string"),
    "namespace": "people",
}
PROTO = """syntax = "proto3";
package people;

message User {
  int64 id = 1;
  string email = 2 [(confluent.field_meta).doc = "where to write"];
  oneof way {
    string phone = 3;
  }
  message Address {
    string street = 1;
  }
}
"""
JSON_USER = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "home": {"type": "object", "properties": {"street": {"type": "string"}}},
        "emails": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "string"}}}},
        "way": {
            "oneOf": [{"type": "string"}, {"type": "object", "properties": {"phone": {"type": "string"}}}]
        },
        "maybe": {"type": ["object", "null"], "properties": {"x": {"type": "string"}}},
    },
    "definitions": {"Name": {"type": "object", "properties": {"first": {"type": "string"}}}},
}


def entity(path: str, *tags: str) -> dict[str, Any]:
    kind = "sr_record" if path.rpartition(".")[2][:1].isupper() or path.endswith("object") else "sr_field"
    return {"schemaEntity": {"entityPath": path, "entityType": kind}, "tags": list(tags)}


def found(desk: Desk, *tags: str, version: str | int = "latest") -> dict[str, list[str]]:
    answer = desk.get("s", version, tags=tags)
    return {each["schemaEntity"]["entityPath"]: each["tags"] for each in answer.get("schemaTags", [])}


@pytest.mark.parametrize(
    ("schema_type", "schema", "paths"),
    [
        ("AVRO", USER, ["people.User", "people.User.email", "places.Address", "places.Address.street"]),
        ("PROTOBUF", PROTO, ["User", "User.phone", "User.email", "User.Address", "User.Address.street"]),
        (
            "JSON",
            JSON_USER,
            [
                "object",
                "object.id",
                "object.home",
                "object.home.object.street",
                "object.emails.array.object",
                "object.emails.array.object.a",
                "object.way.oneof.0.object.phone",
                "object.maybe.anyof.1.object.x",
                "object.definitions.Name.object",
                "object.definitions.Name.object.first",
            ],
        ),
    ],
)
def test_added_found_and_removed(schema_type: str, schema: Any, paths: list[str]) -> None:
    desk = Desk(formats=FORMATS)
    asked = {path: [f"TAG{number}", "ALL"] for number, path in enumerate(paths)}
    answer = desk.register(
        "s",
        schema,
        schemaType=schema_type,
        schemaTagsToAdd=[entity(*item[:1], *item[1]) for item in asked.items()],
    )
    assert answer["metadata"] == {"properties": {"confluent:version": "1"}}
    assert found(desk, "*") == found(desk, "ALL") == asked
    assert found(desk, "TAG1", "TAG9") == {path: asked[path] for path in (paths[1], *paths[9:])}
    assert found(desk) == found(desk, "other") == {}
    assert desk.by_id(1, tags=["TAG0"])["schemaTags"] == [entity(paths[0], "TAG0", "ALL")]
    removed = [entity(path, "ALL") for path in paths] + [entity(paths[0], "TAG0")]
    desk.take(decide_modify_tags(desk.state, desk.rules, "s", 1, {"newVersion": 2, "tagsToRemove": removed}))
    assert found(desk, "*") == {path: asked[path][:1] for path in paths[1:]}
    assert found(desk, "*", version=1) == asked


def test_tags_are_properties_in_avro() -> None:
    desk = Desk(formats=FORMATS)
    desk.register("s", USER, schemaTagsToAdd=[entity("User", "A"), entity("people.User.email", "PII", "PII")])
    text = json.loads(desk.get("s", 1)["schema"])
    assert text[TAGS] == ["A"]
    assert text["fields"][2] == {"name": "email", "type": "string", TAGS: ["PII"]}


def test_tags_are_options_in_protobuf() -> None:
    desk = Desk(formats=FORMATS)
    desk.register("s", PROTO, schemaType="PROTOBUF", schemaTagsToAdd=[entity(".User.email", "PII")])
    field = desk.get("s", 1)["schema"].split("string email = 2 ")[1].split(";")[0]
    assert " ".join(field.split()) == '[(confluent.field_meta) = { doc: "where to write", tags: [ "PII" ] }]'


def test_tags_that_the_text_has_already() -> None:
    desk = Desk(formats=FORMATS)
    tagged = PROTO.replace('.doc = "where to write"', ' = {tags: "A"}')
    desk.register("s", tagged, schemaType="PROTOBUF")
    assert found(desk, "*") == {"User.email": ["A"]}


def test_a_field_of_a_reference_has_its_tags_too() -> None:
    desk = Desk(formats=FORMATS)
    desk.register("address", {**ADDRESS, TAGS: ["PLACE"]})
    reference = {"name": "places.Address", "subject": "address", "version": 1}
    referring = {**record("User", "home:places.Address"), "namespace": "people"}
    desk.register("s", referring, references=[reference])
    assert found(desk, "*") == {"places.Address": ["PLACE"]}
    tags = [entity("places.Address", "X")]
    said = refusal(desk.register, "s", referring, references=[reference], schemaTagsToAdd=tags)
    assert said[1:] == (
        42201,
        "Invalid schema of type AVRO, details: No matching path 'places.Address' found in the schema",
    )


def test_tags_of_the_version_before_are_propagated() -> None:
    desk = Desk(formats=FORMATS)
    desk.register("s", USER, schemaTagsToAdd=[entity("User.id", "KEY"), entity("User.email", "PII")])
    wider = {**USER, "fields": [USER["fields"][0], {"name": "age", "type": "int", "default": 0}]}  # type: ignore[index]
    answer = desk.register("s", wider, propagateSchemaTags=True)
    assert (answer["version"], found(desk, "*")) == (2, {"people.User.id": ["KEY"]})
    assert desk.register("s", wider, propagateSchemaTags=True)["version"] == 2


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"schemaTagsToAdd": {}}, None),
        ({"schemaTagsToAdd": "x"}, "schemaTagsToAdd: got 'x', takes a list"),
        (
            {"schemaTagsToRemove": ["x"]},
            "schemaTagsToRemove: got 'x', takes objects of schemaEntity and tags",
        ),
        (
            {"schemaTagsToAdd": [{"schemaEntity": {"entityType": "x"}, "tags": []}]},
            "schemaTagsToAdd.entityType: got 'x', takes sr_record or sr_field",
        ),
        (
            {"schemaTagsToAdd": [{"schemaEntity": {"entityType": "sr_field"}, "tags": []}]},
            "schemaTagsToAdd.entityPath: got None, takes a string",
        ),
        ({"schemaTagsToAdd": [entity("User.id", 7)]}, "schemaTagsToAdd.tags: got 7, takes a string"),  # type: ignore[arg-type]
        ({"propagateSchemaTags": "yes"}, "propagateSchemaTags: got 'yes', takes true or false"),
    ],
)
def test_bad_tags(members: dict[str, Any], message: str | None) -> None:
    desk = Desk(formats=FORMATS)
    if message is None:
        assert desk.register("s", USER, **members)["version"] == 1
    else:
        assert refusal(desk.register, "s", USER, **members) == (400, 400, message)


@pytest.mark.parametrize(
    ("schema_type", "schema"), [("AVRO", USER), ("PROTOBUF", PROTO), ("JSON", JSON_USER), ("JSON", True)]
)
def test_a_path_that_leads_nowhere(schema_type: str, schema: Any) -> None:
    desk = Desk(formats=FORMATS)
    tags = [{"schemaEntity": {"entityPath": "no.where", "entityType": "sr_field"}, "tags": ["X"]}]
    assert refusal(desk.register, "s", schema, schemaType=schema_type, schemaTagsToAdd=tags) == (
        422,
        42201,
        f"Invalid schema of type {schema_type}, details: No matching path 'no.where' found in the schema",
    )
    desk.register("s", schema, schemaType=schema_type)
    body = {"tagsToAdd": tags}
    assert refusal(decide_modify_tags, desk.state, desk.rules, "s", "latest", body)[1] == 42201


def test_a_lenient_policy() -> None:
    desk = Desk(formats=FORMATS)
    wider = {**JSON_USER, "properties": {**JSON_USER["properties"], "age": {"type": "integer"}}}  # type: ignore[dict-item]
    desk.register("s", JSON_USER, schemaType="JSON")
    assert refusal(desk.register, "s", wider, schemaType="JSON")[1] == 40901
    desk.set_config("s", compatibilityPolicy="lenient")
    assert desk.config("s")["compatibilityPolicy"] == "LENIENT"
    assert desk.check("s", wider, schemaType="JSON") == {"is_compatible": True}
    assert desk.register("s", wider, schemaType="JSON")["version"] == 2
    assert refusal(desk.set_config, "s", compatibilityPolicy="logical") == (
        422,
        42203,
        "compatibilityPolicy: got logical, takes STRICT, LENIENT",
    )
