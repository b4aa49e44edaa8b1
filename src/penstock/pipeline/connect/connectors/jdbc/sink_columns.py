"""Rows of a layout as columns of Arrow: for records whose fields have plain types, without an object for each.

Nothing here may make a difference to the rows: what columns cannot say as records do is left to these. That is a field
whose null reads as its default, and a key of floats, of which Python and Arrow have different ideas of what is equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from penstock.pipeline.connect.connectors.jdbc.row_layout import RowLayout
from penstock.pipeline.connect.connectors.jdbc.sink_config import KAFKA
from penstock.pipeline.connect.data.columns import SinkColumns

if TYPE_CHECKING:
    from pyarrow import Table

_FLOATS: Final = frozenset({"float", "double"})
_PLAIN: Final = _FLOATS | {
    *("bool", "int8", "int16", "int32", "int64", "string"),
    *("date32[day]", "time32[ms]", "timestamp[ms, tz=UTC]"),
}


def as_rows(columns: SinkColumns, layout: RowLayout, key_mode: str) -> Table | None:
    """A column for each of the layout's, in its order; None if records are to be written instead."""
    import pyarrow as pa

    of_kafka = _coordinates(columns) if key_mode == KAFKA else []
    fields = layout.names[len(of_kafka) :]
    rows = pa.table([*of_kafka, *(columns.table[name] for name in fields)], list(layout.names))
    return rows if _are_plain(rows, layout) else None


def _coordinates(columns: SinkColumns) -> list[Any]:
    import pyarrow as pa

    return [
        pa.repeat(columns.topic, len(columns)),
        pa.array(columns.partitions, pa.int32()),
        pa.array(columns.offsets, pa.int64()),
    ]


def _are_plain(rows: Table, layout: RowLayout) -> bool:
    types = [str(each) for each in rows.schema.types]
    return (
        _PLAIN.issuperset(types)
        and _FLOATS.isdisjoint(types[: len(layout.keys)])
        and not any(
            column.schema.has_default and rows.column(place).null_count
            for place, column in enumerate(layout.columns)
        )
    )


def last_of_each_key(rows: Table, keys: int) -> Table:
    """Of rows whose first columns, so many, are the same, only the last one."""
    import pyarrow as pa

    names = [str(place) for place in range(keys)]
    by_key = rows.select(range(keys)).rename_columns(names)
    if len(by_key.group_by(names, use_threads=False).aggregate([])) == len(rows):
        return rows
    numbered = by_key.append_column("number", pa.array(range(len(rows)), pa.int64()))
    last = numbered.group_by(names, use_threads=False).aggregate([("number", "max")])
    return rows.take(last["number_max"])
