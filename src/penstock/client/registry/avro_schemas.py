"""Avro schemas as JSON: put together from what they refer to, and compared with a value that does not fit.

A reference of the registry is a name that is defined in another schema. fastavro wants one schema that defines every
name before it is used, and once; so the definition takes the place of the name where that is met first.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import fastavro
from fastavro.validation import validate

from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.schemas import Schema

AvroJson: TypeAlias = Any
"""A text, a list or a dict: a name, a union, a definition."""
Definitions: TypeAlias = Mapping[str, AvroJson]

PRIMITIVES = {"null", "boolean", "int", "long", "float", "double", "bytes", "string"}
NAMED = {"record", "error", "enum", "fixed"}
MAX_SHOWN = 60


def parsed_avro(schema: Schema, registry: SchemaRegistryClient | None) -> AvroJson:
    """What fastavro works with; ValueError says what is wrong with the schema."""
    try:
        plain = json.loads(schema.text)
    except ValueError:
        plain = schema.text  # a name alone may stand without quotes
    if schema.references:
        assert registry is not None
        plain = inlined(plain, _definitions(registry, schema))
    try:
        return fastavro.parse_schema(plain)
    except Exception as error:
        raise ValueError(f"not an Avro schema: {type(error).__name__}: {error}") from error


def _definitions(registry: SchemaRegistryClient, schema: Schema) -> dict[str, AvroJson]:
    """By the name that they define, which the reference's name usually is."""
    found: dict[str, AvroJson] = {}
    for name, registered in registry.resolved_references(schema).items():
        definition = json.loads(registered.schema.text)
        found[name] = definition
        if isinstance(definition, dict) and "name" in definition:
            found[full_name(definition["name"], definition.get("namespace"))] = definition
    return found


def full_name(name: str, namespace: str | None) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


def inlined(schema: AvroJson, definitions: Definitions) -> AvroJson:
    """The schema with definitions in place of names that it does not define itself.

    >>> from penstock.client.registry.avro_schemas import inlined
    >>> inlined(["null", "shop.Cup"], {"shop.Cup": {"type": "fixed", "name": "shop.Cup", "size": 1}})
    ['null', {'type': 'fixed', 'name': 'shop.Cup', 'size': 1}]
    """
    return _Inlining(definitions).walk(schema, None)


class _Inlining:
    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions
        self._defined: set[str] = set()

    def walk(self, schema: AvroJson, namespace: str | None) -> AvroJson:
        if isinstance(schema, str):
            return self._name(schema, namespace)
        if isinstance(schema, list):
            return [self.walk(branch, namespace) for branch in schema]
        if isinstance(schema, dict):
            return self._definition(schema, namespace)
        return schema

    def _name(self, name: str, namespace: str | None) -> AvroJson:
        if name in PRIMITIVES:
            return name
        for full in (full_name(name, namespace), name):
            if full in self._defined:
                return full
            if full in self._definitions:
                return self.walk(self._definitions[full], None)
        return name

    def _definition(self, schema: dict[str, Any], namespace: str | None) -> AvroJson:
        kind = schema.get("type")
        if isinstance(kind, dict | list):
            return {**schema, "type": self.walk(kind, namespace)}
        if isinstance(kind, str) and kind in NAMED and "name" in schema:
            return self._named(schema, namespace)
        parts = {part: self.walk(schema[part], namespace) for part in ("items", "values") if part in schema}
        if kind in ("array", "map") or not isinstance(kind, str):
            return {**schema, **parts}
        return {**schema, "type": self._name(kind, namespace)}

    def _named(self, schema: dict[str, Any], namespace: str | None) -> AvroJson:
        name = full_name(schema["name"], schema.get("namespace", namespace))
        if name in self._defined:
            return name
        self._defined.add(name)
        if "fields" not in schema:
            return schema
        inner = name.rpartition(".")[0] or None
        fields = [{**field, "type": self.walk(field["type"], inner)} for field in schema["fields"]]
        return {**schema, "fields": fields}


# --- what does not fit


def name_of(parsed: AvroJson) -> str | None:
    """The name that a subject may be called by; a union has none."""
    if isinstance(parsed, dict):
        kind = parsed.get("name") or parsed.get("type")
        return kind if isinstance(kind, str) else None
    return parsed if isinstance(parsed, str) else None


def misfits(parsed: AvroJson, value: Any) -> Iterator[str]:
    """Where a value does not fit, each as "path: what it got, what it takes"."""
    yield from _misfits(parsed, value, "", _named_types(parsed, {}))


def _named_types(parsed: AvroJson, found: dict[str, AvroJson]) -> dict[str, AvroJson]:
    if isinstance(parsed, list):
        for branch in parsed:
            _named_types(branch, found)
    elif isinstance(parsed, dict):
        if parsed.get("type") in NAMED:
            found[parsed["name"]] = parsed
        for part in (parsed.get("items"), parsed.get("values"), *_field_types(parsed)):
            _named_types(part, found)
    return found


def _field_types(parsed: dict[str, Any]) -> Iterator[AvroJson]:
    yield from (field["type"] for field in parsed.get("fields", ()))


def _misfits(parsed: AvroJson, value: Any, path: str, names: dict[str, AvroJson]) -> Iterator[str]:
    schema = names.get(parsed, parsed) if isinstance(parsed, str) else parsed
    kind = schema.get("type") if isinstance(schema, dict) else None
    if kind == "record" and isinstance(value, Mapping):
        yield from _record_misfits(schema, value, path, names)
    elif kind == "array" and isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from _misfits(schema["items"], item, f"{path}[{index}]", names)
    elif kind == "map" and isinstance(value, Mapping):
        for key, item in value.items():
            yield from _misfits(schema["values"], item, f"{path}[{key!r}]", names)
    elif isinstance(schema, list) and (branch := _only_structure(schema, value, names)) is not None:
        yield from _misfits(branch, value, path, names)
    elif not _fits(schema, value, names):
        yield f"{path.removeprefix('.') or 'it'}: got {_shown(value)}, takes {_words(schema)}"


def _record_misfits(
    schema: dict[str, Any], value: Mapping[str, Any], path: str, names: dict[str, AvroJson]
) -> Iterator[str]:
    fields = {field["name"]: field for field in schema["fields"]}
    for name, field in fields.items():
        here = f"{path}.{name}"
        if name in value or "default" not in field:
            if name not in value and not _fits(field["type"], None, names):
                yield f"{here.removeprefix('.')}: missing, takes {_words(field['type'])}"
                continue
            yield from _misfits(field["type"], value.get(name), here, names)
    for name in value.keys() - fields.keys():
        yield f"{path}.{name}".removeprefix(".") + f": {schema['name']} has no such field"


def _only_structure(union: list[AvroJson], value: Any, names: dict[str, AvroJson]) -> AvroJson | None:
    """The branch that a dict or a list must have been meant for, if there is just one."""
    if any(_fits(branch, value, names) for branch in union):
        return None
    kinds = ("record", "map") if isinstance(value, Mapping) else ("array",) if isinstance(value, list) else ()
    branches = [names.get(b, b) if isinstance(b, str) else b for b in union]
    meant = [branch for branch in branches if isinstance(branch, dict) and branch.get("type") in kinds]
    return meant[0] if len(meant) == 1 else None


def _fits(schema: AvroJson, value: Any, names: dict[str, AvroJson]) -> bool:
    defined = dict(names)
    if isinstance(schema, str) and schema in defined:
        schema = defined[schema]
    try:
        return bool(validate(value, inlined(schema, defined), raise_errors=False))
    except Exception:
        return False


def _words(schema: AvroJson) -> str:
    if isinstance(schema, list):
        return " or ".join(map(_words, schema))
    if not isinstance(schema, dict):
        return str(schema)
    if schema.get("type") == "enum":
        return f"one of {', '.join(schema['symbols'])}"
    return str(schema.get("logicalType") or schema.get("name") or schema.get("type"))


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}..."
