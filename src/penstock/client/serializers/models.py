"""Classes of the user's as JSON: dataclasses, pydantic models, msgspec structs.

pydantic and msgspec are never imported here unless the user's class comes from them, in which case they are loaded
already. Plain dataclasses are built from the annotations of their fields: nested dataclasses, lists, tuples, sets,
dictionaries, optional and union types, enums, and what JSON has only as text (dates, UUIDs, decimals, bytes).
"""

import base64
import dataclasses
import datetime
import decimal
import enum
import types
import typing
import uuid
from collections.abc import Callable, Mapping
from typing import Any

FROM_TEXT: dict[type, Callable[[str], Any]] = {
    datetime.datetime: datetime.datetime.fromisoformat,
    datetime.date: datetime.date.fromisoformat,
    datetime.time: datetime.time.fromisoformat,
    uuid.UUID: uuid.UUID,
    decimal.Decimal: decimal.Decimal,
    bytes: base64.b64decode,
}


def is_pydantic_model(cls: object) -> bool:
    return isinstance(cls, type) and hasattr(cls, "__pydantic_validator__")


def is_msgspec_struct(cls: object) -> bool:
    return isinstance(cls, type) and hasattr(cls, "__struct_fields__") and hasattr(cls, "__struct_config__")


def to_plain(value: object) -> object:
    """What JSON has no word for, as something that it has: the `default` of `json.dumps`."""
    cls = type(value)
    if is_pydantic_model(cls):
        return _pydantic_to_plain(value)
    if is_msgspec_struct(cls):
        import msgspec

        return msgspec.to_builtins(value)
    if dataclasses.is_dataclass(cls):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(cls)}
    return _word_to_plain(value)


def _pydantic_to_plain(value: Any) -> object:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}


def _word_to_plain(value: object) -> object:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, datetime.datetime | datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, uuid.UUID | decimal.Decimal):
        return str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, set | frozenset):
        return list(value)
    raise TypeError(f"JSON has no {type(value).__name__}")


def from_plain(kind: Any, value: Any) -> Any:
    """A value of the annotated type, of what JSON had; TypeError or ValueError if it does not fit."""
    if kind is Any or kind is None or isinstance(kind, typing.TypeVar):
        return value
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _one_of(typing.get_args(kind), value)
    if origin is typing.Literal:
        return _checked(value, value in typing.get_args(kind), kind)
    if origin is typing.Annotated:
        return from_plain(typing.get_args(kind)[0], value)
    return _generic(origin, kind, value) if origin is not None else _plain_class(kind, value)


def _one_of(kinds: tuple[Any, ...], value: Any) -> Any:
    if value is None:
        return _checked(None, type(None) in kinds, kinds)
    for kind in kinds:
        try:
            return from_plain(kind, value)
        except (TypeError, ValueError):
            continue
    return _checked(value, False, kinds)


def _generic(origin: Any, kind: Any, value: Any) -> Any:
    arguments = typing.get_args(kind)
    if issubclass(origin, Mapping):
        pairs = _checked(value, isinstance(value, dict), kind).items()
        return {_key(arguments[0], name): from_plain(arguments[1], each) for name, each in pairs}
    _checked(value, isinstance(value, list), kind)
    if origin is tuple and arguments[-1] is not Ellipsis:
        _checked(value, len(value) == len(arguments), kind)
        return tuple(from_plain(each, item) for each, item in zip(arguments, value, strict=True))
    made = [from_plain(arguments[0], item) for item in value]
    return made if origin not in (tuple, set, frozenset) else origin(made)


def _key(kind: Any, name: str) -> Any:
    """JSON's keys are texts."""
    return kind(name) if kind in (int, float) else from_plain(kind, name)


def _plain_class(kind: type[Any], value: Any) -> Any:
    if is_pydantic_model(kind) or is_msgspec_struct(kind):
        return decoder_of(kind)(_json_of(value))
    if dataclasses.is_dataclass(kind):
        return _dataclass(kind, value)
    if issubclass(kind, enum.Enum):
        return kind(value)
    if kind in FROM_TEXT and isinstance(value, str):
        return FROM_TEXT[kind](value)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    fits = isinstance(value, kind) and not (isinstance(value, bool) and kind in (int, float))
    return _checked(value, fits, kind)


def _json_of(value: Any) -> bytes:
    import json

    return json.dumps(value).encode()


def _dataclass(kind: Any, value: Any) -> Any:
    _checked(value, isinstance(value, dict), kind)
    kinds = typing.get_type_hints(kind, include_extras=True)
    fields = [field for field in dataclasses.fields(kind) if field.init]
    unknown = value.keys() - {field.name for field in fields}
    if unknown:
        raise ValueError(f"{kind.__name__} has no field {', '.join(sorted(unknown))}")
    given = {field.name: _field(kind, field.name, kinds, value) for field in fields if field.name in value}
    return kind(**given)


def _field(kind: Any, name: str, kinds: dict[str, Any], value: Any) -> Any:
    try:
        return from_plain(kinds[name], value[name])
    except (TypeError, ValueError) as error:
        raise ValueError(f"{kind.__name__}.{name}: {error}") from None


def _checked(value: Any, fits: bool, kind: object) -> Any:
    if not fits:
        wanted = getattr(kind, "__name__", str(kind))
        raise ValueError(f"got {value!r}, takes {wanted}")
    return value


def decoder_of(model: Any) -> Callable[[bytes], Any]:
    """From the bytes of JSON to an object of the model."""
    if is_pydantic_model(model):
        if hasattr(model, "model_validate_json"):
            return typing.cast(Callable[[bytes], Any], model.model_validate_json)
        import pydantic

        return typing.cast(Callable[[bytes], Any], pydantic.TypeAdapter(model).validate_json)
    if is_msgspec_struct(model):
        import msgspec

        return typing.cast(Callable[[bytes], Any], msgspec.json.Decoder(model).decode)
    import json

    return lambda data: from_plain(model, json.loads(data))
