"""The table of keywords says of a schema what the meta-schema of its draft says of it."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.registry.formats.json_schema.checks import check
from penstock.registry.formats.json_schema.drafts import (
    DRAFT_4,
    DRAFT_6,
    DRAFT_7,
    DRAFT_2019_09,
    DRAFT_2020_12,
    DRAFTS,
    Draft,
)
from penstock.registry.formats.json_schema.text import parse_json
from penstock.registry.formats.schema_format import InvalidSchema
from tests.support.examples import examples
from tests.support.rows import each_row

VALIDATORS = {
    DRAFT_4: jsonschema.Draft4Validator,
    DRAFT_6: jsonschema.Draft6Validator,
    DRAFT_7: jsonschema.Draft7Validator,
    DRAFT_2019_09: jsonschema.Draft201909Validator,
    DRAFT_2020_12: jsonschema.Draft202012Validator,
}
META = {draft: validator(validator.META_SCHEMA) for draft, validator in VALIDATORS.items()}
KEYWORDS = sorted({keyword for draft in DRAFTS for keyword in draft.shapes} | {"const", "default", "x-own"})

VALUES = [
    *(None, True, False, 0, 1, -1, 3, 1.5, -0.5, "", "string", "object", "a#b", "#a", "a:b", "_a", "nope"),
    *([], ["string"], ["string", "null"], ["string", "string"], ["a", 1], [1, 1], [{}], [True], [{}, 1]),
    *({}, {"a": {}}, {"a": True}, {"a": 1}, {"a": []}, {"a": ["b"]}, {"a": ["b", "b"]}, {"a": ["b", 1]}),
    *({"type": "string"}, {"type": "nope"}, {"a": {"type": "nope"}}, [{"type": "nope"}], {"minLength": 1}),
]


def is_valid(schema: Any, draft: Draft) -> bool:
    try:
        check(parse_json(json.dumps(schema)), draft)
    except InvalidSchema:
        return False
    return True


@each_row("draft", DRAFTS, lambda draft: draft.uri.rstrip("#").split("/")[-2])
@each_row("keyword", KEYWORDS)
def test_every_keyword(draft: Draft, keyword: str) -> None:
    for value in VALUES:
        for schema in ({keyword: value}, {"not": {keyword: value}}):
            assert is_valid(schema, draft) == META[draft].is_valid(schema), schema


@each_row("draft", DRAFTS, lambda draft: draft.uri.rstrip("#").split("/")[-2])
@each_row("schema", VALUES, json.dumps)
def test_whole_schemas(draft: Draft, schema: Any) -> None:
    assert is_valid(schema, draft) == META[draft].is_valid(schema)


@given(
    st.sampled_from([DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2020_12]),
    st.recursive(
        st.sampled_from(VALUES),
        lambda inner: (
            st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=3) | st.lists(inner, max_size=2)
        ),
        max_leaves=6,
    ),
)
@settings(max_examples=examples(300), deadline=None)
def test_nested_schemas(draft: Draft, schema: Any) -> None:
    assert is_valid(schema, draft) == META[draft].is_valid(schema)
