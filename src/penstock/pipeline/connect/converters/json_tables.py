"""JSON texts as a table of Arrow: its parser reads millions of them a second.

It is not Kafka's parser. What the two might take differently gives no table, and is then read one by one:
- a value that is no object on one line: each line must be one row;
- a name that comes twice, NaN, zeros before a number: Arrow refuses them, or the result is looked through for them;
- a number that is no int64 but should be whole: it would be a double, less exact than what was written;
- a text that looks like a time: Arrow takes it for one. Those columns are read again, as texts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from penstock.pipeline.connect.data import Schema, Type
from penstock.pipeline.connect.data.arrow_types import arrow_field, arrow_type
from penstock.pipeline.connect.data.logical import DATE_NAME, TIME_NAME, TIMESTAMP_NAME

if TYPE_CHECKING:
    from pyarrow import DataType, Table

EXACT_IN_A_DOUBLE: Final = float(1 << 53)
TEXTS_REMEMBERED: Final = 1000
_PLAIN: Final = frozenset({Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.BOOLEAN, Type.STRING})
_FLOATS: Final = frozenset({Type.FLOAT32, Type.FLOAT64})
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896  # the years 1 to 9999, as Python has them
_DAY_MS: Final = 86_400_000
_LOGICAL: Final = {
    DATE_NAME: ("int32", _FIRST_DAY, _LAST_DAY),
    TIME_NAME: ("int32", 0, _DAY_MS - 1),
    TIMESTAMP_NAME: ("int64", _FIRST_DAY * _DAY_MS, (_LAST_DAY + 1) * _DAY_MS - 1),
}
"""What their numbers are, from and to."""


def lines_of(values: Sequence[bytes | None]) -> bytes | None:
    """One line for each value, without an end at the last; None if one of them has more lines, or is none."""
    try:
        lines = b"\n".join(values)  # type: ignore[arg-type]
    except TypeError:
        return None
    return lines if values and lines.count(b"\n") == len(values) - 1 else None


def payloads_of(lines: bytes, rows: int, prefix: bytes) -> bytes | None:
    """The lines without what each must begin with, and without the brace at its end."""
    between = b"}\n" + prefix
    if not lines.startswith(prefix) or not lines.endswith(b"}") or lines.count(between) != rows - 1:
        return None
    return lines.replace(between, b"\n")[len(prefix) : -1]


class InferredTables:
    """Of values without a schema. Columns that only look like times are remembered for each topic; they may come
    before others then."""

    def __init__(self) -> None:
        self._texts: dict[str, Any] = {}

    def table(self, topic: str, lines: bytes, rows: int) -> Table | None:
        if not _are_objects(lines, rows):
            return None
        table = self._with_known_texts(topic, lines, rows) or _parsed(lines, None)
        if table is not None and (texts := _texts_in(table.schema)) is not None:
            if len(self._texts) >= TEXTS_REMEMBERED:
                self._texts.clear()
            self._texts[topic] = texts
            names = table.column_names
            table = _parsed(lines, texts)
            table = None if table is None else table.select(names)
        return table if table is not None and _is_true(table, rows) else None

    def _with_known_texts(self, topic: str, lines: bytes, rows: int) -> Table | None:
        known = self._texts.get(topic)
        table = None if known is None else _parsed(lines, known)
        if known is None or table is None:
            return None
        is_in_none = (table.column(each.name).null_count == rows for each in known)
        return None if any(is_in_none) else table


def table_with_schema(schema: Schema, lines: bytes, rows: int) -> tuple[Schema, Table] | None:
    plan = _plan_of(schema)
    if plan is None or not _are_objects(lines, rows):
        return None
    table = _parsed(lines, plan.read, ignores_others=True)
    if table is None or table.num_rows != rows or not _fits(plan, table):
        return None
    return schema, table.cast(plan.target, safe=False)


def _are_objects(lines: bytes, rows: int) -> bool:
    """Then each line is one object or more; as many rows as lines are one each."""
    return lines.startswith(b"{") and lines.endswith(b"}") and lines.count(b"}\n{") == rows - 1


def _parsed(lines: bytes, known: Any, ignores_others: bool = False) -> Table | None:
    import pyarrow as pa
    from pyarrow.json import ParseOptions, ReadOptions, read_json

    others = "ignore" if ignores_others else "infer"
    try:
        table = read_json(
            pa.BufferReader(lines),
            ReadOptions(use_threads=False, block_size=len(lines) + 1),
            ParseOptions(explicit_schema=known, unexpected_field_behavior=others),
        )
        table.validate(full=True)
    except pa.ArrowException:
        return None
    return table


# --- without a schema


def _texts_in(schema: Any) -> Any:
    """The columns in which something was taken for a time, with texts in its place; None if there are none."""
    import pyarrow as pa

    found = [(each.name, _with_texts(each.type)) for each in schema]
    changed = [pa.field(*each) for each, field in zip(found, schema, strict=True) if each[1] != field.type]
    return pa.schema(changed) if changed else None


def _with_texts(type: DataType) -> DataType:
    import pyarrow as pa

    if pa.types.is_timestamp(type):
        return pa.string()
    if pa.types.is_struct(type):
        return pa.struct([each.with_type(_with_texts(each.type)) for each in type])
    return pa.list_(_with_texts(type.value_type)) if pa.types.is_list(type) else type


def _is_true(table: Table, rows: int) -> bool:
    if table.num_rows != rows or not table.num_columns:
        return False
    arrays = (chunk for column in table.columns for chunk in column.chunks)
    return all(_is_exact(leaf) for array in arrays for leaf in _leaves(array))


def _leaves(array: Any) -> Iterator[Any]:
    """All that has no arrays inside; also a struct without fields."""
    import pyarrow as pa

    if pa.types.is_list(array.type):
        yield from _leaves(array.flatten())
    elif array.type.num_fields:
        for each in array.flatten():
            yield from _leaves(each)
    else:
        yield array


def _is_exact(leaf: Any) -> bool:
    """No struct, which no file has without fields; no double that may have been written more exactly, or is none."""
    import pyarrow as pa
    from pyarrow import compute

    if not pa.types.is_floating(leaf.type):
        return not pa.types.is_struct(leaf.type)
    ends = compute.min_max(leaf)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    is_near = low is None or -EXACT_IN_A_DOUBLE < low <= high < EXACT_IN_A_DOUBLE
    return bool(is_near and not compute.any(compute.is_nan(leaf)).as_py())


# --- with a schema


class _Plan(NamedTuple):
    read: Any
    """How Arrow is to read it."""
    target: Any
    required: tuple[str, ...]
    """What no row may lack: there is no null in its place, or another value is taken for it."""
    limits: tuple[tuple[str, int, int], ...]
    floats: tuple[str, ...]


@lru_cache(1000)
def _plan_of(schema: Schema) -> _Plan | None:
    """None for schemas of which some values are not read as Arrow would."""
    import pyarrow as pa

    if schema.type is not Type.STRUCT or not schema.fields or schema.name in _LOGICAL:
        return None
    reads = [_read_type(each.schema) for each in schema.fields]
    if any(each is None for each in reads):
        return None
    fields = schema.fields
    return _Plan(
        pa.schema([pa.field(each.name, type) for each, type in zip(fields, reads, strict=True)]),
        pa.schema([arrow_field(each.name, each.schema) for each in fields]),
        tuple(each.name for each in fields if not each.schema.optional or each.schema.has_default),
        tuple(
            (each.name, *_LOGICAL[each.schema.name][1:]) for each in fields if each.schema.name in _LOGICAL
        ),
        tuple(each.name for each in fields if each.schema.type in _FLOATS),
    )


def _read_type(schema: Schema) -> DataType | None:
    import pyarrow as pa

    if schema.name in _LOGICAL:
        return getattr(pa, _LOGICAL[schema.name][0])()
    if schema.name is not None and schema.name.startswith("org.apache.kafka.connect.data."):
        return None
    if schema.type in _FLOATS:
        return pa.float64()  # and then narrowed, as it is in Java
    return arrow_type(schema) if schema.type in _PLAIN else None


def _fits(plan: _Plan, table: Table) -> bool:
    from pyarrow import compute

    if any(table.column(name).null_count for name in plan.required):
        return False
    if any(not _all(compute.is_finite(table.column(name))) for name in plan.floats):
        return False
    return all(_is_between(table.column(name), low, high) for name, low, high in plan.limits)


def _all(flags: Any) -> bool:
    from pyarrow import compute

    return compute.all(flags).as_py() is not False


def _is_between(column: Any, low: int, high: int) -> bool:
    from pyarrow import compute

    ends = compute.min_max(column)
    return ends["min"].as_py() is None or low <= ends["min"].as_py() <= ends["max"].as_py() <= high
