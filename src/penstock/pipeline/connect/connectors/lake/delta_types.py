"""Tables of Arrow in the columns of a Delta table.

delta-rs casts what it is given to what the table has, and cuts off what does not fit: 1.5 becomes 1. So whatever is
written has the table's own types before it gets there, and a value that would change on the way is an error. New
columns and new fields of structs go behind those that are there. Every column may be null, since records without it
may have been before, or come later.

Delta has no type of times of the day: they are texts. What is null in all rows has no type yet: it is left out until a
value says what it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from penstock.pipeline.connect.errors import DataError

DECIMAL_DIGITS: Final = 38
"""The most that Delta has: later values may have more than the first ones."""


def fitted(table: Any, known: Any, partition_by: Sequence[str] = ()) -> Any:
    """All rows, with the columns of the schema `known` and those that are new; DataError if they do not fit."""
    import pyarrow as pa

    given = pa.struct([pa.field(each.name, each.type) for each in table.schema])
    target = _struct(given, pa.struct(list(known)), "")
    fields = list(target or ()) + _untyped(table, target or (), partition_by)
    _require_columns(fields, partition_by)
    columns = [_column(table, field) for field in fields]
    return pa.table(columns, pa.schema(fields))


def _untyped(table: Any, target: Any, partition_by: Sequence[str]) -> list[Any]:
    """A table cannot be without what it is partitioned by."""
    import pyarrow as pa

    names = {each.name for each in target}
    return [
        pa.field(name, pa.string())
        for name in partition_by
        if name in table.column_names and name not in names
    ]


def _require_columns(fields: Sequence[Any], partition_by: Sequence[str]) -> None:
    from pyarrow import types

    if not fields:
        raise DataError("every field is null, which gives a new table no columns")
    if all(each.name in partition_by for each in fields):
        raise DataError("partition.field.name has every field of the value; a table needs one more")
    for each in fields:
        if each.name in partition_by and types.is_nested(each.type):
            raise DataError(f"field {each.name!r}: {each.type} cannot be partitioned by")


def _column(table: Any, field: Any) -> Any:
    import pyarrow as pa

    if field.name not in table.column_names:
        return pa.nulls(table.num_rows, field.type)
    try:
        return table.column(field.name).cast(field.type)
    except (pa.ArrowException, OverflowError) as error:
        text = " ".join(str(error).split())
        raise DataError(f"field {field.name!r}: does not fit {field.type}: {text}") from error


def _joined(given: Any, known: Any | None, where: str) -> Any | None:
    """The type of the column: `known` if there is one, perhaps with more fields; None if nothing says it yet."""
    from pyarrow import types

    if types.is_dictionary(given):
        return _joined(given.value_type, known, where)
    if types.is_null(given):
        return known
    for is_it, join in ((types.is_struct, _struct), (_is_list, _list), (types.is_map, _map)):
        if is_it(given) and (known is None or is_it(known)):
            return join(given, known, where)
    plain = None if types.is_nested(given) else _plain(given)
    if plain is None:
        raise DataError(f"field {where!r}: got {given}, which a Delta table has no type for")
    if known is None or plain == known or _is_safe(plain, known):
        return known or plain
    raise DataError(f"field {where!r}: got {given}, the table has {known}")


def _struct(given: Any, known: Any | None, where: str) -> Any | None:
    import pyarrow as pa

    fields = {each.name: each.type for each in known or ()}
    names = {name.lower(): name for name in fields}
    for each in given:
        path = f"{where}.{each.name}" if where else each.name
        same = names.setdefault(each.name.lower(), each.name)
        if same != each.name:
            raise DataError(f"field {path!r}: differs from {same!r} only in case")
        found = _joined(each.type, fields.get(each.name), path)
        if found is not None:
            fields[each.name] = found
    return pa.struct(list(fields.items())) if fields else None


def _list(given: Any, known: Any | None, where: str) -> Any | None:
    import pyarrow as pa

    item = _joined(given.value_type, None if known is None else known.value_type, f"{where}[]")
    return None if item is None else pa.list_(item)


def _map(given: Any, known: Any | None, where: str) -> Any | None:
    import pyarrow as pa

    of_key, of_item = (None, None) if known is None else (known.key_type, known.item_type)
    key = _joined(given.key_type, of_key, f"{where} (key)")
    item = _joined(given.item_type, of_item, f"{where}[]")
    return None if key is None or item is None else pa.map_(key, item)


def _is_list(type: Any) -> bool:
    from pyarrow import types

    return bool(types.is_list(type) or types.is_large_list(type))


def _plain(given: Any) -> Any | None:
    import pyarrow as pa
    from pyarrow import types

    if types.is_timestamp(given):
        return pa.timestamp("us", "UTC")
    if types.is_decimal(given):
        return pa.decimal128(DECIMAL_DIGITS, min(max(given.scale, 0), DECIMAL_DIGITS))
    return pa.type_for_alias(_ALIASES[str(given)]) if str(given) in _ALIASES else None


def _is_safe(given: Any, known: Any) -> bool:
    """Whether the cast says so when a value does not fit: it does not when doubles become floats."""
    from pyarrow import types

    if types.is_decimal(given):
        return bool(types.is_decimal(known))
    if types.is_floating(given) and types.is_floating(known):
        return bool(given.bit_width <= known.bit_width)
    return bool(_is_number(given) and _is_number(known))


def _is_number(type: Any) -> bool:
    from pyarrow import types

    return bool(types.is_integer(type) or types.is_floating(type))


_ALIASES: Final = {
    "bool": "bool",
    "int8": "int8",
    "int16": "int16",
    "int32": "int32",
    "int64": "int64",
    "uint8": "int16",
    "uint16": "int32",
    "uint32": "int64",
    "halffloat": "float32",
    "float": "float32",
    "double": "float64",
    "string": "string",
    "large_string": "string",
    "binary": "binary",
    "large_binary": "binary",
    "date32[day]": "date32",
    "date64[ms]": "date32",
    "time32[s]": "string",
    "time32[ms]": "string",
    "time64[us]": "string",
    "time64[ns]": "string",
}
