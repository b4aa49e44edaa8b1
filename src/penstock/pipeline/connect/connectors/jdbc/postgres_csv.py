"""Tables of Arrow as the CSV that PostgreSQL's COPY reads: null is nothing at all, and text always in quotes.

What Arrow writes must be to PostgreSQL what Python's own text of a value is. Of numbers, dates and text it is the very
same; of the rest only a column of its kind reads both as one value.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from penstock.pipeline.connect.connectors.jdbc.dialect import Described

if TYPE_CHECKING:
    from pyarrow import Table

ROWS_AT_ONCE: Final = 10_000
"""How many lie in memory as text; one COPY takes any number of them."""
_ANY_COLUMN: Final = frozenset({"int8", "int16", "int32", "int64", "string", "date32[day]"})
_COLUMNS_OF: Final = {
    "bool": ("bool",),
    "float": ("float4",),
    "double": ("float4", "float8"),
    "time32[ms]": ("time",),
    "timestamp[ms, tz=UTC]": ("timestamp", "timestamptz"),
}
OPTIONS: Final = "(FORMAT csv, ENCODING 'UTF8')"


def is_csv_for(rows: Table, columns: Described) -> bool:
    return all(_reads(str(each.type), columns[each.name].type) for each in rows.schema)


def _reads(arrow_type: str, column_type: str) -> bool:
    return arrow_type in _ANY_COLUMN or column_type in _COLUMNS_OF.get(arrow_type, ())


def csv_of(rows: Table) -> Iterator[memoryview]:
    from pyarrow import BufferOutputStream
    from pyarrow.csv import WriteOptions, write_csv

    options = WriteOptions(include_header=False, batch_size=ROWS_AT_ONCE, quoting_style="needed")
    for start in range(0, len(rows), ROWS_AT_ONCE):
        out = BufferOutputStream()
        write_csv(rows.slice(start, ROWS_AT_ONCE), out, options)
        yield memoryview(out.getvalue())
