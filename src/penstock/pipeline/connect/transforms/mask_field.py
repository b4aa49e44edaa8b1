"""MaskField: puts an empty value of its type, or a given one, in the place of a field's."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, Final

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, not_empty
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import Schema, Struct, Type
from penstock.pipeline.connect.data.java_text import class_name, to_float32
from penstock.pipeline.connect.data.numbers import BITS, parse_decimal, wrapped
from penstock.pipeline.connect.data.values import as_double, as_long
from penstock.pipeline.connect.errors import DataError
from penstock.pipeline.connect.transforms.base import (
    OfKey,
    OfValue,
    PartTransformation,
    any_names,
    require_map,
    require_struct,
    with_null_setting,
)

_PURPOSE = "mask fields"
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_EMPTY: Final[tuple[tuple[type | tuple[type, ...], Callable[[], Any]], ...]] = (
    (bool, lambda: False),
    (int, lambda: 0),
    (float, lambda: 0.0),
    (str, lambda: ""),
    (Decimal, lambda: Decimal(0)),
    (datetime, lambda: _EPOCH),
    (date, _EPOCH.date),
    (time, _EPOCH.time),
    ((list, tuple), list),
    (dict, dict),
)


def _decimal(text: str) -> Decimal:
    try:
        return parse_decimal(text)
    except ValueError:
        raise DataError(f"Unable to convert {text} (class java.lang.String) to number") from None


def _given(value: Any, replacement: str, schema: Schema | None) -> Any:
    if isinstance(value, str):
        return replacement
    if isinstance(value, Decimal):
        return _decimal(replacement)
    if isinstance(value, int) and not isinstance(value, bool):
        return wrapped(as_long(replacement), 64 if schema is None else BITS.get(schema.type, 64))
    if isinstance(value, float):
        double = as_double(replacement)
        return to_float32(double) if schema is not None and schema.type is Type.FLOAT32 else double
    kind = class_name(value, schema)
    raise DataError(f"Cannot mask value of type class {kind} with custom replacement.")


def _empty(value: Any, schema: Schema | None) -> Any:
    for kind, make in _EMPTY:
        if isinstance(value, kind):
            return make()
    raise DataError(f"Cannot mask value of type: class {class_name(value, schema)}")


class MaskField(PartTransformation[Record]):
    overview = (
        "Puts an empty value (0, false, empty text, ...) or a given one in the place of fields' values."
    )
    passes_null = False
    config_def = with_null_setting(
        ConfigDef()
        .define(
            "fields",
            ConfigType.LIST,
            validator=any_names(empty_allowed=False),
            importance=Importance.HIGH,
            doc="The names of the fields.",
        )
        .define(
            "replacement",
            ConfigType.STRING,
            None,
            validator=not_empty,
            importance=Importance.LOW,
            doc="The value that numbers and texts get instead of an empty one.",
        )
    )

    def on_configured(self) -> None:
        self._fields = dict.fromkeys(self.settings["fields"])
        self._replacement: str | None = self.settings["replacement"]

    def _masked(self, value: Any, schema: Schema | None = None) -> Any:
        if value is None:
            return None
        if self._replacement is None:
            return _empty(value, schema)
        return _given(value, self._replacement, schema)

    def without_schema(self, record: Record, value: Any) -> Any:
        given = require_map(value, _PURPOSE)
        return given | {field: self._masked(given.get(field)) for field in self._fields}

    def with_schema(self, record: Record, schema: Schema, value: Any) -> tuple[Schema, Any]:
        struct = require_struct(value, _PURPOSE, schema)
        values = struct.all_values(self.with_defaults)
        for index, field in enumerate(struct.schema.fields):
            if field.name in self._fields:
                values[index] = self._masked(values[index], field.schema)
        return schema, Struct.of(struct.schema, values)


class MaskFieldKey(OfKey, MaskField[Record]):
    pass


class MaskFieldValue(OfValue, MaskField[Record]):
    pass
