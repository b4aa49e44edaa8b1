"""From the JSON of a schema to its nodes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from typing import Any

from penstock.registry.formats.json_schema.checks import fault, pointer
from penstock.registry.formats.json_schema.model import (
    Anything,
    Array,
    Boolean,
    Combined,
    Conditional,
    Constant,
    Enumeration,
    Node,
    Not,
    Nothing,
    Null,
    Number,
    Object,
    Ref,
    Text,
)
from penstock.registry.formats.json_schema.patterns import compiled
from penstock.registry.formats.json_schema.references import References, Scope
from penstock.registry.formats.json_schema.text import fingerprint, shown
from penstock.registry.formats.schema_format import InvalidSchema

CRITERIA = ("allOf", "anyOf", "oneOf")
_REFS = ("$ref", "$dynamicRef", "$recursiveRef")
_GROUP_OF_TYPE = {"integer": "number"}
_TEXT_LIMITS = ("maxLength", "minLength")
_NUMBER_LIMITS = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum")
_OBJECT_LIMITS = ("maxProperties", "minProperties")
_ARRAY_LIMITS = ("maxItems", "minItems")

MAX_DEPTH = 100
"""Of schemas in schemas: as many as can be built and compared, wherever in the program that is done."""

Schema = Mapping[str, Any]


class _TooDeep(Exception):
    pass


def build(references: References, *, is_strict: bool) -> Node:
    """What makes no sense is refused or, if it is not strict, says nothing."""
    try:
        return _Builder(references, is_strict).whole()
    except (_TooDeep, RecursionError) as error:
        if is_strict:
            raise InvalidSchema(
                f"the schema is nested too deeply (at most {MAX_DEPTH} schemas in each other)"
            ) from error
        return Anything()


class _Builder:
    """One node for each schema object, however many references lead to it."""

    def __init__(self, references: References, is_strict: bool) -> None:
        self._references = references
        self._is_strict = is_strict
        self._nodes: dict[int, Node] = {}
        self._depth = 0
        self._loose: list[tuple[Ref, str, Scope, str]] = []

    def whole(self) -> Node:
        scope = self._references.root
        root = self._node(scope.root, scope, "#")
        while self._loose:
            self._tie(*self._loose.pop())
        return root

    def _nonsense(self, place: str, why: str) -> Node:
        if self._is_strict:
            raise fault(place, why)
        return Anything()

    def _tie(self, ref: Ref, wanted: str, scope: Scope, place: str) -> None:
        found = self._references.lookup(wanted, scope)
        if found is not None:
            ref.target = self._node(found.schema, found.scope, wanted if "#" in wanted else f"{wanted}#")
        else:
            why = f"{shown(wanted)} leads nowhere: it is neither in the schema nor among its references"
            ref.target = self._nonsense(place, why)

    def _node(self, schema: Any, outer: Scope, place: str) -> Node:
        if isinstance(schema, bool):
            return Anything() if schema else Nothing()
        if not isinstance(schema, dict):
            return self._nonsense(place, f"a schema is an object or a boolean, not {shown(schema)}")
        if id(schema) not in self._nodes:
            self._depth += 1
            if self._depth > MAX_DEPTH:
                raise _TooDeep
            self._nodes[id(schema)] = self._combined(schema, outer.inside(schema), place)
            self._depth -= 1
        return self._nodes[id(schema)]

    def _combined(self, schema: Schema, scope: Scope, place: str) -> Node:
        parts = list(self._parts(schema, scope, place))
        if not parts:
            return Anything(annotations=_annotations(schema, scope))
        whole = parts[0] if len(parts) == 1 else Combined(criterion="allOf", parts=parts)
        whole.annotations = _annotations(schema, scope)
        return whole

    def _parts(self, schema: Schema, scope: Scope, place: str) -> Iterator[Node]:
        yield from self._refs(schema, scope, place)
        if "$ref" in schema and not scope.draft.is_modern:
            return
        if isinstance(schema.get("enum"), list):
            yield Enumeration(values=frozenset(map(fingerprint, schema["enum"])))
        for criterion in CRITERIA:
            if isinstance(schema.get(criterion), list):
                yield self._combination(criterion, schema, scope, place)
        if "not" in schema:
            yield Not(part=self._node(schema["not"], scope, f"{place}/not"))
        if "const" in schema and scope.draft.has_const:
            yield Constant(value=fingerprint(schema["const"]))
        yield from self._typed_parts(schema, scope, place)
        if scope.draft.has_conditions and not schema.keys().isdisjoint(("if", "then", "else")):
            yield self._conditional(schema, scope, place)

    def _refs(self, schema: Schema, scope: Scope, place: str) -> Iterator[Node]:
        for keyword in _REFS:
            if keyword in schema and (keyword == "$ref" or keyword in scope.draft.shapes):
                yield self._ref(schema[keyword], scope, f"{place}/{keyword}")

    def _ref(self, wanted: Any, scope: Scope, place: str) -> Node:
        if not isinstance(wanted, str):
            return self._nonsense(place, f"got {shown(wanted)}, takes a string")
        ref = Ref()
        self._loose.append((ref, wanted, scope, place))
        return ref

    def _combination(self, criterion: str, schema: Schema, scope: Scope, place: str) -> Node:
        """Without the parts that are there twice."""
        parts: dict[str, Node] = {}
        for index, part in enumerate(schema[criterion]):
            parts.setdefault(fingerprint(part), self._node(part, scope, f"{place}/{criterion}/{index}"))
        return Combined(criterion=criterion, parts=list(parts.values()))

    def _conditional(self, schema: Schema, scope: Scope, place: str) -> Node:
        for keyword in ("if", "then", "else"):
            if keyword in schema:
                self._node(schema[keyword], scope, f"{place}/{keyword}")
        return Conditional()

    def _typed_parts(self, schema: Schema, scope: Scope, place: str) -> Iterator[Node]:
        """The types that are named, and those that are only spoken of, as strings are by `maxLength`."""
        named = schema.get("type", [])
        types = named if isinstance(named, list) else [named]
        typed = [self._typed(name, schema, scope, place) for name in types]
        if typed:
            yield typed[0] if named == types[0] else Combined(criterion="anyOf", parts=typed)
        spoken_for = {_GROUP_OF_TYPE.get(name, name) for name in types if isinstance(name, str)}
        for group, keywords in scope.draft.groups.items():
            if group not in spoken_for and not schema.keys().isdisjoint(keywords):
                yield self._typed(group, schema, scope, place)

    def _typed(self, name: Any, schema: Schema, scope: Scope, place: str) -> Node:
        make = _TYPED.get(name) if isinstance(name, str) else None
        if make is None:
            return self._nonsense(f"{place}/type", f"unknown type: {shown(name)}")
        return make(self, schema, scope, place)

    def _text(self, schema: Schema, _scope: Scope, _place: str) -> Node:
        pattern = schema.get("pattern")
        return Text(
            limits=_limits(schema, _TEXT_LIMITS), pattern=pattern if isinstance(pattern, str) else None
        )

    def _number(self, schema: Schema, _scope: Scope, _place: str) -> Number:
        return Number(limits=_limits(schema, _NUMBER_LIMITS), multiple_of=_number(schema.get("multipleOf")))

    def _integer(self, schema: Schema, scope: Scope, place: str) -> Node:
        number = self._number(schema, scope, place)
        number.is_integer = True
        return number

    def _object(self, schema: Schema, scope: Scope, place: str) -> Node:
        node = Object(limits=_limits(schema, _OBJECT_LIMITS))
        node.properties = self._by_name("properties", schema, scope, place)
        node.by_pattern = self._by_pattern(schema, scope, place)
        node.required = _names(schema.get("required"))
        node.additional = self._additional("additionalProperties", schema, scope, place)
        if "propertyNames" in schema and "propertyNames" in scope.draft.shapes:
            self._node(schema["propertyNames"], scope, f"{place}/propertyNames")
        if scope.draft.is_modern:
            node.unevaluated = self._maybe("unevaluatedProperties", schema, scope, place)
            node.needed_schemas = self._by_name("dependentSchemas", schema, scope, place)
            needed = _members(schema, "dependentRequired")
        else:
            dependencies = _members(schema, "dependencies")
            needed = {name: one for name, one in dependencies.items() if isinstance(one, list)}
            schemas = {name: one for name, one in dependencies.items() if name not in needed}
            node.needed_schemas = self._by_name("dependencies", {"dependencies": schemas}, scope, place)
        node.needed_names = {name: _names(names) for name, names in needed.items() if names}
        return node

    def _array(self, schema: Schema, scope: Scope, place: str) -> Node:
        node = Array(limits=_limits(schema, _ARRAY_LIMITS), is_unique=schema.get("uniqueItems") is True)
        if "prefixItems" in scope.draft.shapes:
            self._items_since_2020(node, schema, scope, place)
        else:
            self._items_before_2020(node, schema, scope, place)
        contains = self._maybe("contains", schema, scope, place) if "contains" in scope.draft.shapes else None
        if scope.draft.is_modern:
            node.unevaluated = self._maybe("unevaluatedItems", schema, scope, place)
            if contains is not None:
                node.limits |= {"minContains": 1} | _limits(schema, ("minContains", "maxContains"))
        return node

    def _items_before_2020(self, node: Array, schema: Schema, scope: Scope, place: str) -> None:
        items = schema.get("items")
        node.additional = self._additional("additionalItems", schema, scope, place)
        if isinstance(items, list):
            node.first_items = self._listed("items", schema, scope, place)
        elif items is not None:
            node.items = self._node(items, scope, f"{place}/items")
            node.additional = node.additional or True  # false says nothing if all items have a schema

    def _items_since_2020(self, node: Array, schema: Schema, scope: Scope, place: str) -> None:
        node.first_items = self._listed("prefixItems", schema, scope, place)
        others = self._additional("items", schema, scope, place)
        if isinstance(others, bool) or node.first_items:
            node.additional = others
        else:
            node.items = others

    def _additional(self, keyword: str, schema: Schema, scope: Scope, place: str) -> Node | bool:
        others = schema.get(keyword, True)
        return others if isinstance(others, bool) else self._node(others, scope, f"{place}/{keyword}")

    def _maybe(self, keyword: str, schema: Schema, scope: Scope, place: str) -> Node | None:
        return self._node(schema[keyword], scope, f"{place}/{keyword}") if keyword in schema else None

    def _listed(self, keyword: str, schema: Schema, scope: Scope, place: str) -> list[Node]:
        listed = schema.get(keyword)
        if not isinstance(listed, list):
            return []
        return [self._node(one, scope, f"{place}/{keyword}/{index}") for index, one in enumerate(listed)]

    def _by_name(self, keyword: str, schema: Schema, scope: Scope, place: str) -> dict[str, Node]:
        members = _members(schema, keyword)
        inside = f"{place}/{keyword}"
        return {name: self._node(one, scope, pointer(inside, name)) for name, one in members.items()}

    def _by_pattern(self, schema: Schema, scope: Scope, place: str) -> dict[str, Node]:
        nodes = self._by_name("patternProperties", schema, scope, place)
        for pattern in list(nodes):
            try:
                compiled(pattern)
            except re.error as error:
                self._nonsense(
                    pointer(f"{place}/patternProperties", pattern),
                    f"{shown(pattern)} is no regular expression: {error}",
                )
                del nodes[pattern]
        return nodes


_TYPED: dict[str, Callable[[_Builder, Schema, Scope, str], Node]] = {
    "array": _Builder._array,
    "boolean": lambda *_: Boolean(),
    "integer": _Builder._integer,
    "null": lambda *_: Null(),
    "number": _Builder._number,
    "object": _Builder._object,
    "string": _Builder._text,
}


def _annotations(schema: Schema, scope: Scope) -> dict[str, Any]:
    found = {key: schema[key] for key in ("title", "description", "default", "connect.type") if key in schema}
    if scope.draft.id_keyword in schema:
        found["id"] = schema[scope.draft.id_keyword]
    return found


def _members(schema: Schema, keyword: str) -> Mapping[str, Any]:
    members = schema.get(keyword)
    return members if isinstance(members, dict) else {}


def _names(value: Any) -> frozenset[str]:
    return (
        frozenset(name for name in value if isinstance(name, str)) if isinstance(value, list) else frozenset()
    )


def _number(value: Any) -> int | Decimal | None:
    return value if isinstance(value, (int, Decimal)) and not isinstance(value, bool) else None


def _limits(schema: Schema, keywords: tuple[str, ...]) -> dict[str, int | Decimal]:
    numbers = {keyword: _number(schema.get(keyword)) for keyword in keywords}
    return {keyword: number for keyword, number in numbers.items() if number is not None}
