"""Records as a file's bytes, and a file's rows as tables of Arrow.

What is to be a file comes in pieces, as records come: what does not fit is found then, and what waits is small.
"""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from penstock.pipeline.connect.connectors.lake.arrow import (
    inferred_table,
    is_nested,
    plain,
    table_of,
    translated_errors,
)
from penstock.pipeline.connect.data import Schema
from penstock.pipeline.connect.errors import DataError


@dataclass(frozen=True, slots=True)
class Format:
    extension: str
    piece: Callable[[Schema | None, Sequence[Any]], Any]
    """Of some values of one schema; DataError if they do not fit."""
    file: Callable[[Sequence[Any], str], bytes]
    """Of pieces of one schema, with a codec."""
    read: Callable[[Any, int, int], Iterator[Any]]
    """Of an open file, from a row on: tables of about so many rows. The first row is 0."""


def _table_piece(schema: Schema | None, values: Sequence[Any]) -> Any:
    """Values without a schema stay as they are: only all of them together say what the columns are."""
    return list(values) if schema is None else table_of(schema, values)


def _whole_table(pieces: Sequence[Any]) -> Any:
    """What came as columns and what came as values, of records without a schema, may stand side by side."""
    import pyarrow as pa

    if not any(isinstance(piece, list) for piece in pieces):
        try:
            return pa.concat_tables(pieces, promote_options="default")
        except pa.ArrowException:
            pass  # a column has different types
    rows = (piece if isinstance(piece, list) else piece.to_pylist() for piece in pieces)
    return inferred_table([row for some in rows for row in some])


def _parquet_file(pieces: Sequence[Any], codec: str) -> bytes:
    from pyarrow import parquet

    out = io.BytesIO()
    with translated_errors():
        parquet.write_table(_whole_table(pieces), out, compression=codec)
    return out.getvalue()


def _json_piece(schema: Schema | None, values: Sequence[Any]) -> bytes:
    try:
        return b"".join(_json_text(plain(value)).encode() + b"\n" for value in values)
    except (TypeError, ValueError) as error:
        raise DataError(f"a value cannot be written as JSON: {error}") from error


def _json_file(pieces: Sequence[Any], codec: str) -> bytes:
    return b"".join(pieces)


def _csv_file(pieces: Sequence[Any], codec: str) -> bytes:
    """What CSV has no cell for, a list or bytes, say, is written as in JSON."""
    import pyarrow as pa
    from pyarrow import csv, types

    table, out = _whole_table(pieces), io.BytesIO()
    for number, column in enumerate(table.columns):
        if is_nested(column.type) or types.is_binary(column.type):
            texts = pa.array([_cell(each) for each in column.to_pylist()], pa.string())
            table = table.set_column(number, table.field(number).name, texts)
    with translated_errors():
        csv.write_csv(table, out)
    return out.getvalue()


def _cell(value: Any) -> str | None:
    if value is None:
        return None
    return str(_as_json(value)) if isinstance(value, bytes) else _json_text(value)


def _read_parquet(file: Any, start: int, rows: int) -> Iterator[Any]:
    from pyarrow import Table
    from pyarrow.parquet import ParquetFile

    parquet = ParquetFile(file)
    groups: list[int] = []
    before = 0
    for number in range(parquet.num_row_groups):
        count = parquet.metadata.row_group(number).num_rows
        if before + count <= start and not groups:
            before += count
        else:
            groups.append(number)
    if not groups:
        return
    skip = start - before
    for batch in parquet.iter_batches(batch_size=rows, row_groups=groups):
        if skip < batch.num_rows:
            yield Table.from_batches([batch.slice(skip)])
        skip = max(0, skip - batch.num_rows)


def _read_json(file: Any, start: int, rows: int) -> Iterator[Any]:
    from pyarrow import json as arrow_json

    return _slices(arrow_json.read_json(file), start, rows)


def _read_csv(file: Any, start: int, rows: int) -> Iterator[Any]:
    from pyarrow import csv

    return _slices(csv.read_csv(file), start, rows)


def _slices(table: Any, start: int, rows: int) -> Iterator[Any]:
    for first in range(start, table.num_rows, rows):
        yield table.slice(first, rows)


def _as_json(value: Any) -> Any:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    return value.isoformat() if isinstance(value, datetime) else str(value)


_json_text = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_as_json).encode

FORMATS = {
    "parquet": Format("parquet", _table_piece, _parquet_file, _read_parquet),
    "json": Format("json", _json_piece, _json_file, _read_json),
    "csv": Format("csv", _table_piece, _csv_file, _read_csv),
}
DELTA: Final = "delta"
"""Tables, not files: see `delta_chunks`."""

_CLASSES = {"ParquetFormat": "parquet", "JsonFormat": "json", "CsvFormat": "csv", "DeltaFormat": DELTA}


def takes_tables(name: str) -> bool:
    """Whether a piece may also be a table that somebody else made."""
    found = format_named(name)
    return found is not None and found.piece is _table_piece


def is_delta(name: str) -> bool:
    return _short(name) == DELTA


def format_named(name: str) -> Format | None:
    return FORMATS.get(_short(name))


def _short(name: str) -> str:
    last = str(name).rpartition(".")[2]
    return _CLASSES.get(last, last.lower())
