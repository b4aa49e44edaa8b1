"""JSON with a JSON Schema: values are checked on both sides, unless `json.fail.invalid.schema` is off."""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias
from urllib.parse import urljoin

from jsonschema import Draft7Validator, exceptions, validators  # type: ignore[import-untyped]
from referencing import Registry, Resource
from referencing.exceptions import Unresolvable
from referencing.jsonschema import DRAFT7

from penstock.bounded_patterns import Pattern, UnboundedPattern, bounded_pattern
from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.json_classes import json_schema_of
from penstock.client.registry.reading import Reader, RegistryDeserializer, require_type
from penstock.client.registry.schemas import Schema
from penstock.client.registry.serde import RegistrySpec
from penstock.client.registry.wire_format import SchemaId
from penstock.client.registry.writing_objects import ObjectSerializer
from penstock.client.serializers.json import JsonSerializer
from penstock.client.serializers.models import decoder_of

Validator: TypeAlias = Any
"""One of jsonschema's classes of validators, which have no common base."""
MAX_SHOWN = 200
_deadline: ContextVar[float] = ContextVar("deadline", default=math.inf)
"""Of the check that is going on."""
_REFUSES = "json.fail.invalid.schema"


class CheckTakesLong(Exception):
    """A value was not checked within the time that was given."""


def given_schema(given: object) -> Schema | None:
    """Of what the user gave as one: text, JSON, a `Schema`, a class."""
    if given is None or isinstance(given, Schema):
        return given
    if isinstance(given, str):
        return Schema(given, "JSON")
    if isinstance(given, Mapping | bool):
        return Schema(json.dumps(given), "JSON")
    if isinstance(given, type):
        return Schema(json.dumps(json_schema_of(given)), "JSON")
    raise TypeError(f"got {given!r} as a schema; takes JSON Schema as text or JSON, a Schema, or a class")


def validator_of(schema: Schema, registry: SchemaRegistryClient | None) -> Validator:
    """For the draft that the schema names, or draft 7; nothing is fetched from anywhere but the registry."""
    try:
        contents = json.loads(schema.text)
    except ValueError as error:
        raise ValueError(f"not a JSON Schema: {error}") from error
    cls = validators.validator_for(contents, default=Draft7Validator)
    try:
        cls.check_schema(contents)
    except exceptions.SchemaError as error:
        raise ValueError(f"not a JSON Schema: {error.json_path}: {error.message}") from error
    known = _known(schema, registry, contents.get("$id", "") if isinstance(contents, dict) else "")
    return _bounded(cls)(contents, registry=known, format_checker=cls.FORMAT_CHECKER)


@cache
def _bounded(cls: Any) -> Any:
    """The same validators with patterns that do not run away, and all of it within a time that can be given."""
    others = cls.VALIDATORS["additionalProperties"]

    def additional(validator: Any, allowed: Any, instance: Any, schema: Any) -> Iterator[Any]:
        if "patternProperties" not in schema or not validator.is_type(instance, "object"):
            yield from others(validator, allowed, instance, schema) or ()
            return
        patterns = [bounded_pattern(each) for each in schema["patternProperties"]]
        rest = {
            name: value
            for name, value in instance.items()
            if name not in schema.get("properties", {}) and not any(_found(each, name) for each in patterns)
        }
        without = {key: value for key, value in schema.items() if key != "patternProperties"}
        yield from others(validator, allowed, rest, without) or ()

    keywords = {
        "pattern": _pattern,
        "patternProperties": _pattern_properties,
        "additionalProperties": additional,
        "uniqueItems": _unique_items,
    }
    timed = {name: _timed(check) for name, check in {**cls.VALIDATORS, **keywords}.items()}
    return validators.extend(cls, timed)


def _timed(check: Callable[..., Any]) -> Callable[..., Any]:
    """A schema that refers to itself, or whose alternatives have alternatives, can take exponential time.

    What one check does can't be interrupted; of these only the search for a pattern can take long (`_found`).
    """

    def check_in_time(validator: Any, value: Any, instance: Any, schema: Any) -> Any:
        if time.monotonic() > _deadline.get():
            raise CheckTakesLong
        return check(validator, value, instance, schema)

    return check_in_time


def _unique_items(validator: Any, is_unique: Any, instance: Any, schema: Any) -> Iterator[Any]:
    """In linear time; comparing each with each takes seconds for some thousands."""
    if (
        is_unique
        and validator.is_type(instance, "array")
        and len(set(map(_frozen, instance))) < len(instance)
    ):
        yield exceptions.ValidationError(f"{instance!r} has non-unique elements")


def _frozen(value: Any) -> Any:
    """The same for what JSON Schema says is equal: 1 and 1.0, but not 1 and true."""
    if isinstance(value, Mapping):
        return "object", frozenset((name, _frozen(each)) for name, each in value.items())
    if isinstance(value, list | tuple):
        return "array", tuple(map(_frozen, value))
    return isinstance(value, bool), value


def _found(pattern: Pattern, text: str) -> bool:
    if time.monotonic() + pattern.seconds(text) > _deadline.get():
        raise CheckTakesLong
    return pattern.search(text) is not None


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not _found(bounded_pattern(pattern), instance):
        text = instance if len(instance) <= MAX_SHOWN // 2 else f"{instance[: MAX_SHOWN // 2]}..."
        yield exceptions.ValidationError(f"{text!r} does not match {pattern!r}")


def _pattern_properties(validator: Any, by_pattern: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, inside in by_pattern.items():
        matcher = bounded_pattern(pattern)
        for name, value in instance.items():
            if _found(matcher, name):
                yield from validator.descend(value, inside, path=name, schema_path=pattern)


def _known(schema: Schema, registry: SchemaRegistryClient | None, base: str) -> "Registry[Any]":
    known: Registry[Any] = Registry()
    if not schema.references:
        return known
    assert registry is not None
    for name, found in registry.resolved_references(schema).items():
        resource = Resource.from_contents(json.loads(found.schema.text), default_specification=DRAFT7)
        known = known.with_resources([(name, resource), (urljoin(base, name), resource)])
    return known


def check(validator: Validator, value: Any, seconds: float = math.inf) -> None:
    """ValueError says where the value does not fit, and why. CheckTakesLong if that is not known after some time."""
    allowed = _deadline.set(time.monotonic() + seconds)
    try:
        error = max(validator.iter_errors(value), key=exceptions.relevance, default=None)
    except Unresolvable as unresolvable:
        raise ValueError(f"its schema refers to {unresolvable.ref}, which is not known") from None
    except UnboundedPattern as unbounded:
        raise ValueError(f"$: {unbounded}") from None
    except RecursionError:
        raise ValueError("$: nested too deeply") from None
    finally:
        _deadline.reset(allowed)
    if error is not None:
        text = error.message
        raise ValueError(f"{error.json_path}: {text if len(text) <= MAX_SHOWN else text[:MAX_SHOWN] + '...'}")


@dataclass(frozen=True, eq=False)
class _JsonCodec:
    schema: Schema
    validator: Validator
    write: Callable[[Any], bytes]
    validates: bool = True
    message_indexes: None = None

    @property
    def record_name(self) -> str | None:
        title = self.validator.schema.get("title") if isinstance(self.validator.schema, Mapping) else None
        return title if isinstance(title, str) else None

    def encode(self, value: Any, strict: bool) -> bytes:
        data = self.write(value)
        if self.validates:
            check(self.validator, json.loads(data))
        return data


class JsonSchemaSerializer(ObjectSerializer):
    """Writes JSON in Confluent's wire format, checked against a schema that is given, or that of the value's class.

    Takes dictionaries, lists and so on, dataclasses, pydantic models and msgspec structs; `to_dict` makes such things
    of anything else.

    >>> from penstock.client import JsonSchemaSerializer, SchemaRegistryClient
    >>> schema = {"type": "object", "properties": {"cups": {"type": "integer", "minimum": 1}}}
    >>> with SchemaRegistryClient("http://localhost:8081") as registry:
    ...     JsonSchemaSerializer(schema, registry).serialize("orders", {"cups": 0})
    Traceback (most recent call last):
    ValueError: $.cups: 0 is less than the minimum of 1
    """

    schema_type = "JSON"

    takes = "what its JSON Schema says: a dict, a list, a dataclass, a pydantic model, a msgspec struct"

    def __init__(
        self,
        schema: str | Mapping[str, Any] | bool | Schema | type[Any] | None = None,
        registry: RegistrySpec = None,
        *,
        to_dict: Callable[[Any], Any] | None = None,
        **settings: object,
    ) -> None:
        self._schema = given_schema(schema)
        plain = JsonSerializer()
        self._write: Callable[[Any], bytes] = lambda value: plain.serialize(
            "", value if to_dict is None else to_dict(value)
        )
        super().__init__(registry, **settings)
        if self._schema is not None:
            validator_of(Schema(self._schema.text, "JSON"), None)  # what is wrong with it is said here

    def _codec(self, schema: Schema) -> _JsonCodec:
        registry = self.registry if schema.references else None
        return _JsonCodec(schema, validator_of(schema, registry), self._write, bool(self._setting(_REFUSES)))

    @staticmethod
    def _schema_of_class(cls: Any) -> Schema | None:
        try:
            return Schema(json.dumps(json_schema_of(cls)), "JSON")
        except TypeError:
            return None


class JsonSchemaDeserializer(RegistryDeserializer):
    """Reads JSON in Confluent's wire format, checked against the schema that it was written with.

    With a model (a dataclass, pydantic model or msgspec struct) objects of it; `from_dict` makes something else.

    >>> from penstock.client import JsonSchemaDeserializer, JsonSchemaSerializer, SchemaRegistryClient
    >>> with SchemaRegistryClient("http://localhost:8081") as registry:
    ...     data = JsonSchemaSerializer({"type": "object"}, registry).serialize("orders", {"cups": 2})
    ...     JsonSchemaDeserializer(registry=registry).deserialize("orders", data)
    {'cups': 2}
    """

    takes = "JSON with the id of its schema"

    def __init__(
        self,
        model: Any = None,
        registry: RegistrySpec = None,
        *,
        from_dict: Callable[[Any], Any] | None = None,
        **settings: object,
    ) -> None:
        self._model = model
        self._from_dict = from_dict
        super().__init__(registry, **settings)

    def _reader(self, schema: Schema, schema_id: SchemaId) -> Reader:
        require_type(schema, "JSON", schema_id)
        validator = validator_of(schema, self.registry) if self._setting(_REFUSES) else None
        decode = json.loads if self._model is None else decoder_of(self._model)
        make = self._from_dict

        def read(data: bytes, start: int) -> Any:
            text = data[start:]
            if validator is not None:
                check(validator, json.loads(text))
            value = decode(text)
            return value if make is None else make(value)

        return read
