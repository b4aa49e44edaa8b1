"""The seven levels over several versions, and the words that say why not. What the formats find is tested with them."""

import json
from typing import Any

import pytest

from penstock.registry.formats import avro
from penstock.registry.formats.schema_format import Incompatibility
from tests.registry.desk import Desk, record, refusal, with_default

A = record("R", "a:int")
AB = record("R", "a:int", with_default("b", "int", 0))
ABC = record("R", "a:int", with_default("b", "int", 0), "c:int")
AC = record("R", "a:int", "c:int")
B = record("R", with_default("b", "int", 0))

ALL = ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE")


@pytest.mark.parametrize(
    ("versions", "new", "allowing"),
    [
        pytest.param([], A, ALL, id="the first version"),
        pytest.param([A], AB, ALL, id="a field with a default"),
        pytest.param([AB], A, ALL, id="without the field that has a default"),
        pytest.param([A], AC, ("NONE", "FORWARD", "FORWARD_TRANSITIVE"), id="a field without a default"),
        pytest.param([AC], A, ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE"), id="a field less"),
        pytest.param([A], B, ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE"), id="another field instead"),
        pytest.param([AC, A], ABC, ("NONE", "FORWARD", "FORWARD_TRANSITIVE"), id="not with the latest"),
        pytest.param(
            [A, AC],
            ABC,
            ("NONE", "BACKWARD", "FORWARD", "FORWARD_TRANSITIVE", "FULL"),
            id="not with the one before the latest",
        ),
        pytest.param([A], '"string"', ("NONE",), id="another type"),
    ],
)
def test_levels(versions: list[Any], new: Any, allowing: tuple[str, ...]) -> None:
    assert {level for level in ALL if _is_compatible(versions, new, level)} == set(allowing)


def _is_compatible(versions: list[Any], new: Any, level: str) -> bool:
    desk = Desk()
    for version in versions:
        desk.register("s", version, force=True)
    desk.set_config("s", compatibility=level)
    compatible: bool = desk.check("s", new)["is_compatible"]
    if compatible:
        desk.register("s", new)
    else:
        assert refusal(desk.register, "s", new)[1] == 40901
    return compatible


def test_words_backward() -> None:
    desk = Desk()
    desk.register("s", A)
    assert desk.check("s", AC, 1, verbose=True) == {
        "is_compatible": False,
        "messages": [
            "{errorType:'READER_FIELD_MISSING_DEFAULT_VALUE', description:'The field 'c' at path '/fields/1' in the "
            "new schema has no default value and is missing in the old schema', additionalInfo:'c'}",
            "{oldSchemaVersion: 1}",
            '{oldSchema: \'{"type":"record","name":"R","fields":[{"name":"a","type":"int"}]}\'}',
            "{validateFields: 'false', compatibility: 'BACKWARD'}",
        ],
    }
    assert desk.check("s", AC, "latest") == {"is_compatible": False}
    assert desk.check("s", AB, "latest", verbose=True) == {"is_compatible": True, "messages": []}


def test_words_forward_name_the_old_schema_as_the_reader() -> None:
    desk = Desk()
    desk.register("s", AC)
    desk.set_config("s", compatibility="FORWARD")
    messages = desk.check("s", A, verbose=True)["messages"]
    assert "in the old schema has no default value and is missing in the new schema" in messages[0]
    assert messages[1] == "{oldSchemaVersion: 1}"
    assert messages[-1] == "{validateFields: 'false', compatibility: 'FORWARD'}"


def test_words_full_say_both_and_show_the_old_schema_once() -> None:
    desk = Desk()
    desk.register("s", A)
    desk.set_config("s", compatibility="FULL")
    messages = desk.check("s", record("R", "c:int"), verbose=True)["messages"]
    assert ["in the old schema has no default" in each for each in messages[:2]] == [True, False]
    assert messages[2] == "{oldSchemaVersion: 1}"
    assert len(messages) == 5
    only_forward = desk.check("s", B, verbose=True)["messages"]
    assert len(only_forward) == 2, "Confluent's shows the old schema with what the new one cannot read"


def test_a_long_schema_is_cut() -> None:
    desk = Desk()
    doc = "x" * 20_000
    desk.register("s", {**A, "doc": doc})
    shown = desk.check("s", AC, verbose=True)["messages"][2]
    assert shown.startswith("{oldSchema: <truncated> '{")
    assert shown.endswith("...'}")
    assert len(shown) < 10_400


class WordFormat:
    """A format whose schemas are words: one reads another that begins like it."""

    schema_type = "JSON"

    def __init__(self, text: str = "") -> None:
        self.text = text

    def parse(self, text: str, references: Any, *, is_new: bool = True) -> "WordFormat":
        return type(self)(text)

    def canonical(self) -> str:
        return self.text

    def normalized(self) -> "WordFormat":
        return self

    def formatted(self, how: str) -> str:
        return self.text

    def incompatibilities_with(
        self, writer: "WordFormat", *, is_lenient: bool = False
    ) -> list[Incompatibility]:
        message = 'Found incompatible change at path: "#/a" in the %s schema, not in the %s schema'
        fits = writer.text.startswith(self.text)
        return [] if fits else [Incompatibility("TYPE_CHANGED", message, "#/a")]


class OtherWordFormat(WordFormat):
    schema_type = "PROTOBUF"


FORMATS = {"AVRO": avro, "JSON": WordFormat(), "PROTOBUF": OtherWordFormat()}


@pytest.mark.parametrize(("schema_type", "closing"), [("JSON", "'}"), ("PROTOBUF", '"}')])
def test_each_format_has_its_quotes(schema_type: str, closing: str) -> None:
    desk = Desk(formats=FORMATS)
    desk.register("s", '"a"', schemaType=schema_type)
    messages = desk.check("s", '"b"', schemaType=schema_type, verbose=True)["messages"]
    assert messages[0] == (
        '{errorType:"TYPE_CHANGED", description:"Found incompatible change at path: "#/a" in the new schema, '
        "not in the old schema" + closing
    )


def test_another_type_of_schema_is_never_compatible() -> None:
    desk = Desk(formats=FORMATS)
    desk.register("s", A)
    assert desk.check("s", '"a"', schemaType="JSON", verbose=True)["messages"] == [
        "Incompatible because of different schema type",
        "{validateFields: 'false', compatibility: 'BACKWARD'}",
    ]


def test_only_versions_of_the_same_group_are_compared() -> None:
    desk = Desk()
    desk.set_config("s", compatibilityGroup="major")
    desk.register("s", A, metadata={"properties": {"major": "1"}})
    assert refusal(desk.register, "s", AC, metadata={"properties": {"major": "1"}})[1] == 40901
    desk.register("s", AC, metadata={"properties": {"major": "2"}})
    desk.register("s", AB, metadata={"properties": {"major": "1"}})
    assert desk.check("s", record("R", "x:int"))["is_compatible"], "no group is a group of its own"


def test_deleted_versions_are_not_compared() -> None:
    desk = Desk()
    desk.register("s", A)
    desk.delete_version("s", 1)
    assert desk.check("s", AC) == {"is_compatible": True}
    assert refusal(desk.check, "s", AC, 1) == (404, 40402, "Version 1 not found.")


def test_the_latest_of_nothing_is_compatible_and_another_version_is_missing() -> None:
    desk = Desk()
    assert desk.check("s", A, "latest") == {"is_compatible": True}
    assert refusal(desk.check, "s", A, 1) == (404, 40402, "Version 1 not found.")
    assert refusal(desk.check, "s", A, "0")[:2] == (422, 42202)


def test_an_invalid_schema_is_a_message_if_messages_are_asked_for() -> None:
    desk = Desk()
    status, code, message = refusal(desk.check, "s", '"longer"')
    assert (status, code) == (422, 42201)
    assert desk.check("s", '"longer"', verbose=True) == {"is_compatible": False, "messages": [message]}
    assert refusal(desk.check, "s", "") == (422, 42201, "Empty schema")


# ---- validateFields ----


def test_reserved_fields_stay_reserved() -> None:
    desk = Desk(validate_fields=True)
    reserved = {"properties": {"confluent:reserved": "x, y"}}
    desk.register("s", A, metadata=reserved)
    messages = desk.check("s", AB, metadata={"properties": {"confluent:reserved": "b,x"}}, verbose=True)[
        "messages"
    ]
    assert messages == [
        "The new schema has reserved field y removed from its metadata which is present in the old schema's metadata.",
        "The new schema has field that conflicts with the reserved field b.",
        "{validateFields: 'true', compatibility: 'BACKWARD'}",
    ]
    desk.set_config("s", validateFields=False)
    assert desk.check("s", AB)["is_compatible"]


def test_names_that_begin_with_dollars_are_refused_in_json_schemas() -> None:
    desk = Desk(formats=FORMATS, validate_fields=True)
    schema = json.dumps({"properties": {"$$a": {}}})
    assert refusal(desk.register, "s", schema, schemaType="JSON") == (
        422,
        42201,
        "Invalid schema of type JSON, details: Field names cannot start with $$ prefix",
    )
