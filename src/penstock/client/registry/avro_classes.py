"""Classes of the user's as Avro: the schema of a dataclass, a record of an object, an object of a record.

fastavro has Python's own dates, times, decimals and UUIDs for Avro's logical types, so these stay as they are, where
JSON would have texts. pydantic and msgspec are imported only where the user's class comes from them.
"""

import dataclasses
import datetime
import decimal
import enum
import json
import re
import types
import typing
import uuid
from collections.abc import Callable, Mapping
from typing import Any

from penstock.client.serializers.models import from_plain, is_msgspec_struct, is_pydantic_model

_PLAIN: dict[Any, Any] = {
    bool: "boolean",
    int: "long",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null",
    datetime.datetime: {"type": "long", "logicalType": "timestamp-micros"},
    datetime.date: {"type": "int", "logicalType": "date"},
    datetime.time: {"type": "long", "logicalType": "time-micros"},
    uuid.UUID: {"type": "string", "logicalType": "uuid"},
}
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


def avro_schema_of(cls: type[Any], namespace: str = "") -> str:
    """The Avro schema of a dataclass, a pydantic model or a msgspec struct, by the annotations of its fields.

    Integers are longs, floats doubles; what may be None is a union with null; a default is a default. An annotation
    with Avro of its own has the last word: `Annotated[int, {"type": "int"}]`.

    >>> from dataclasses import dataclass
    >>> from penstock.client.registry import avro_schema_of
    >>> @dataclass
    ... class Order:
    ...     customer: int
    ...     note: str | None = None
    >>> print(avro_schema_of(Order, namespace="shop"))
    {"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "customer", "type": "long"}, \
{"name": "note", "type": ["null", "string"], "default": null}]}
    """
    schema = _Classes().record(cls)
    if namespace:
        schema = {
            "type": "record",
            "name": schema["name"],
            "namespace": namespace,
            "fields": schema["fields"],
        }
    return json.dumps(schema, ensure_ascii=False)


def is_record_class(cls: Any) -> bool:
    return isinstance(cls, type) and (
        dataclasses.is_dataclass(cls) or is_pydantic_model(cls) or is_msgspec_struct(cls)
    )


class _Classes:
    """One schema in the making: each class is defined where it is met first."""

    def __init__(self) -> None:
        self._defined: set[str] = set()

    def record(self, cls: Any) -> dict[str, Any]:
        if not is_record_class(cls):
            raise TypeError(f"{cls!r} is no dataclass, pydantic model or msgspec struct")
        self._defined.add(cls.__name__)
        kinds = typing.get_type_hints(cls, include_extras=True)
        defaults = _defaults(cls)
        fields = [self._field(cls, name, kinds[name], defaults) for name in _field_names(cls)]
        return {"type": "record", "name": cls.__name__, "fields": fields}

    def _field(self, cls: Any, name: str, kind: Any, defaults: Mapping[str, Any]) -> dict[str, Any]:
        try:
            schema = self.of(kind)
        except TypeError as error:
            raise TypeError(f"{cls.__name__}.{name}: {error}") from None
        if name not in defaults:
            return {"name": name, "type": schema}
        default = defaults[name]
        if default is None and isinstance(schema, list):
            schema = sorted(schema, key=lambda branch: branch != "null")
        elif isinstance(schema, list):
            schema = sorted(schema, key=lambda branch: branch == "null")
        if isinstance(default, enum.Enum):
            default = default.value
        is_json = default is None or isinstance(default, bool | int | float | str) or default in ([], {})
        return {"name": name, "type": schema, **({"default": default} if is_json else {})}

    def of(self, kind: Any) -> Any:
        origin, arguments = typing.get_origin(kind), typing.get_args(kind)
        if origin is typing.Annotated:
            own = [note for note in arguments[1:] if isinstance(note, dict) and "type" in note]
            return own[0] if own else self.of(arguments[0])
        if kind in _PLAIN:
            return _PLAIN[kind]
        if origin in (typing.Union, types.UnionType):
            branches = [self.of(each) for each in arguments]
            return sorted(branches, key=lambda branch: branch != "null")
        if origin in (list, set, frozenset, tuple) and len(set(arguments) - {Ellipsis}) == 1:
            return {"type": "array", "items": self.of(arguments[0])}
        if origin is dict and arguments[0] is str:
            return {"type": "map", "values": self.of(arguments[1])}
        return self._class(kind)

    def _class(self, kind: Any) -> Any:
        if kind is decimal.Decimal:
            raise TypeError(
                "a Decimal needs its precision and scale: Annotated[Decimal, "
                '{"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}]'
            )
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return self._enum(kind)
        if is_record_class(kind):
            return kind.__name__ if kind.__name__ in self._defined else self.record(kind)
        raise TypeError(f"Avro has no {getattr(kind, '__name__', kind)}")

    def _enum(self, kind: type[enum.Enum]) -> Any:
        symbols = [member.value for member in kind]
        if not all(isinstance(symbol, str) and _SYMBOL.match(symbol) for symbol in symbols):
            raise TypeError(f"the values of {kind.__name__} are no symbols of Avro: letters, digits and _")
        if kind.__name__ in self._defined:
            return kind.__name__
        self._defined.add(kind.__name__)
        return {"type": "enum", "name": kind.__name__, "symbols": symbols}


def _field_names(cls: Any) -> list[str]:
    if is_msgspec_struct(cls):
        return list(cls.__struct_fields__)
    if hasattr(cls, "model_fields"):
        return list(cls.model_fields)
    return [field.name for field in dataclasses.fields(cls) if field.init]


def _defaults(cls: Any) -> dict[str, Any]:
    """Those of fields that have one; an empty list or dict of a factory counts."""
    if is_msgspec_struct(cls):
        import msgspec

        fields = [(one.name, one.default, one.default_factory) for one in msgspec.structs.fields(cls)]
        return _given_defaults(fields, msgspec.NODEFAULT)
    if hasattr(cls, "model_fields"):
        from pydantic_core import PydanticUndefined

        models = cls.model_fields.items()
        return _given_defaults(
            [(name, one.default, one.default_factory or PydanticUndefined) for name, one in models],
            PydanticUndefined,
        )
    plain = [(one.name, one.default, one.default_factory) for one in dataclasses.fields(cls)]
    return _given_defaults(plain, dataclasses.MISSING)


def _given_defaults(fields: list[tuple[str, Any, Any]], nothing: Any) -> dict[str, Any]:
    found = {name: default for name, default, _ in fields if default is not nothing}
    made = {name: factory() for name, _, factory in fields if factory in (list, dict)}
    return {**found, **made}


# --- objects


def to_record(value: Any) -> Any:
    """What fastavro writes, of a value that may be or hold objects of the user's classes."""
    cls = type(value)
    if cls in (str, int, float, bool, bytes, type(None)):
        return value
    if is_msgspec_struct(cls):
        return {name: to_record(getattr(value, name)) for name in cls.__struct_fields__}
    if hasattr(cls, "model_fields"):
        return {name: to_record(getattr(value, name)) for name in cls.model_fields}
    if dataclasses.is_dataclass(cls):
        return {field.name: to_record(getattr(value, field.name)) for field in dataclasses.fields(cls)}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {key: to_record(item) for key, item in value.items()}
    if isinstance(value, list | set | frozenset):
        return [to_record(item) for item in value]
    if isinstance(value, tuple):  # fastavro's way to name a union's branch, or else a list
        return tuple(to_record(item) for item in value)
    return value


def from_record(model: Any) -> Callable[[Any], Any]:
    """From what fastavro read to an object of the model."""
    if is_pydantic_model(model):
        if hasattr(model, "model_validate"):
            return typing.cast(Callable[[Any], Any], model.model_validate)
        import pydantic

        return typing.cast(Callable[[Any], Any], pydantic.TypeAdapter(model).validate_python)
    if is_msgspec_struct(model):
        import msgspec

        return lambda record: msgspec.convert(record, model)
    return lambda record: from_plain(model, record)
