"""Which texts are schemas, what is said of the others, and the forms that a schema is kept in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock.registry.formats.json_schema import parse
from penstock.registry.formats.json_schema.drafts import (
    DRAFT_4,
    DRAFT_6,
    DRAFT_7,
    DRAFT_2019_09,
    DRAFT_2020_12,
    Draft,
    draft_of,
)
from penstock.registry.formats.json_schema.patterns import compiled
from penstock.registry.formats.schema_format import InvalidSchema
from tests.registry.formats.json_schema import cases
from tests.support.rows import each_row


@each_row(
    ("text", "said"),
    [
        ("", "line 1, column 1"),
        ("{", "line 1, column 2"),
        ('{"type": "object",}', "line 1, column 19"),
        ('{\n  "type": string\n}', "line 2, column 11"),
        ('{"type": "string"} {}', "line 1, column 20: Extra data"),
        ("[]", r"a schema is an object or a boolean, not \[\] \(at #\)"),
        ('"string"', r'a schema is an object or a boolean, not "string" \(at #\)'),
        ("17", r"a schema is an object or a boolean, not 17 \(at #\)"),
        ("null", r"a schema is an object or a boolean, not null \(at #\)"),
        ('{"maximum": NaN}', "NaN is no JSON number"),
        ('{"maximum": -Infinity}', "-Infinity is no JSON number"),
        ('{"maximum": 1e99999999999999999999}', "the exponent of 1e99999999999999999999 is too large"),
        ('{"title": "\\ud800"}', "half of a surrogate pair"),
        (f'{{"maximum": {"9" * 5000}}}', "digits"),
        ('{"items": ' * 201 + "{}" + "}" * 201, r"nested too deeply \(at most 200 levels\)"),
        ("[" * 100000 + "]" * 100000, "nested too deeply"),
    ],
)
@each_row("is_new", [True, False])
def test_texts_that_are_no_schemas(text: str, said: str, is_new: bool) -> None:
    with pytest.raises(InvalidSchema, match=said):
        parse(text, {}, is_new=is_new)


@each_row(
    ("schema", "said"),
    [
        ({"type": "strin"}, 'got "strin", takes one of array, boolean,.* (at #/type)'),
        ({"type": ["string", "string"]}, 'got ["string","string"], takes one of.* (at #/type)'),
        ({"type": []}, "got [], takes one of.* (at #/type)"),
        ({"properties": {"a": {"type": 5}}}, "got 5, takes one of.* (at #/properties/a/type)"),
        (
            {"properties": {"a": "string"}},
            'a schema is an object or a boolean, not "string" (at #/properties/a)',
        ),
        ({"properties": []}, "got [], takes an object (at #/properties)"),
        ({"properties": {"a/b~": 1}}, "not 1 (at #/properties/a~1b~0)"),
        ({"maxLength": -1}, "got -1, takes an integer of at least 0 (at #/maxLength)"),
        ({"maxLength": 1.5}, "got 1.5, takes an integer of at least 0 (at #/maxLength)"),
        ({"maxLength": True}, "got true, takes an integer of at least 0 (at #/maxLength)"),
        ({"minItems": "1"}, 'got "1", takes an integer of at least 0 (at #/minItems)'),
        ({"maximum": "1"}, 'got "1", takes a number (at #/maximum)'),
        ({"multipleOf": 0}, "got 0, takes a number above 0 (at #/multipleOf)"),
        ({"required": "a"}, 'got "a", takes an array of different names (at #/required)'),
        ({"required": ["a", "a"]}, "takes an array of different names (at #/required)"),
        ({"required": True}, "takes an array of different names (at #/required)"),
        ({"uniqueItems": "yes"}, 'got "yes", takes true or false (at #/uniqueItems)'),
        ({"enum": "a"}, 'got "a", takes an array (at #/enum)'),
        ({"title": 1}, "got 1, takes a string (at #/title)"),
        ({"pattern": "("}, r'"(" is no regular expression: .* (at #/pattern)'),
        ({"pattern": 1}, "takes a regular expression (at #/pattern)"),
        ({"patternProperties": {"[": {}}}, "is no regular expression: .* (at #/patternProperties/[)"),
        ({"anyOf": []}, "got [], takes an array of schemas, at least one (at #/anyOf)"),
        ({"anyOf": {}}, "got {}, takes an array of schemas, at least one (at #/anyOf)"),
        ({"allOf": [{}, {"oneOf": [3]}]}, "not 3 (at #/allOf/1/oneOf/0)"),
        ({"not": 1}, "not 1 (at #/not)"),
        ({"items": [{}, 7]}, "not 7 (at #/items/1)"),
        ({"dependencies": {"a": ["b", 2]}}, "takes an array of different names (at #/dependencies/a)"),
        ({"definitions": {"a": {"minLength": "x"}}}, "(at #/definitions/a/minLength)"),
        ({"$ref": 5}, "got 5, takes a string (at #/$ref)"),
        ({"default": 1, "if": 2}, "not 2 (at #/if)"),
        ({"title": "x" * 500 + "y", "type": "x" * 500}, f'got "{"x" * 199}..., takes'),
    ],
)
def test_schemas_that_their_draft_refuses(schema: Any, said: str) -> None:
    with pytest.raises(InvalidSchema) as caught:
        parse(json.dumps(schema), {})
    for part in said.split(".*"):
        assert part in str(caught.value)


@each_row(
    ("draft", "schema", "place"),
    [
        (cases.DRAFT_4, {"exclusiveMaximum": 3, "maximum": 3}, "#/exclusiveMaximum"),
        (cases.DRAFT_4, {"exclusiveMaximum": True}, "#/exclusiveMaximum"),
        (cases.DRAFT_4, {"properties": {"a": True}}, "#/properties/a"),
        (cases.DRAFT_4, {"required": []}, "#/required"),
        (cases.DRAFT_4, {"enum": []}, "#/enum"),
        (cases.DRAFT_4, {"enum": [1, 1.0]}, "#/enum"),
        (cases.DRAFT_4, {"dependencies": {"a": []}}, "#/dependencies/a"),
        (cases.DRAFT_6, {"exclusiveMaximum": True, "maximum": 3}, "#/exclusiveMaximum"),
        (cases.DRAFT_2019_09, {"$id": "a#b"}, "#/$id"),
        (cases.DRAFT_2019_09, {"$anchor": "1"}, "#/$anchor"),
        (cases.DRAFT_2019_09, {"dependentRequired": {"a": "b"}}, "#/dependentRequired/a"),
        (cases.DRAFT_2019_09, {"dependentSchemas": {"a": ["b"]}}, "#/dependentSchemas/a"),
        (cases.DRAFT_2019_09, {"unevaluatedProperties": 1}, "#/unevaluatedProperties"),
        (cases.DRAFT_2020_12, {"items": [{}]}, "#/items"),
        (cases.DRAFT_2020_12, {"prefixItems": {}}, "#/prefixItems"),
        (cases.DRAFT_2020_12, {"$anchor": "a:b"}, "#/$anchor"),
        (cases.DRAFT_2020_12, {"$vocabulary": {"a": 1}}, "#/$vocabulary/a"),
        (cases.DRAFT_2020_12, {"minContains": -1}, "#/minContains"),
    ],
)
def test_what_one_draft_refuses(draft: str, schema: dict[str, Any], place: str) -> None:
    text = json.dumps({"$schema": draft, **schema})
    with pytest.raises(InvalidSchema) as caught:
        parse(text, {})
    assert str(caught.value).endswith(f"(at {place})")
    assert parse(text, {}, is_new=False).canonical() == text.replace(", ", ",").replace(": ", ":")


@pytest.mark.parametrize(
    ("pattern", "matches", "not_this"),
    [
        (r"^\p{L}+$", "name", "na me"),
        (r"^\P{L}+$", "--", "na"),
        (r"^(?<year>\d{4})-\k<year>$".replace(r"\k<year>", r"\1"), "2024-2024", "2024-2025"),
        (r"^\u0041\cJ$", "A\n", "AJ"),
        (r"^\u{1F600}\x{41}$", "\U0001f600A", "A"),
        (r"^[\w-]+\/x$", "a-b/x", "a b/x"),
        (r"^a\z", "a", "ab"),
        (r"^(?=a).b*$", "ab", "bb"),
        (r"(?<!a)b", "cb", "ab"),
        (r"^\Qa.b\E+$", "a.bb", "axb"),
        (r"^\Qa.b", "a.b", "axb"),
        (r"^(?i)ab$", "AB", "AC"),
        (r"^[[a-c]&&x]+$", "a&&x]", "a"),
        (r"^\$\[\\p$", "$[\\p", "$["),
    ],
)
def test_regular_expressions_of_other_languages(pattern: str, matches: str, not_this: str) -> None:
    assert parse(json.dumps({"pattern": pattern, "patternProperties": {pattern: {}}}), {})
    assert compiled(pattern).search(matches)
    assert not compiled(pattern).search(not_this)


@pytest.mark.parametrize(
    ("named", "draft"),
    [
        ("http://json-schema.org/draft-04/schema#", DRAFT_4),
        ("http://json-schema.org/draft-04/schema", DRAFT_4),
        ("http://json-schema.org/schema#", DRAFT_4),
        ("https://json-schema.org/draft-06/schema#", DRAFT_6),
        ("http://json-schema.org/draft-07/schema#", DRAFT_7),
        ("https://json-schema.org/draft-07/schema", DRAFT_7),
        ("http://json-schema.org/draft/2019-09/schema#", DRAFT_2019_09),
        ("https://json-schema.org/draft/2019-09/schema", DRAFT_2019_09),
        ("http://json-schema.org/draft/2020-12/schema", DRAFT_2020_12),
        ("https://json-schema.org/draft/2020-12/schema#", DRAFT_2020_12),
        ("http://json-schema.org/draft-03/schema#", DRAFT_7),
        ("http://acme.test/my-own", DRAFT_7),
        (None, DRAFT_7),
        (5, DRAFT_7),
    ],
)
def test_the_draft_of_a_schema(named: Any, draft: Draft) -> None:
    assert draft_of({} if named is None else {"$schema": named}) is draft


def test_a_boolean_is_a_schema_of_draft_7() -> None:
    assert draft_of(True) is DRAFT_7
    assert [parse(text, {}).canonical() for text in ("true", " false ")] == ["true", "false"]


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (
            '{ "type" : "object",\n "properties": {"b": {}, "a": true} }',
            '{"type":"object","properties":{"b":{},"a":true}}',
        ),
        ('{"maximum": 1.50}', '{"maximum":1.50}'),
        ('{"maximum": 1e2}', '{"maximum":1E+2}'),
        ('{"maximum": 1.0E-10}', '{"maximum":1.0E-10}'),
        ('{"maximum": 0.00001}', '{"maximum":0.00001}'),
        ('{"maximum": -0.0}', '{"maximum":0.0}'),
        ('{"maximum": 123456789012345678901234567890}', '{"maximum":123456789012345678901234567890}'),
        (
            '{"maximum": 0.1234567890123456789012345678901234567890}',
            '{"maximum":0.1234567890123456789012345678901234567890}',
        ),
        ('{"default": null, "enum": [true, false, [], {}]}', '{"default":null,"enum":[true,false,[],{}]}'),
        ('{"title": "\\u00e9 \\/ \\" \\\\ \\n \\u0001"}', '{"title":"é / \\" \\\\ \\n \\u0001"}'),
        ('{"title": "\\ud83d\\ude00"}', '{"title":"😀"}'),
        ('{"title": "a", "title": "b"}', '{"title":"b"}'),
        ('{"x-own": 1, "$comment": "kept"}', '{"x-own":1,"$comment":"kept"}'),
    ],
)
def test_the_canonical_form_is_the_text_without_its_spaces(text: str, canonical: str) -> None:
    schema = parse(text, {})
    assert schema.canonical() == canonical
    assert parse(canonical, {}).canonical() == canonical
    assert schema.formatted("resolved") == schema.formatted("") == canonical


@pytest.mark.parametrize(
    ("text", "normalized"),
    [
        (
            '{"type": "object", "properties": {"b": {"type": "string", "maxLength": 1.0}, "a": {}}}',
            '{"properties":{"a":{},"b":{"maxLength":1.0,"type":"string"}},"type":"object"}',
        ),
        (
            '{"required": ["b", "a"], "enum": [{"z": 1, "y": 2}]}',
            '{"enum":[{"y":2,"z":1}],"required":["b","a"]}',
        ),
        ('{"title": "t", "$id": "i", "B": 1, "a": 2}', '{"$id":"i","B":1,"a":2,"title":"t"}'),
        ('{"\\uff01": 1, "\\ud83d\\ude00": 2}', '{"😀":2,"！":1}'),  # by UTF-16, as Java sorts
        ("true", "true"),
    ],
)
def test_the_normalized_form_has_its_keys_in_order(text: str, normalized: str) -> None:
    schema = parse(text, {})
    assert schema.normalized().canonical() == normalized
    assert schema.normalized().normalized().canonical() == normalized
    assert schema.canonical() != normalized or text == "true"


def test_a_normalized_schema_keeps_its_references() -> None:
    schema = cases.schema({"$ref": "a.json", "$comment": ""}, None, {"a.json": {"maxLength": 3}})
    other = cases.schema({"maxLength": 4})
    assert [one.kind for one in schema.normalized().incompatibilities_with(other)] == ["MAX_LENGTH_DECREASED"]


@pytest.mark.parametrize(
    "nonsense",
    [
        {"type": "any"},
        {"type": 5},
        {"type": [{}]},
        {"$ref": "gone.json"},
        {"$ref": "#/definitions/gone"},
        {"$ref": 5},
        {"$ref": "#/required"},
        "string",
        None,
        [],
        {"$ref": "bad.json"},
    ],
)
def test_an_old_schema_says_nothing_where_it_makes_no_sense(nonsense: Any) -> None:
    text = json.dumps({**cases.obj(a=nonsense, b={"type": "string", "maxLength": "x"}), "required": True})
    with pytest.raises(InvalidSchema):
        parse(text, {"bad.json": "{"})
    old = parse(text, {"bad.json": "{"}, is_new=False)
    new = cases.schema(cases.obj(a={"type": "integer"}, b={"type": "string"}))
    assert [(one.kind, one.path) for one in new.incompatibilities_with(old)] == [
        ("TYPE_CHANGED", "#/properties/a")
    ]
    assert old.incompatibilities_with(new) == []


def test_an_old_pattern_that_is_none_says_nothing() -> None:
    old = parse(
        '{"patternProperties": {"(": {"type": "string"}}, "additionalProperties": false}', {}, is_new=False
    )
    new = cases.schema(cases.obj(**{"(": {"type": "integer"}}))
    assert new.incompatibilities_with(old) == []


def test_an_old_schema_that_is_nested_too_deeply_says_nothing() -> None:
    """Within the limit for JSON, but with more schemas in schemas than can be built."""
    text = nested(101, "{}")
    with pytest.raises(InvalidSchema, match=r"nested too deeply \(at most 100 schemas in each other\)"):
        parse(text, {})
    assert parse(text, {}, is_new=False).incompatibilities_with(cases.schema(True)) == []


def test_as_many_schemas_in_schemas_as_there_may_be_can_be_compared() -> None:
    old, new = (parse(nested(100, json.dumps({"type": kind})), {}) for kind in ("string", "integer"))
    assert len(new.incompatibilities_with(old)) == 1


def nested(depth: int, innermost: str) -> str:
    """`depth` schemas in each other."""
    return '{"type":"array","items":' * (depth - 1) + innermost + "}" * (depth - 1)


def test_messages_name_the_place_for_both_schemas() -> None:
    old = cases.schema(cases.obj(**{"100%": {"type": "string"}}))
    new = cases.schema(cases.obj(**{"100%": {"type": "string", "maxLength": 3}}))
    (told,) = new.incompatibilities_with(old)
    assert told.message.replace("%s", "new", 1).replace("%s", "old", 1) == (
        "The keyword at path '#/properties/100%/maxLength' in the new schema is not present in the old schema"
    )
