"""`$ref`: inside a schema, to schemas that are named as references, and back to where it stands."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.registry.formats.json_schema import JsonSchema, parse
from penstock.registry.formats.schema_format import InvalidSchema
from tests.registry.formats.json_schema.cases import (
    ALL_DRAFTS,
    BEFORE_2019,
    BEFORE_2020,
    DRAFT_4,
    DRAFT_7,
    DRAFT_2020_12,
    INTEGER,
    MODERN,
    NUMBER,
    SINCE_6,
    STRING,
    Case,
    check,
    each_way,
    obj,
    schema,
)
from tests.support.rows import each_row

SHORT = {**STRING, "maxLength": 3}
LONG = {**STRING, "maxLength": 9}


def with_definition(
    definition: Any, ref: str = "#/definitions/x", where: str = "definitions"
) -> dict[str, Any]:
    return {**obj(a={"$ref": ref}), where: {"x": definition}}


WIDENED = ["MAX_LENGTH_INCREASED #/properties/a/maxLength"]
NARROWED = ["!MAX_LENGTH_DECREASED #/properties/a/maxLength"]

CASES = [
    Case("a definition is widened", with_definition(SHORT), with_definition(LONG), WIDENED, NARROWED),
    Case("a definition takes the place of what it says", obj(a=SHORT), with_definition(SHORT), [], []),
    Case(
        "a definition in $defs",
        with_definition(SHORT, "#/$defs/x", "$defs"),
        with_definition(LONG, "#/$defs/x", "$defs"),
        WIDENED,
        NARROWED,
    ),
    Case(
        "$defs finds what stands in definitions",
        with_definition(SHORT, "#/$defs/x"),
        with_definition(LONG, "#/$defs/x"),
        WIDENED,
        NARROWED,
    ),
    Case(
        "a definition that is itself a reference",
        {**obj(a={"$ref": "#/definitions/x"}), "definitions": {"x": {"$ref": "#/definitions/y"}, "y": SHORT}},
        with_definition(LONG),
        WIDENED,
        NARROWED,
    ),
    Case(
        "a reference to a property, with a space and a slash in its name",
        {**obj(**{"p q/r": SHORT}, a={"$ref": "#/properties/p%20q~1r"})},
        {**obj(**{"p q/r": SHORT}, a={"$ref": "#/properties/p%20q~1r"}, b={})},
        ["PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL #/properties/b"],
        ["PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL #/properties/b"],
    ),
    Case(
        "a reference into a list",
        {
            "anyOf": [SHORT, INTEGER],
            "definitions": {"x": obj(a={"$ref": "#/anyOf/0"})},
            "not": {"$ref": "#/definitions/x"},
        },
        {"anyOf": [SHORT, INTEGER], "not": obj(a=SHORT)},
        ["NOT_TYPE_NARROWED #/allOf/1/not"],
        ["NOT_TYPE_NARROWED #/allOf/1/not"],
    ),
    Case(
        "what stands beside a $ref does not count until draft 7",
        with_definition(SHORT),
        {**obj(a={"$ref": "#/definitions/x", "maxLength": 1, "title": "t"}), "definitions": {"x": SHORT}},
        [],
        [],
        BEFORE_2019,
    ),
    Case(
        "the default beside a $ref counts for what becomes required",
        with_definition(SHORT),
        {**obj("a", a={"$ref": "#/definitions/x", "default": "d"}), "definitions": {"x": SHORT}},
        ["REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED #/required/a"],
        ["REQUIRED_ATTRIBUTE_REMOVED #/required/a"],
    ),
    Case(
        "a part with an id of its own",
        {**obj(a={"$ref": "item.json"}), "definitions": {"x": {"$id": "item.json", **SHORT}}},
        {**obj(a={"$ref": "item.json"}), "definitions": {"x": {"$id": "item.json", **LONG}}},
        WIDENED,
        NARROWED,
        SINCE_6,
    ),
    Case(
        "a part with an id of its own in draft 4",
        {**obj(a={"$ref": "item.json"}), "definitions": {"x": {"id": "item.json", **SHORT}}},
        {**obj(a={"$ref": "item.json"}), "definitions": {"x": {"id": "item.json", **LONG}}},
        WIDENED,
        NARROWED,
        (DRAFT_4,),
    ),
    Case(
        "a part with an id, seen from the id of the whole",
        {
            "$id": "http://acme.test/all.json",
            **obj(a={"$ref": "item.json"}),
            "$defs": {"x": {"$id": "item.json", **SHORT}},
        },
        {
            "$id": "http://acme.test/all.json",
            **obj(a={"$ref": "http://acme.test/item.json"}),
            "$defs": {"x": {"$id": "item.json", **LONG}},
        },
        WIDENED,
        NARROWED,
        MODERN,
    ),
    Case(
        "a pointer from within a part that has an id",
        {
            **obj(a={"$ref": "i.json"}),
            "$defs": {"x": {"$id": "i.json", "$ref": "#/$defs/y", "$defs": {"y": SHORT}}},
        },
        {
            **obj(a={"$ref": "i.json"}),
            "$defs": {"x": {"$id": "i.json", "$ref": "#/$defs/y", "$defs": {"y": LONG}}},
        },
        WIDENED,
        NARROWED,
        MODERN,
    ),
    Case(
        "a name (anchor)",
        {**obj(a={"$ref": "#thing"}), "$defs": {"x": {"$anchor": "thing", **SHORT}}},
        {**obj(a={"$ref": "#thing"}), "$defs": {"x": {"$anchor": "thing", **LONG}}},
        WIDENED,
        NARROWED,
        MODERN,
    ),
    Case(
        "a name until draft 7",
        {**obj(a={"$ref": "#thing"}), "definitions": {"x": {"$id": "#thing", **SHORT}}},
        {**obj(a={"$ref": "#thing"}), "definitions": {"x": {"$id": "#thing", **LONG}}},
        WIDENED,
        NARROWED,
        BEFORE_2019[1:],
    ),
    Case(
        "a dynamic name",
        {**obj(a={"$dynamicRef": "#thing"}), "$defs": {"x": {"$dynamicAnchor": "thing", **SHORT}}},
        {**obj(a={"$dynamicRef": "#thing"}), "$defs": {"x": {"$dynamicAnchor": "thing", **LONG}}},
        WIDENED,
        NARROWED,
        (DRAFT_2020_12,),
    ),
    Case(
        "a schema of a list of itself",
        obj(value=INTEGER, rest={"$ref": "#"}),
        obj(value=NUMBER, rest={"$ref": "#"}),
        ["TYPE_EXTENDED #/properties/value"],
        ["!TYPE_NARROWED #/properties/value", "!TYPE_NARROWED #/properties/rest/properties/value"],
    ),
    Case(
        "a tree, from the root and by $recursiveRef",
        obj(leaf=SHORT, left={"$ref": "#"}),
        obj(leaf=SHORT, left={"$recursiveRef": "#"}),
        [],
        [],
        (MODERN[0],),
    ),
    Case("a schema that is only itself says nothing", {"$ref": "#"}, {"$ref": "#"}, [], []),
    Case(
        "two definitions that lead to each other say nothing",
        {
            "$ref": "#/definitions/x",
            "definitions": {"x": {"$ref": "#/definitions/y"}, "y": {"$ref": "#/definitions/x"}},
        },
        {},
        [],
        [],
    ),
]


@each_way(CASES)
def test_references_inside_a_schema(case: Case, draft: str, way: str) -> None:
    check(case, draft, way)


ADDRESS = obj(street=SHORT)
OTHER_ADDRESS = obj(street=LONG)


def kinds(reader: JsonSchema, writer: JsonSchema) -> list[str]:
    return [f"{one.kind} {one.path}" for one in reader.incompatibilities_with(writer)]


@each_row("draft", ALL_DRAFTS)
@each_row(
    ("root_id", "name", "ref"),
    [
        (None, "address.json", "address.json"),
        (None, "address.json", "./address.json"),
        (None, "address.json", "address.json#"),
        (None, "Address", "Address"),
        (None, "http://acme.test/address.json", "http://acme.test/address.json"),
        ("http://acme.test/schemas/order.json", "address.json", "address.json"),
        ("http://acme.test/schemas/order.json", "address.json", "http://acme.test/schemas/address.json"),
        ("http://acme.test/schemas/order.json", "common/address.json", "common/address.json"),
        ("http://acme.test/schemas/order.json", "../address.json", "../address.json"),
        ("http://acme.test/schemas/order.json", "http://other.test/a.json", "http://other.test/a.json"),
        ("urn:acme:order", "address.json", "address.json"),
    ],
)
def test_a_schema_refers_to_another(draft: str, root_id: str | None, name: str, ref: str) -> None:
    order = obj(to={"$ref": ref})
    if root_id is not None:
        order["id" if draft == DRAFT_4 else "$id"] = root_id
    old, new = (schema(order, draft, {name: address}) for address in (ADDRESS, OTHER_ADDRESS))
    assert kinds(new, old) == []
    assert kinds(old, new) == ["MAX_LENGTH_DECREASED #/properties/to/properties/street/maxLength"]


@pytest.mark.parametrize("draft", ALL_DRAFTS)
def test_a_reference_to_a_part_of_another_schema(draft: str) -> None:
    def order(street: Any) -> JsonSchema:
        common = {"definitions": {"street": street}}
        return schema(obj(to={"$ref": "common.json#/$defs/street"}), draft, {"common.json": common})

    assert kinds(order(LONG), order(SHORT)) == []
    assert kinds(order(SHORT), order(LONG)) == ["MAX_LENGTH_DECREASED #/properties/to/maxLength"]


def test_references_of_references_and_back() -> None:
    def person(street: Any) -> JsonSchema:
        texts = {
            "address.json": obj(street={"$ref": "street.json"}, people={"$ref": "people.json"}),
            "street.json": street,
            "people.json": {"type": "array", "items": {"$ref": "address.json"}},
        }
        return schema(obj(home={"$ref": "address.json"}), DRAFT_7, texts)

    assert kinds(person(LONG), person(SHORT)) == []
    assert kinds(person(SHORT), person(LONG)) == [
        "MAX_LENGTH_DECREASED #/properties/home/properties/street/maxLength",
        "MAX_LENGTH_DECREASED #/properties/home/properties/people/items/properties/street/maxLength",
    ]


def test_a_reference_is_found_under_its_own_id_and_seen_from_it() -> None:
    texts = {
        "address.json": {"$id": "http://acme.test/a/address.json", **obj(street={"$ref": "street.json"})},
        "street.json": SHORT,
    }
    found = schema(obj(to={"$ref": "http://acme.test/a/address.json"}), DRAFT_2020_12, texts)
    plain = schema(obj(to=obj(street=LONG)), DRAFT_2020_12)
    assert kinds(plain, found) == []
    assert kinds(found, plain) == ["MAX_LENGTH_DECREASED #/properties/to/properties/street/maxLength"]


def test_a_reference_of_an_older_draft_keeps_its_draft() -> None:
    """Items as an array are a tuple in draft 7, but nothing in 2020-12."""
    texts = {"pair.json": {"$schema": DRAFT_7, "items": [INTEGER, INTEGER]}}
    new = schema(obj(p={"$ref": "pair.json"}), DRAFT_2020_12, texts)
    old = schema(obj(p={"prefixItems": [NUMBER, INTEGER]}), DRAFT_2020_12)
    assert kinds(new, old) == ["TYPE_NARROWED #/properties/p/items/0"]


@each_row("draft", [DRAFT_4, DRAFT_7, DRAFT_2020_12])
@each_row("meta", [*ALL_DRAFTS, "https://json-schema.org/draft-07/schema"])
def test_meta_schemas_are_always_there(draft: str, meta: str) -> None:
    one, other = (schema(obj(a={"$ref": meta}), draft) for _ in range(2))
    assert kinds(one, other) == []
    assert kinds(schema(obj(a=STRING), draft), one) == ["TYPE_CHANGED #/properties/a"]


@each_row(
    ("ref", "references"),
    [
        ("#/definitions/missing", {}),
        ("#missing", {}),
        ("missing.json", {}),
        ("missing.json", {"other.json": {}}),
        ("other.json#/definitions/x", {"other.json": {}}),
        ("other.json#name", {"other.json": {}}),
        ("http://acme.test/remote.json", {}),
        ("http://json-schema.org/draft-03/nothing", {}),
        ("#/anyOf/7", {}),
        ("#/anyOf/x", {}),
        (f"#/anyOf/{'9' * 5000}", {}),
        ("#/anyOf/-1", {}),
        ("http://[", {}),
        ("//[::1/x#/a", {"//[::1/y": {}}),
    ],
)
@each_row("draft", BEFORE_2020)
def test_a_reference_that_leads_nowhere(draft: str, ref: str, references: dict[str, Any]) -> None:
    with pytest.raises(InvalidSchema, match=r"leads nowhere.*\(at #/properties/a/\$ref\)") as caught:
        schema({**obj(a={"$ref": ref}), "anyOf": [{}]}, draft, references)
    assert json.dumps(ref)[:200] in str(caught.value)


def test_what_is_no_uri_is_a_name() -> None:
    found = schema(
        {**obj(a={"$ref": "http://["}), "definitions": {"x": {"$id": "//["}}}, None, {"http://[": SHORT}
    )
    assert kinds(schema(obj(a=LONG)), found) == []


def test_a_pattern_of_a_reference_that_is_none() -> None:
    with pytest.raises(InvalidSchema, match=r"no regular expression.*\(at p\.json#/patternProperties/\(\)"):
        schema({"$ref": "p.json"}, None, {"p.json": {"patternProperties": {"(": {}}}})


def test_a_reference_that_leads_to_no_schema() -> None:
    with pytest.raises(InvalidSchema, match=r'not "string" \(at #/properties/b/type\)'):
        schema(obj(a={"$ref": "#/properties/b/type"}, b=STRING))


def test_a_reference_whose_text_is_no_json() -> None:
    with pytest.raises(InvalidSchema, match=r"the reference bad.json: line 1, column 2"):
        parse(json.dumps(obj(a={"$ref": "bad.json"})), {"bad.json": "{"})


def tree(children: int, leaf: Any) -> JsonSchema:
    """Definitions that all lead to each other through oneOf: the paths through them are beyond number."""
    names = [f"n{index}" for index in range(children)]
    either = {"oneOf": [{"$ref": f"#/$defs/{name}"} for name in names]}
    definitions: dict[str, Any] = {
        name: obj("tag", tag={"const": name}, leaf=leaf, left=either, right=either) for name in names
    }
    return schema({"$ref": "#/$defs/n0", "$defs": definitions}, DRAFT_2020_12)


def test_many_definitions_that_lead_to_each_other() -> None:
    assert kinds(tree(8, LONG), tree(8, SHORT)) == []
    found = kinds(tree(8, SHORT), tree(8, LONG))
    assert "MAX_LENGTH_DECREASED #/properties/leaf/maxLength" in found
    assert "COMBINED_TYPE_SUBSCHEMAS_CHANGED #/properties/left" in found


def doubling(depth: int, last: Any) -> JsonSchema:
    definitions: dict[str, Any] = {
        f"d{index}": obj(l={"$ref": f"#/definitions/d{index + 1}"}, r={"$ref": f"#/definitions/d{index + 1}"})
        for index in range(depth)
    }
    return schema({"$ref": "#/definitions/d0", "definitions": {**definitions, f"d{depth}": last}})


def test_one_reason_in_more_places_than_can_be_told() -> None:
    """2**60 of them."""
    assert kinds(doubling(60, LONG), doubling(60, SHORT)) == []
    found = kinds(doubling(60, SHORT), doubling(60, LONG))
    assert len(found) == 1000
    assert found[0] == f"MAX_LENGTH_DECREASED #/{'properties/l/' * 60}maxLength"


def test_a_long_chain_of_definitions() -> None:
    def chain(last: Any) -> JsonSchema:
        definitions: dict[str, Any] = {
            f"d{index}": {"items": {"$ref": f"#/definitions/d{index + 1}"}} for index in range(2000)
        }
        return schema({"$ref": "#/definitions/d0", "definitions": {**definitions, "d2000": last}})

    assert kinds(chain(SHORT), chain(INTEGER)) == [f"TYPE_CHANGED #/{'items/' * 1999}items"]


def test_what_was_concluded_from_a_wrong_assumption_is_taken_back() -> None:
    """The branch of `b` is compared while the whole still counts as compatible; only later does `z` break it."""

    def node(z: Any) -> JsonSchema:
        return schema(
            {
                "$ref": "#/definitions/node",
                "definitions": {
                    "node": obj(b={"oneOf": [obj(n={"$ref": "#/definitions/node"}), INTEGER]}, z=z)
                },
            }
        )

    assert kinds(node(LONG), node(SHORT)) == []
    assert kinds(node(SHORT), node(LONG)) == [
        "COMBINED_TYPE_SUBSCHEMAS_CHANGED #/properties/b",
        "MAX_LENGTH_DECREASED #/properties/z/maxLength",
    ]
