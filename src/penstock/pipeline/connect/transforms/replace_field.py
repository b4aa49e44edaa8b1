"""ReplaceField: leaves fields out, and renames them."""

from __future__ import annotations

from typing import Any

from penstock.pipeline.connect.api.config_def import ConfigDef, ConfigType, Importance, invalid
from penstock.pipeline.connect.api.transformation import Record
from penstock.pipeline.connect.data import Schema, Struct
from penstock.pipeline.connect.transforms.base import (
    OfKey,
    OfValue,
    PartTransformation,
    SchemaMemory,
    any_names,
    require_map,
    require_struct,
    struct_like,
    with_null_setting,
)

_PURPOSE = "field replacement"


def _parse_renames(items: list[str]) -> dict[str, str]:
    renames: dict[str, str] = {}
    for item in items:
        old, colon, new = item.partition(":")
        if not colon or not new or ":" in new.rstrip(":"):
            raise invalid("renames", items, f"Invalid rename mapping: {item}")
        renames[old] = new.rstrip(":")
    return renames


def _check_renames(name: str, value: Any) -> None:
    _parse_renames(value)


class ReplaceField(PartTransformation[Record]):
    overview = "Leaves fields out, and renames them."
    config_def = with_null_setting(
        ConfigDef()
        .define(
            "exclude",
            ConfigType.LIST,
            [],
            validator=any_names(empty_allowed=True),
            importance=Importance.MEDIUM,
            doc="The fields to leave out, even those that `include` names.",
        )
        .define(
            "include",
            ConfigType.LIST,
            [],
            validator=any_names(empty_allowed=True),
            importance=Importance.MEDIUM,
            doc="The fields to keep; all of them, if it is empty.",
        )
        .define(
            "renames",
            ConfigType.LIST,
            [],
            validator=_check_renames,
            importance=Importance.MEDIUM,
            doc="New names, as old1:new1,old2:new2.",
        )
    )

    def on_configured(self) -> None:
        self._exclude = frozenset(self.settings["exclude"])
        self._include = frozenset(self.settings["include"])
        self._renames = _parse_renames(self.settings["renames"])
        self._schemas = SchemaMemory(self._changed_schema)

    def _keeps(self, name: str) -> bool:
        return name not in self._exclude and (not self._include or name in self._include)

    def without_schema(self, record: Record, value: Any) -> Any:
        given = require_map(value, _PURPOSE)
        return {self._renames.get(name, name): inner for name, inner in given.items() if self._keeps(name)}

    def with_schema(self, record: Record, schema: Schema, value: Any) -> tuple[Schema, Any]:
        struct = require_struct(value, _PURPOSE, schema)
        changed, kept = self._schemas(struct.schema)
        values = struct.all_values(self.with_defaults)
        return changed, Struct.of(changed, [values[index] for index in kept])

    def _changed_schema(self, schema: Schema) -> tuple[Schema, list[int]]:
        kept = [each for each in schema.fields if self._keeps(each.name)]
        fields = ((self._renames.get(each.name, each.name), each.schema) for each in kept)
        return struct_like(schema, fields), [each.index for each in kept]


class ReplaceFieldKey(OfKey, ReplaceField[Record]):
    pass


class ReplaceFieldValue(OfValue, ReplaceField[Record]):
    pass
