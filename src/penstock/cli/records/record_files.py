"""Files of records: a JSON object a line with all there is of each, or just the values, one a line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from penstock.cli.records.record_json import BadRecord, TopicRecord, record_as_json, record_from_json
from penstock.errors import ConfigError

JSON_LINES, RAW = "jsonl", "raw"
FORMATS = (JSON_LINES, RAW)
END_OF_RECORD = b"\n"
NO_PARTITION = -1


def read_records(file: BinaryIO, name: str, form: str) -> Iterator[TopicRecord]:
    for number, line in enumerate(file, 1):
        data = line.removesuffix(END_OF_RECORD)
        if form == RAW:
            yield TopicRecord("", NO_PARTITION, number - 1, None, None, data)
        elif data.strip():
            yield _from_json(data, name, number)


def _from_json(data: bytes, name: str, number: int) -> TopicRecord:
    try:
        return record_from_json(data.decode())
    except UnicodeDecodeError:
        raise ConfigError(f"{name}: line {number} is not UTF-8") from None
    except BadRecord as error:
        raise ConfigError(f"{name}: line {number} {error}") from None


def written_record(record: TopicRecord, form: str) -> bytes:
    if form == JSON_LINES:
        return record_as_json(record).encode() + END_OF_RECORD
    if record.value is None or END_OF_RECORD in record.value:
        what = "is null" if record.value is None else "has line breaks"
        place = f"{record.topic}-{record.partition} at offset {record.offset}"
        raise ConfigError(f"the value of {place} {what}, which --format raw can't hold; --format jsonl can")
    return record.value + END_OF_RECORD
