"""The drafts of JSON Schema: which keywords each knows, and the shape that its meta-schema wants of their values.

A table instead of the meta-schemas themselves, because validation against those costs milliseconds for each schema; the
tests hold the table against the meta-schemas. Confluent's registry takes a schema without `$schema`, or with one that
is nobody's draft, as draft 7.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_ANNOTATIONS = {"$schema": "string", "title": "string", "description": "string", "format": "string"}
_SHARED = {
    **_ANNOTATIONS,
    "multipleOf": "positive number",
    "maximum": "number",
    "minimum": "number",
    "maxLength": "size",
    "minLength": "size",
    "pattern": "pattern",
    "maxItems": "size",
    "minItems": "size",
    "uniqueItems": "boolean",
    "maxProperties": "size",
    "minProperties": "size",
    "properties": "schemas by name",
    "patternProperties": "schemas by pattern",
    "definitions": "schemas by name",
    "dependencies": "dependencies",
    "additionalProperties": "schema",
    "type": "type",
    "allOf": "schemas",
    "anyOf": "schemas",
    "oneOf": "schemas",
    "not": "schema",
}
_DRAFT_4 = {
    **_SHARED,
    "id": "string",
    "exclusiveMaximum": "boolean",
    "exclusiveMinimum": "boolean",
    "additionalItems": "schema or boolean",
    "additionalProperties": "schema or boolean",
    "items": "schema or schemas",
    "required": "names, at least one",
    "dependencies": "dependencies, not empty",
    "enum": "distinct values",
}
_DRAFT_6 = {
    **_SHARED,
    "$id": "string",
    "$ref": "string",
    "examples": "array",
    "exclusiveMaximum": "number",
    "exclusiveMinimum": "number",
    "additionalItems": "schema",
    "items": "schema or schemas",
    "contains": "schema",
    "propertyNames": "schema",
    "required": "names",
    "enum": "array",
}
_DRAFT_7 = {
    **_DRAFT_6,
    "$comment": "string",
    "readOnly": "boolean",
    "contentMediaType": "string",
    "contentEncoding": "string",
    "if": "schema",
    "then": "schema",
    "else": "schema",
}
_DRAFT_2019_09 = {
    **_DRAFT_7,
    "$id": "id",
    "$anchor": "anchor with colons",
    "$recursiveRef": "string",
    "$recursiveAnchor": "boolean",
    "$vocabulary": "booleans by name",
    "$defs": "schemas by name",
    "writeOnly": "boolean",
    "deprecated": "boolean",
    "contentSchema": "schema",
    "unevaluatedItems": "schema",
    "unevaluatedProperties": "schema",
    "dependentSchemas": "schemas by name",
    "dependentRequired": "names by name",
    "maxContains": "size",
    "minContains": "size",
}
_DRAFT_2020_12 = {
    **{keyword: shape for keyword, shape in _DRAFT_2019_09.items() if keyword != "additionalItems"},
    "$anchor": "anchor",
    "$dynamicRef": "string",
    "$dynamicAnchor": "anchor",
    "$recursiveAnchor": "anchor",
    "prefixItems": "schemas",
    "items": "schema",
}

_OBJECT = (
    "properties",
    "required",
    "minProperties",
    "maxProperties",
    "patternProperties",
    "additionalProperties",
)
_ARRAY = ("items", "minItems", "maxItems", "uniqueItems")
_NUMBER = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")
_STRING = ("minLength", "maxLength", "pattern")
_BEFORE_2019 = {"number": _NUMBER, "string": (*_STRING, "format")}
_DRAFT_4_GROUPS = {
    "array": (*_ARRAY, "additionalItems"),
    "object": (*_OBJECT, "dependencies"),
    **_BEFORE_2019,
}
_DRAFT_6_GROUPS = {
    "array": (*_ARRAY, "additionalItems", "contains"),
    "object": (*_OBJECT, "dependencies", "propertyNames"),
    **_BEFORE_2019,
}
_MODERN_OBJECT = (*_OBJECT, "propertyNames", "dependentRequired", "dependentSchemas", "unevaluatedProperties")
_DRAFT_2019_09_GROUPS = {
    "array": (*_ARRAY, "additionalItems", "contains", "unevaluatedItems"),
    "object": _MODERN_OBJECT,
    "number": _NUMBER,
    "string": _STRING,
}
_DRAFT_2020_12_GROUPS = {
    **_DRAFT_2019_09_GROUPS,
    "array": (*_ARRAY, "prefixItems", "contains", "unevaluatedItems"),
}


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    uri: str
    """As the libraries name it."""
    shapes: Mapping[str, str]
    groups: Mapping[str, tuple[str, ...]]
    """The keywords that speak of arrays, objects, numbers and strings; they make a schema one of that type."""
    id_keyword: str = "$id"
    has_const: bool = True
    has_conditions: bool = True
    has_boolean_schemas: bool = True
    needs: Mapping[str, str] = field(default_factory=dict)
    """Keywords that are nothing without another one."""
    is_modern: bool = False
    """Since 2019-09 a `$ref` has neighbours, and there are unevaluated properties and items."""


DRAFT_4 = Draft(
    "http://json-schema.org/draft-04/schema#",
    _DRAFT_4,
    _DRAFT_4_GROUPS,
    id_keyword="id",
    has_const=False,
    has_conditions=False,
    has_boolean_schemas=False,
    needs={"exclusiveMaximum": "maximum", "exclusiveMinimum": "minimum"},
)
DRAFT_6 = Draft("http://json-schema.org/draft-06/schema#", _DRAFT_6, _DRAFT_6_GROUPS, has_conditions=False)
DRAFT_7 = Draft("http://json-schema.org/draft-07/schema#", _DRAFT_7, _DRAFT_6_GROUPS)
DRAFT_2019_09 = Draft(
    "https://json-schema.org/draft/2019-09/schema", _DRAFT_2019_09, _DRAFT_2019_09_GROUPS, is_modern=True
)
DRAFT_2020_12 = Draft(
    "https://json-schema.org/draft/2020-12/schema", _DRAFT_2020_12, _DRAFT_2020_12_GROUPS, is_modern=True
)
DRAFTS = (DRAFT_4, DRAFT_6, DRAFT_7, DRAFT_2019_09, DRAFT_2020_12)
_BY_NAME = {draft.uri.partition("://")[2].rstrip("#"): draft for draft in DRAFTS} | {
    "json-schema.org/schema": DRAFT_4
}


def draft_of(document: Any, otherwise: Draft = DRAFT_7) -> Draft:
    """By `$schema`, with http or https, with an empty fragment or without."""
    named = document.get("$schema") if isinstance(document, dict) else None
    if not isinstance(named, str):
        return otherwise
    scheme, _, name = named.partition("://")
    return _BY_NAME.get(name.removesuffix("#"), otherwise) if scheme in ("http", "https") else otherwise
