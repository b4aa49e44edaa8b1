"""The policy LENIENT: open models are treated as if nobody wrote what their schemas do not name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.registry.formats.json_schema.cases import DRAFT_2020_12, INTEGER, STRING, obj, schema

CLOSED = {"additionalProperties": False}
OF_STRINGS = {"additionalProperties": STRING}
WITH_DEFAULT = {**STRING, "default": "x"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(obj(a=STRING), obj(a=STRING, b=STRING), id="a property is added to an open model"),
        pytest.param(obj(), obj("b", b=WITH_DEFAULT), id="a required property with a default is added"),
        pytest.param(
            obj(a=STRING, b=STRING, _more=CLOSED),
            obj(a=STRING, _more=CLOSED),
            id="one is removed from a closed model",
        ),
        pytest.param(obj(a=STRING), obj(a=STRING, _more=CLOSED), id="a model is closed"),
        pytest.param(obj(a=STRING), obj(a=STRING, _more=OF_STRINGS), id="other properties get a schema"),
        pytest.param(
            obj(a=STRING),
            obj(a=STRING, _more={"unevaluatedProperties": False}),
            id="the unevaluated are refused",
        ),
        pytest.param(
            {"oneOf": [obj(a=STRING)]}, {"oneOf": [obj(a=STRING, b=STRING)]}, id="inside of alternatives"
        ),
    ],
)
def test_what_only_the_lenient_policy_takes(old: Any, new: Any) -> None:
    writer, reader = schema(old, DRAFT_2020_12), schema(new, DRAFT_2020_12)
    assert reader.incompatibilities_with(writer)
    assert reader.incompatibilities_with(writer, is_lenient=True) == []


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (obj(a=STRING), obj("b", b=STRING), "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL"),
        (
            obj(_more=CLOSED),
            obj("b", b=STRING, _more=CLOSED),
            "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL",
        ),
        (obj(a=STRING), obj("a", a=STRING), "REQUIRED_ATTRIBUTE_ADDED"),
        (obj(a=STRING), obj(a=INTEGER), "TYPE_CHANGED"),
        ({"type": "array"}, {"items": [STRING]}, "ITEM_ADDED_TO_OPEN_CONTENT_MODEL"),
    ],
)
def test_what_no_policy_takes(old: Any, new: Any, kind: str) -> None:
    told = schema(new).incompatibilities_with(schema(old), is_lenient=True)
    assert [one.kind for one in told] == [kind]
