"""From the text of an Avro schema to its types; what is wrong is said with a JSON pointer to the place.

It takes what Avro's Java library takes. References come first: each may name types of those before it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from penstock.registry.formats.avro.defaults import is_valid_default
from penstock.registry.formats.avro.types import (
    NO_DEFAULT,
    PRIMITIVES,
    Array,
    AvroType,
    Enum,
    Field,
    Fixed,
    Name,
    Named,
    Record,
    Union,
)
from penstock.registry.formats.schema_format import InvalidSchema

_RESERVED = {"doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases"}
_FIELD_RESERVED = {"default", "doc", "name", "order", "type", "aliases"}
_ORDERS = ("ascending", "descending", "ignore")


def parse_json(text: str) -> Any:
    """A bare word such as `string` is a schema too."""
    if text.strip() in PRIMITIVES:
        return text.strip()
    try:
        return json.loads(text, object_pairs_hook=dict)
    except json.JSONDecodeError as error:
        raise InvalidSchema(f"line {error.lineno}, column {error.colno}: {error.msg}") from error
    except RecursionError as error:
        raise InvalidSchema("the schema is nested too deeply") from error


class Parser:
    """Remembers the names that it has seen, so that later texts may use them."""

    def __init__(self, *, checks_defaults: bool) -> None:
        self.names: dict[str, Named] = {}
        self._checks_defaults = checks_defaults

    def parse(self, text: str) -> AvroType:
        try:
            return self._type(parse_json(text), "", "")
        except RecursionError as error:
            raise InvalidSchema("the schema is nested too deeply") from error

    def _type(self, schema: Any, space: str, at: str) -> AvroType:
        if isinstance(schema, str):
            return self._named(schema, space, at)
        if isinstance(schema, list):
            return self._union(schema, space, at)
        if not isinstance(schema, dict):
            raise _wrong(at, f"a schema is a name, an object or an array, not {_shown(schema)}")
        kind = schema.get("type")
        if isinstance(kind, (dict, list)):
            raise _wrong(f"{at}/type", f"a type is named here, not described: {_shown(kind)}")
        if not isinstance(kind, str):
            raise _wrong(at, f"No type: {_shown(schema)}")
        if kind in PRIMITIVES:
            return AvroType(kind, _props(schema, _RESERVED))
        complex_type = _COMPLEX.get(kind)
        return (
            complex_type(self, schema, space, at) if complex_type else self._named(kind, space, f"{at}/type")
        )

    def _named(self, name: str, space: str, at: str) -> AvroType:
        if name in PRIMITIVES:
            return AvroType(name)
        found = self.names.get(name if "." in name or not space else f"{space}.{name}") or self.names.get(
            name
        )
        if found is None:
            raise _wrong(at, f'"{name}" is not a defined name')
        return found

    def _union(self, schema: list[Any], space: str, at: str) -> Union:
        branches: list[AvroType] = []
        taken = set()
        for index, branch in enumerate(schema):
            parsed = self._type(branch, space, f"{at}/{index}")
            if parsed.kind == "union":
                raise _wrong(f"{at}/{index}", "Nested union")
            key = parsed.name.full if isinstance(parsed, Named) else parsed.kind
            if key in taken:
                raise _wrong(f"{at}/{index}", f"Duplicate in union: {key}")
            taken.add(key)
            branches.append(parsed)
        return Union("union", branches=branches)

    def _array(self, schema: dict[str, Any], space: str, at: str) -> Array:
        kind, key = schema["type"], "items" if schema["type"] == "array" else "values"
        if key not in schema:
            raise _wrong(at, f"{kind.capitalize()} has no {key} type: {_shown(schema)}")
        element = self._type(schema[key], space, f"{at}/{key}")
        return Array(kind, _props(schema, _RESERVED), element=element)

    def _fixed(self, schema: dict[str, Any], space: str, at: str) -> Fixed:
        name = _name(schema, space, at)
        size = schema.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or size < 0:
            raise _wrong(f"{at}/size", f"Invalid or no size: {_shown(schema)}")
        found = Fixed("fixed", _props(schema, _RESERVED), **_of_named(schema, name, at), size=size)
        self._define(found, at)
        return found

    def _enum(self, schema: dict[str, Any], space: str, at: str) -> Enum:
        name = _name(schema, space, at)
        symbols = schema.get("symbols")
        if not isinstance(symbols, list) or not all(isinstance(symbol, str) for symbol in symbols):
            raise _wrong(f"{at}/symbols", f"Enum has no symbols: {_shown(schema)}")
        seen: set[str] = set()
        for index, symbol in enumerate(symbols):
            _check_name(symbol, f"{at}/symbols/{index}")
            if symbol in seen:
                raise _wrong(f"{at}/symbols/{index}", f"Duplicate enum symbol: {symbol}")
            seen.add(symbol)
        default = schema.get("default")
        if default is not None and default not in symbols:
            raise _wrong(
                f"{at}/default", f"The Enum Default: {default} is not in the enum symbol set: {symbols}"
            )
        props = _props(schema, _RESERVED | {"default"})
        found = Enum("enum", props, **_of_named(schema, name, at), symbols=symbols, default=default)
        self._define(found, at)
        return found

    def _record(self, schema: dict[str, Any], space: str, at: str) -> Record:
        name = _name(schema, space, at)
        found = Record("record", _props(schema, _RESERVED), **_of_named(schema, name, at))
        found.is_error = schema["type"] == "error"
        self._define(found, at)
        fields = schema.get("fields")
        if not isinstance(fields, list):
            raise _wrong(at, f"Record has no fields: {_shown(schema)}")
        names: set[str] = set()
        for index, one in enumerate(fields):
            parsed = self._field(one, name.space, f"{at}/fields/{index}")
            if parsed.name in names:
                raise _wrong(f"{at}/fields/{index}", f"Duplicate field {parsed.name} in record {name.full}")
            names.add(parsed.name)
            found.fields.append(parsed)
        return found

    def _field(self, schema: Any, space: str, at: str) -> Field:
        if not isinstance(schema, dict) or not isinstance(schema.get("name"), str):
            raise _wrong(at, f"No field name: {_shown(schema)}")
        if "type" not in schema:
            raise _wrong(at, f"No field type: {_shown(schema)}")
        name = schema["name"]
        _check_name(name, f"{at}/name")
        field = Field(name, self._field_type(schema["type"], space, f"{at}/type"), _doc(schema))
        field.default = schema.get("default", NO_DEFAULT)
        if field.has_default and self._checks_defaults and not is_valid_default(field.type, field.default):
            expected = field.type.kind
            raise _wrong(
                f"{at}/default", f"Invalid default for field {name}: {_shown(field.default)} not a {expected}"
            )
        field.order = str(schema.get("order", "ascending")).lower()
        if field.order not in _ORDERS:
            raise _wrong(f"{at}/order", f"got {_shown(schema['order'])}, takes {', '.join(_ORDERS)}")
        field.aliases = _aliases(schema, at)
        field.props = _props(schema, _FIELD_RESERVED)
        return field

    def _field_type(self, schema: Any, space: str, at: str) -> AvroType:
        return self._type(schema, space, at)

    def _define(self, named: Named, at: str) -> None:
        if named.name.full in self.names:
            raise _wrong(at, f"Can't redefine: {named.name.full}")
        self.names[named.name.full] = named


_COMPLEX: dict[str, Callable[[Parser, dict[str, Any], str, str], AvroType]] = {
    "array": Parser._array,
    "map": Parser._array,
    "fixed": Parser._fixed,
    "enum": Parser._enum,
    "record": Parser._record,
    "error": Parser._record,
}


def _name(schema: dict[str, Any], space: str, at: str) -> Name:
    given = schema.get("name")
    if not isinstance(given, str):
        raise _wrong(at, f"No name in schema: {_shown(schema)}")
    own_space, _, name = given.rpartition(".")
    if not own_space:
        namespace = schema.get("namespace")
        own_space = namespace if isinstance(namespace, str) else space
    _check_name(name, f"{at}/name")
    if name in PRIMITIVES:
        raise _wrong(f"{at}/name", f"Schemas may not be named after primitives: {name}")
    for part in own_space.split(".") if own_space else ():
        _check_name(part, f"{at}/namespace")
    return Name(name, own_space)


def _check_name(name: str, at: str) -> None:
    if not name:
        raise _wrong(at, "Empty name")
    if not (name[0].isalpha() or name[0] == "_"):
        raise _wrong(at, f"Illegal initial character: {name}")
    if not all(letter.isalnum() or letter == "_" for letter in name):
        raise _wrong(at, f"Illegal character in: {name}")


def _of_named(schema: dict[str, Any], name: Name, at: str) -> dict[str, Any]:
    aliases = [_alias(alias, name.space) for alias in _aliases(schema, at)]
    return {"name": name, "doc": _doc(schema), "aliases": aliases}


def _alias(alias: str, space: str) -> Name:
    own_space, _, name = alias.rpartition(".")
    return Name(name, own_space or space)


def _aliases(schema: dict[str, Any], at: str) -> list[str]:
    aliases = schema.get("aliases")
    if aliases is None:
        return []
    if not isinstance(aliases, list):
        raise _wrong(f"{at}/aliases", f"aliases not an array: {_shown(aliases)}")
    for index, alias in enumerate(aliases):
        if not isinstance(alias, str):
            raise _wrong(f"{at}/aliases/{index}", f"alias not a string: {_shown(alias)}")
    return list(dict.fromkeys(aliases))


def _doc(schema: dict[str, Any]) -> str | None:
    doc = schema.get("doc")
    return doc if isinstance(doc, str) else None


def _props(schema: dict[str, Any], reserved: Iterable[str]) -> dict[str, Any]:
    return {key: value for key, value in schema.items() if key not in reserved}


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _wrong(at: str, why: str) -> InvalidSchema:
    return InvalidSchema(f"{why} (at {at or '/'})")
