"""Batches and records as lines."""

import sys
from collections.abc import Callable
from contextlib import ExitStack
from typing import NamedTuple

from penstock.cli.output.progress import Progress
from penstock.cli.tools.dump_log.control_records import control_text
from penstock.cli.tools.dump_log.errors import DumpError
from penstock.cli.tools.dump_log.legacy import LegacyMessage
from penstock.cli.tools.dump_log.log_file import LARGEST_FILE, LogFile, records_of
from penstock.records.batch import MAX_SEQUENCE, NO_SEQUENCE, Batch
from penstock.records.compression import Codec
from penstock.records.reader import Record

Decoder = Callable[[Record], tuple[object | None, object | None]]
"""What to show of a record's key and value; None shows nothing."""


class RecordView(NamedTuple):
    """How much of the records is shown."""

    deep: bool
    decode: Decoder | None
    """None shows no content."""
    skip_metadata: bool


def optional_long(value: int | None) -> str:
    return "OptionalLong.empty" if value is None else f"OptionalLong[{value}]"


def java_boolean(value: bool) -> str:
    return "true" if value else "false"


def timestamp_type(batch: Batch | LegacyMessage) -> str:
    if isinstance(batch, LegacyMessage):
        return batch.timestamp_type
    return "LogAppendTime" if batch.uses_log_append_time else "CreateTime"


def dump_log(log: LogFile, max_bytes: int, view: RecordView) -> dict[int, int]:
    """Prints a whole file. Returns what is not consecutive: an offset, and the one that follows it."""
    end = log.end_of_slice(0, max_bytes)
    gaps: dict[int, int] = {}
    last_offset, valid_bytes = -1, 0
    with ExitStack() as bars:
        # For those who send the output elsewhere; on one terminal with it, a bar would be in the way.
        bar = None if sys.stdout.isatty() else bars.enter_context(Progress(log.path.name, end, "B"))
        for batch in log.batches(0, end):
            _print_batch(batch)
            if view.deep:
                last_offset = _print_records(batch, last_offset, gaps, view)
            valid_bytes = batch.position + batch.size
            if bar is not None:
                bar.reach(valid_bytes)
    if end > valid_bytes and max_bytes == LARGEST_FILE:
        print(f"Found {end - valid_bytes} invalid bytes at the end of {log.path.name}")
    return gaps


def _print_batch(batch: Batch | LegacyMessage) -> None:
    if isinstance(batch, LegacyMessage):
        sys.stdout.write(f"offset: {batch.last_offset}")
        batch.check_magic()
        newest = batch.timestamp
    else:
        sys.stdout.write(_batch_text(batch))
        newest = batch.max_timestamp
    sys.stdout.write(
        f" position: {batch.position} {timestamp_type(batch)}: {newest} size: {batch.size} "
        f"magic: {batch.magic} compresscodec: {_codec_name(batch)} crc: {batch.crc} "
        f"isvalid: {java_boolean(batch.is_valid())}\n"
    )


def _batch_text(batch: Batch) -> str:
    return (
        f"baseOffset: {batch.base_offset} lastOffset: {batch.last_offset} count: {batch.record_count} "
        f"baseSequence: {batch.base_sequence} lastSequence: {_last_sequence(batch)} "
        f"producerId: {batch.producer_id} producerEpoch: {batch.producer_epoch} "
        f"partitionLeaderEpoch: {batch.leader_epoch} "
        f"isTransactional: {java_boolean(batch.is_transactional)} isControl: {java_boolean(batch.is_control)} "
        f"deleteHorizonMs: {optional_long(batch.base_timestamp if batch.has_delete_horizon else None)}"
    )


def _last_sequence(batch: Batch) -> int:
    if batch.base_sequence == NO_SEQUENCE:
        return NO_SEQUENCE
    return _add_to_sequence(batch.base_sequence, batch.last_offset_delta)


def _add_to_sequence(sequence: int, increment: int) -> int:
    """As Kafka adds, with numbers that a damaged batch may have: in 32 bits."""
    if sequence > _as_int32(MAX_SEQUENCE - increment):
        return _as_int32(increment - _as_int32(MAX_SEQUENCE - sequence) - 1)
    return _as_int32(sequence + increment)


def _as_int32(number: int) -> int:
    return (number + 2**31) % 2**32 - 2**31


def _codec_name(batch: Batch | LegacyMessage) -> str:
    try:
        return Codec(batch.codec).name.lower()
    except ValueError:
        raise DumpError(f"Unknown compression type id: {batch.codec}") from None


def _print_records(
    batch: Batch | LegacyMessage, last_offset: int, gaps: dict[int, int], view: RecordView
) -> int:
    """Returns the offset of the last record."""
    if isinstance(batch, LegacyMessage):
        return _print_messages(batch, last_offset, gaps, view)
    write = sys.stdout.write
    for record in records_of(batch):
        if record.offset != last_offset + 1:
            gaps[last_offset] = record.offset
        last_offset = record.offset
        if not view.skip_metadata:
            write(_metadata_text(batch, record))
            if batch.is_control:
                write(control_text(record))
        if view.decode is not None and not batch.is_control:
            write(_content_text(view.decode, record, view))
        write("\n")
    return last_offset


def _print_messages(outer: LegacyMessage, last_offset: int, gaps: dict[int, int], view: RecordView) -> int:
    write = sys.stdout.write
    for message in outer.messages():
        if message.last_offset != last_offset + 1:
            gaps[last_offset] = message.last_offset
        last_offset = message.last_offset
        if not view.skip_metadata:
            write(
                f"| offset: {message.last_offset} {outer.timestamp_type}: {message.timestamp} "
                f"keySize: {message.key_size} valueSize: {message.value_size}"
            )
            write(f" isValid: {java_boolean(message.is_valid())} crc: {message.crc}")
        if view.decode is not None:
            write(_content_text(view.decode, message.as_record(), view))
        write("\n")
    return last_offset


def _metadata_text(batch: Batch, record: Record) -> str:
    sequence = NO_SEQUENCE
    if batch.base_sequence >= 0:
        sequence = _add_to_sequence(batch.base_sequence, record.offset - batch.base_offset)
    return (
        f"| offset: {record.offset} {timestamp_type(batch)}: {record.timestamp} "
        f"keySize: {_size(record.key)} valueSize: {_size(record.value)} sequence: {sequence} "
        f"headerKeys: [{','.join(key for key, _ in record.headers)}]"
    )


def _size(data: bytes | None) -> int:
    return -1 if data is None else len(data)


def _content_text(decode: Decoder, record: Record, view: RecordView) -> str:
    key, payload = decode(record)
    text, prefix = "", "| " if view.skip_metadata else " "
    if key is not None:
        text, prefix = f"{prefix}key: {key}", " "
    return text if payload is None else f"{text}{prefix}payload: {payload}"
