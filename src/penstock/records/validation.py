"""What the leader does to an incoming batch before it goes to the log.

By the header alone: the size limit, the bound on timestamps in the future, the stamp of the append time. Of the
records, decompressed where need be, only the lengths are walked (`records.layout`): what no consumer could read does
not come into the log. They are parsed only where nothing else will do: keys on a compacted topic, bounds on timestamps.

That takes microseconds for the batches that producers make. One that would keep the event loop for long, because of
what it decompresses to, of how many records are to be parsed, or of how much is to be compressed anew, raises
`LongBatch` before anything is done: it is for the caller to have it prepared elsewhere (`is_long`).
"""

from collections.abc import Sequence
from itertools import islice
from typing import Protocol

from penstock.errors import ApiError, ErrorCode
from penstock.records.batch import CODEC_MASK, LOG_APPEND_TIME_FLAG, NO_TIMESTAMP, Batch
from penstock.records.builder import with_payload
from penstock.records.compression import (
    CODEC_NAMES,
    MAX_DECOMPRESSED_BYTES,
    Codec,
    DecompressedSizeError,
    compress,
)
from penstock.records.layout import check_layout
from penstock.records.reader import decompressed_records, iterate_raw_records

LOG_APPEND_TIME = "LogAppendTime"
KEEP_PRODUCERS_CODEC = "producer"
NO_BOUND_MS = 2**63 - 1
RECORD_ERRORS_SHOWN = 3
MAX_RECORDS_TO_NAME = 10_000
MAX_COMPRESSED_BYTES_TO_NAME = 16 * 1024
"""A batch from the future above either is refused by its header: naming the records would take seconds."""
LONG_BYTES = 2 * 1024 * 1024
"""Decompressed; a batch of the largest size that a topic takes by default is below it."""
LONG_PARSED_RECORDS = 5_000
LONG_RECOMPRESSED_BYTES = 512 * 1024
"""Decompressed, too: gzip makes some 30 MB a second."""
PLAINLY_SHORT_BYTES = 32 * 1024
"""Without compression: not even that many of the smallest records are long by any of these."""


class ValidationSettings(Protocol):
    """What of a topic's settings matters here."""

    @property
    def cleanup_policy(self) -> Sequence[str]: ...
    @property
    def compression_type(self) -> str: ...
    @property
    def compression_gzip_level(self) -> int: ...
    @property
    def compression_lz4_level(self) -> int: ...
    @property
    def compression_zstd_level(self) -> int: ...
    @property
    def max_message_bytes(self) -> int: ...
    @property
    def message_timestamp_type(self) -> str: ...
    @property
    def message_timestamp_before_max_ms(self) -> int: ...
    @property
    def message_timestamp_after_max_ms(self) -> int: ...


class RecordError(ApiError):
    """Some records of a batch are refused, and with them the batch; says which and why."""

    def __init__(self, code: ErrorCode, message: str, record_errors: list[tuple[int, str]]) -> None:
        super().__init__(code, message)
        self.record_errors = record_errors  # (index in the batch, message)


class LongBatch(ApiError):
    """A batch that is not to be looked at in the event loop. Not an answer: who asked has it prepared elsewhere."""

    def __init__(self) -> None:
        super().__init__(ErrorCode.UNKNOWN_SERVER_ERROR, "The batch takes long to check")


def prepare(
    batches: list[Batch], settings: ValidationSettings, now_ms: int, *, is_long: bool = False
) -> list[Batch]:
    """A producer's batches as they go to the log: checked, and recompressed where need be.

    Raises `LongBatch`, before anything is changed, where that takes long, unless that is known (`is_long`)."""
    for batch in batches:
        _check_size(batch, settings.max_message_bytes)
        if is_long:
            check_records_layout(batch)
        elif batch.size <= PLAINLY_SHORT_BYTES and not batch.attributes & CODEC_MASK:
            check_layout(batch.records_view, batch.record_count)
        else:
            _check_short_layout(batch, settings)
        _check_records(batch, settings, now_ms)
    return prepare_own(batches, settings, now_ms)


def prepare_own(batches: list[Batch], settings: ValidationSettings, now_ms: int) -> list[Batch]:
    """The same for batches that the broker itself has made, which need no check."""
    if settings.compression_type != KEEP_PRODUCERS_CODEC:
        batches = [_recompress(batch, settings) for batch in batches]
    if settings.message_timestamp_type == LOG_APPEND_TIME:
        for batch in batches:
            batch.set_log_append_time(now_ms)
    return batches


def _check_size(batch: Batch, max_message_bytes: int) -> None:
    if batch.size > max_message_bytes:
        raise ApiError(
            ErrorCode.MESSAGE_TOO_LARGE,
            f"The record batch size is {batch.size} bytes which exceeds the maximum configured value of "
            f"{max_message_bytes}.",
        )


def check_records_layout(batch: Batch, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> None:
    """Broken compression under a right CRC is no damage on the way, which CORRUPT_MESSAGE would have clients retry."""
    if batch.codec == Codec.NONE:
        check_layout(batch.records_view, batch.record_count)
        return
    try:
        data = decompressed_records(batch, max_bytes)
    except DecompressedSizeError:
        raise
    except ApiError as error:
        raise ApiError(ErrorCode.INVALID_RECORD, error.message) from None
    check_layout(memoryview(data), batch.record_count)


def _check_short_layout(batch: Batch, settings: ValidationSettings) -> None:
    keeps_codec = settings.compression_type == KEEP_PRODUCERS_CODEC
    most_bytes = LONG_BYTES if keeps_codec else LONG_RECOMPRESSED_BYTES
    if batch.size > most_bytes:
        raise LongBatch
    if batch.record_count > LONG_PARSED_RECORDS and (
        "compact" in settings.cleanup_policy or settings.message_timestamp_before_max_ms != NO_BOUND_MS
    ):
        raise LongBatch
    try:
        check_records_layout(batch, most_bytes)
    except DecompressedSizeError:
        raise LongBatch from None


def _check_records(batch: Batch, settings: ValidationSettings, now_ms: int) -> None:
    errors: list[tuple[int, str]] = []
    if "compact" in settings.cleanup_policy:
        errors += _find_missing_keys(batch)
    if settings.message_timestamp_type == LOG_APPEND_TIME:
        timestamp_errors = _find_log_append_time(batch)
    else:
        _drop_log_append_time(batch)
        timestamp_errors = _find_bad_timestamps(batch, settings, now_ms)
    if timestamp_errors:
        raise RecordError(
            ErrorCode.INVALID_TIMESTAMP,
            "One or more records have been rejected due to invalid timestamp",
            errors + timestamp_errors,
        )
    if errors:
        shown = "; ".join(message for _, message in errors[:RECORD_ERRORS_SHOWN])
        raise RecordError(
            ErrorCode.INVALID_RECORD,
            f"One or more records have been rejected due to {len(errors)} record errors in total, and only showing "
            f"the first three errors at most: [{shown}]",
            errors,
        )


def _find_missing_keys(batch: Batch) -> list[tuple[int, str]]:
    data = memoryview(decompressed_records(batch))
    found = (
        (index, "Compacted topic cannot accept message without key")
        for index, raw in enumerate(iterate_raw_records(data, batch.record_count))
        if raw.key is None
    )
    return list(islice(found, MAX_RECORDS_TO_NAME))


def _find_log_append_time(batch: Batch) -> list[tuple[int, str]]:
    if not batch.attributes & LOG_APPEND_TIME_FLAG:
        return []
    return [
        (0, "Invalid timestamp type in message. Producer should not set timestamp type to LogAppendTime.")
    ]


def _drop_log_append_time(batch: Batch) -> None:
    if batch.attributes & LOG_APPEND_TIME_FLAG:
        batch.set_attributes(batch.attributes & ~LOG_APPEND_TIME_FLAG)


def _find_bad_timestamps(batch: Batch, settings: ValidationSettings, now_ms: int) -> list[tuple[int, str]]:
    before_ms, after_ms = settings.message_timestamp_before_max_ms, settings.message_timestamp_after_max_ms
    if before_ms == NO_BOUND_MS and batch.max_timestamp - now_ms <= after_ms:
        return []
    if batch.max_timestamp - now_ms > after_ms and _is_long(batch):
        return [
            (
                batch.last_offset_delta,
                f"Timestamp {batch.max_timestamp} of the batch is out of range. The timestamp should be within "
                f"[{now_ms - before_ms}, {now_ms + after_ms}]",
            )
        ]
    errors: list[tuple[int, str]] = []
    data = memoryview(decompressed_records(batch))
    for index, raw in enumerate(iterate_raw_records(data, batch.record_count)):
        timestamp = batch.base_timestamp + raw.timestamp_delta
        if timestamp != NO_TIMESTAMP and (now_ms - timestamp > before_ms or timestamp - now_ms > after_ms):
            errors.append(
                (
                    index,
                    f"Timestamp {timestamp} of message with offset {raw.offset_delta} is out of range. The timestamp "
                    f"should be within [{now_ms - before_ms}, {now_ms + after_ms}]",
                )
            )
            if len(errors) == MAX_RECORDS_TO_NAME:
                break
    return errors


def _is_long(batch: Batch) -> bool:
    is_compressed = batch.codec != Codec.NONE
    return batch.record_count > MAX_RECORDS_TO_NAME or (
        is_compressed and batch.size > MAX_COMPRESSED_BYTES_TO_NAME
    )


def _recompress(batch: Batch, settings: ValidationSettings) -> Batch:
    codec = CODEC_NAMES[settings.compression_type]
    if codec == batch.codec or batch.is_control:  # markers are never compressed
        return batch
    payload = compress(codec, decompressed_records(batch), _level(codec, settings))
    recompressed = with_payload(batch, payload, codec=codec)
    _check_size(recompressed, settings.max_message_bytes)
    return recompressed


def _level(codec: Codec, settings: ValidationSettings) -> int | None:
    levels = {
        Codec.GZIP: settings.compression_gzip_level,
        Codec.LZ4: settings.compression_lz4_level,
        Codec.ZSTD: settings.compression_zstd_level,
    }
    return levels.get(codec)
