"""From what a source polled to what a producer takes, as columns: transforms, then converters.

A batch is converted column by column, in comprehensions, as long as nothing fails. Converters only compute, so when one
does fail the batch is converted again, record by record, and the error policy hears of the ones that cannot be.
Transforms may remember things, so each record passes them once.

A source that polls `SourceColumns` need not have its records made: if nothing but the value's converter has anything to
do with them, and it converts them all at once, they stay columns. Else records are made of them, which then are like
all others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.pipeline.connect.api.converter import Converter, KafkaHeaders
from penstock.pipeline.connect.data import SourceColumns, SourceRecord
from penstock.pipeline.connect.tasks.error_policy import SKIPPED, ErrorPolicy, RetryLater, Stage
from penstock.pipeline.connect.tasks.stages import Stages

AllHeaders = Sequence[KafkaHeaders] | None


@dataclass(slots=True)
class EncodedBatch:
    """Columns of the same length, in the order of the source."""

    originals: Sequence[SourceRecord]
    """As the task polled them."""
    records: Sequence[SourceRecord]
    """As the transforms left them."""
    keys: Sequence[Any] | None = None
    """None where no record has any."""
    values: Sequence[Any] = ()
    """Bytes; also text, which stands for its bytes in UTF-8."""
    headers: AllHeaders = None
    """None where no record has any."""
    dropped: list[SourceRecord] = field(default_factory=list)
    """What a transform dropped, or what failed and is tolerated: not sent, but done with."""
    passed: Sequence[SourceRecord] = ()
    """All that was polled and is done with: their offsets are to be stored."""

    @property
    def is_plain(self) -> bool:
        """Whether topic, key and value say it all."""
        if isinstance(self.records, SourceColumns):
            return True
        return self.headers is None and not any(
            record.partition is not None or record.timestamp is not None for record in self.records
        )

    @property
    def topics(self) -> set[str]:
        if isinstance(self.records, SourceColumns):
            return {self.records.topic}
        return {record.topic for record in self.records}

    @property
    def positions(self) -> Sequence[SourceRecord]:
        """Of what is passed, what may be the last of its partition of the source."""
        return self.passed[-1:] if isinstance(self.passed, SourceColumns) else self.passed


class SourceEncoder:
    def __init__(self, stages: Stages, policy: ErrorPolicy) -> None:
        self._stages, self._policy = stages, policy
        self._adds_headers = stages.key.adds_headers or stages.value.adds_headers
        self.retry_later: RetryLater | None = None
        """Set when a record is left to the next tick: neither it nor what is behind it was done."""

    def encode(self, polled: Sequence[SourceRecord]) -> EncodedBatch:
        if isinstance(polled, SourceColumns):
            return self._encoded_columns(polled) or self.encode(list(polled))
        if not self._stages.transforms:
            return self._converted(EncodedBatch(polled, polled, passed=polled))
        return self._converted(self._transformed(polled))

    # --- columns

    def _encoded_columns(self, columns: SourceColumns) -> EncodedBatch | None:
        """None if records are to be made of them."""
        stages, topic = self._stages, columns.topic
        if stages.transforms or self._adds_headers or self._policy.tolerates_all:
            return None
        try:
            if stages.key.from_connect(topic, None, None) is not None:
                return None
            values = stages.value.from_connect_batch(topic, columns.schema, columns.values)
        except Exception:  # whatever it is, it is met again where the error policy hears of it
            return None
        return None if values is None else EncodedBatch(columns, columns, None, values, passed=columns)

    # --- transforms

    def _transformed(self, polled: Sequence[SourceRecord]) -> EncodedBatch:
        batch, done = EncodedBatch([], []), 0
        originals: list[SourceRecord] = []
        records: list[SourceRecord] = []
        apply = self._stages.transforms.apply
        try:
            for original in polled:
                try:
                    record: Any = apply(original)
                except Exception as error:
                    record = self._applied_again(original, error)
                done += 1
                if record is None or record is SKIPPED:
                    batch.dropped.append(original)
                else:
                    originals.append(original)
                    records.append(record)
        except RetryLater as later:
            self.retry_later = later
        return replace(batch, originals=originals, records=records, passed=polled[:done])

    def _applied_again(self, original: SourceRecord, error: Exception) -> Any:
        chain = self._stages.transforms
        return self._policy.go_on(
            error, lambda: chain.apply(original), Stage.TRANSFORMATION, self._stages.transform_name, original
        )

    # --- converters

    def _converted(self, batch: EncodedBatch) -> EncodedBatch:
        records = batch.records
        try:
            headers = self._all_headers(records)
            keys = _encoded_keys(self._stages.key, records, headers)
            values = _encoded_values(self._stages.value, records, headers)
        except Exception:
            return self._converted_one_by_one(batch)
        return replace(batch, keys=keys, values=values, headers=headers)

    def _all_headers(self, records: Sequence[SourceRecord]) -> AllHeaders:
        if not self._adds_headers and not any(record.headers._headers for record in records):
            return None
        return [self._headers_of(record) for record in records]

    def _headers_of(self, record: SourceRecord) -> KafkaHeaders:
        convert, topic = self._stages.header.from_connect_header, record.topic
        return [(each.key, convert(topic, each.key, each.schema, each.value)) for each in record.headers]

    def _converted_one_by_one(self, batch: EncodedBatch) -> EncodedBatch:
        rows: list[tuple[SourceRecord, SourceRecord, bytes | None, bytes | None, KafkaHeaders]] = []
        dropped, passed = list(batch.dropped), batch.passed
        for original, record in zip(batch.originals, batch.records, strict=True):
            try:
                row = self._row(original, record)
            except RetryLater as later:
                self.retry_later, passed = later, _before(passed, original)
                break
            if row is None:
                dropped.append(original)
            else:
                rows.append((original, record, *row))
        originals, records, keys, values, headers = zip(*rows, strict=True) if rows else ((),) * 5
        return EncodedBatch(originals, records, keys, values, headers, dropped, passed)

    def _row(
        self, original: SourceRecord, record: SourceRecord
    ) -> tuple[bytes | None, bytes | None, KafkaHeaders] | None:
        """Key, value and headers as bytes; None if one of them cannot be converted and that is tolerated."""
        stages = self._stages
        steps: tuple[tuple[Stage, str, Callable[[], Any]], ...] = (
            (Stage.HEADER_CONVERTER, stages.header_name, lambda: self._headers_of(record)),
            (
                *(Stage.KEY_CONVERTER, stages.key_name),
                lambda: stages.key.from_connect(record.topic, record.key_schema, record.key, done[0]),
            ),
            (
                *(Stage.VALUE_CONVERTER, stages.value_name),
                lambda: stages.value.from_connect(record.topic, record.value_schema, record.value, done[0]),
            ),
        )
        done: list[Any] = []
        for stage, name, convert in steps:
            result = self._policy.execute(convert, stage, name, original)
            if result is SKIPPED:
                return None
            done.append(result)
        headers, key, value = done
        return key, value, headers


def _before(records: Sequence[SourceRecord], stop: SourceRecord) -> Sequence[SourceRecord]:
    return records[: next(place for place, record in enumerate(records) if record is stop)]


def _encoded_keys(
    converter: Converter, records: Sequence[SourceRecord], headers: AllHeaders
) -> Sequence[Any]:
    convert = converter.from_connect
    if headers is not None:
        pairs = zip(records, headers, strict=True)
        return [convert(each.topic, each.key_schema, each.key, added) for each, added in pairs]
    if not any(each.key is not None or each.key_schema is not None for each in records):
        return _without_keys(convert, records)
    return [convert(each.topic, each.key_schema, each.key) for each in records]


def _without_keys(convert: Callable[..., Any], records: Sequence[SourceRecord]) -> Sequence[Any]:
    topics = {each.topic for each in records}
    keys = {topic: convert(topic, None, None) for topic in topics}
    if len(topics) == 1:
        return [keys[records[0].topic]] * len(records)
    return [keys[each.topic] for each in records]


def _encoded_values(
    converter: Converter, records: Sequence[SourceRecord], headers: AllHeaders
) -> Sequence[Any]:
    convert = converter.from_connect
    if headers is not None:
        pairs = zip(records, headers, strict=True)
        return [convert(each.topic, each.value_schema, each.value, added) for each, added in pairs]
    return [convert(each.topic, each.value_schema, each.value) for each in records]
