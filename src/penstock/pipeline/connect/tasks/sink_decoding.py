"""From what was consumed to what a sink takes: converters, then transforms.

As for sources, a batch is converted in comprehensions as long as nothing fails, and record by record when one does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from penstock.client.librdkafka import Message
from penstock.pipeline.connect.api.converter import Converter, KafkaHeaders, SchemaAndValue
from penstock.pipeline.connect.data import Headers, SinkColumns, SinkRecord
from penstock.pipeline.connect.tasks.error_policy import (
    SKIPPED,
    TIMESTAMP_TYPES,
    ErrorPolicy,
    RetryLater,
    Stage,
)
from penstock.pipeline.connect.tasks.stages import Stages

NO_TIMESTAMP_TYPE = "NoTimestampType"


@dataclass(slots=True)
class DecodedBatch:
    """`done` is how many of the messages were dealt with: all, but for those behind one that is tried again later."""

    records: list[SinkRecord]
    messages: list[Message]
    """What each record was made of."""
    done: int


class SinkDecoder:
    def __init__(self, stages: Stages, policy: ErrorPolicy) -> None:
        self._stages, self._policy = stages, policy
        self.retry_later: RetryLater | None = None

    def columns(self, messages: Sequence[Message]) -> SinkColumns | None:
        """The records as columns, if they are all of one topic and their values rows that nothing is wrong with."""
        topic = messages[0].topic() or ""
        if self._stages.transforms or any(each.topic() != topic for each in messages):
            return None
        found = self._stages.value.to_table(topic, list(map(Message.value, messages)))
        if found is None or not self._has_good_keys(topic, messages):
            return None
        return SinkColumns(
            topic,
            list(map(Message.partition, messages)),  # type: ignore[arg-type]
            list(map(Message.offset, messages)),  # type: ignore[arg-type]
            *found,
            lambda index: self._record(messages[index], *self._all_parts(messages[index])),
            lambda start, stop: list(map(_timestamp_of, messages[start:stop])),
        )

    def _has_good_keys(self, topic: str, messages: Sequence[Message]) -> bool:
        """Also where nobody asks for it, a key that can't be converted is an error."""
        if self._stages.key.takes_any_bytes:
            return True
        keys = list(map(Message.key, messages))
        if keys.count(None) == len(keys):
            return True
        try:
            _column(self._stages.key, topic, messages, keys)
        except Exception:
            return False
        return True

    def decode(self, messages: Sequence[Message]) -> DecodedBatch:
        batch = self._converted(messages)
        return self._transformed(batch) if self._stages.transforms else batch

    # --- converters

    def _converted(self, messages: Sequence[Message]) -> DecodedBatch:
        try:
            records = self._converted_together(messages)
        except Exception:
            return self._converted_one_by_one(messages)
        return DecodedBatch(records, list(messages), len(messages))

    def _converted_together(self, messages: Sequence[Message]) -> list[SinkRecord]:
        topics = set(map(Message.topic, messages))
        if len(topics) != 1:
            return [self._record(message, *self._all_parts(message)) for message in messages]
        topic = topics.pop() or ""
        values = _column(self._stages.value, topic, messages, list(map(Message.value, messages)))
        keys = _column(self._stages.key, topic, messages, list(map(Message.key, messages)))
        return [
            self._record(message, key, value, self._headers(message))
            for message, key, value in zip(messages, keys, values, strict=True)
        ]

    def _all_parts(self, message: Message) -> tuple[SchemaAndValue, SchemaAndValue, Headers]:
        topic, headers = message.topic() or "", _headers_of(message)
        return (
            self._stages.key.to_connect(topic, message.key(), headers),
            self._stages.value.to_connect(topic, message.value(), headers),
            self._headers(message),
        )

    def _headers(self, message: Message) -> Headers:
        found = _headers_of(message)
        headers = Headers()
        if found:
            convert, topic = self._stages.header.to_connect_header, message.topic() or ""
            for key, data in found:
                schema, value = convert(topic, key, data)
                headers.add(key, value, schema)
        return headers

    def _record(
        self, message: Message, key: SchemaAndValue, value: SchemaAndValue, headers: Headers
    ) -> SinkRecord:
        kind = message.timestamp()[0]
        return SinkRecord(
            message.topic(),  # type: ignore[arg-type]
            message.partition(),  # type: ignore[arg-type]
            message.offset(),  # type: ignore[arg-type]
            value[1],
            value[0],
            key[1],
            key[0],
            _timestamp_of(message),
            TIMESTAMP_TYPES.get(kind, NO_TIMESTAMP_TYPE),
            headers,
        )

    def _converted_one_by_one(self, messages: Sequence[Message]) -> DecodedBatch:
        batch = DecodedBatch([], [], 0)
        for message in messages:
            try:
                record = self._converted_alone(message)
            except RetryLater as later:
                self.retry_later = later
                break
            batch.done += 1
            if record is not None:
                batch.records.append(record)
                batch.messages.append(message)
        return batch

    def _converted_alone(self, message: Message) -> SinkRecord | None:
        """None if it cannot be converted, and that is tolerated."""
        stages, topic, headers = self._stages, message.topic() or "", _headers_of(message)
        steps: tuple[tuple[Stage, str, Callable[[], Any]], ...] = (
            (
                *(Stage.KEY_CONVERTER, stages.key_name),
                lambda: stages.key.to_connect(topic, message.key(), headers),
            ),
            (
                *(Stage.VALUE_CONVERTER, stages.value_name),
                lambda: stages.value.to_connect(topic, message.value(), headers),
            ),
            (Stage.HEADER_CONVERTER, stages.header_name, lambda: self._headers(message)),
        )
        parts: list[Any] = []
        for stage, name, convert in steps:
            part = self._policy.execute(convert, stage, name, message)
            if part is SKIPPED:
                return None
            parts.append(part)
        return self._record(message, *parts)

    # --- transforms

    def _transformed(self, batch: DecodedBatch) -> DecodedBatch:
        result = DecodedBatch([], [], batch.done)
        for record, message in zip(batch.records, batch.messages, strict=True):
            try:
                changed = self._transformed_alone(record, message)
            except RetryLater as later:
                self.retry_later = later
                return DecodedBatch([], [], 0)  # nothing of it was put yet
            if changed is not None:
                result.records.append(changed)
                result.messages.append(message)
        return result

    def _transformed_alone(self, record: SinkRecord, message: Message) -> SinkRecord | None:
        chain = self._stages.transforms
        changed: Any = self._policy.execute(
            lambda: chain.apply(record), Stage.TRANSFORMATION, self._stages.transform_name, message
        )
        return None if changed is SKIPPED else changed


def _column(
    converter: Converter, topic: str, messages: Sequence[Message], data: Sequence[bytes | None]
) -> Sequence[SchemaAndValue]:
    """Keys or values of records of one topic."""
    convert = converter.to_connect
    if data.count(None) == len(data):
        return [convert(topic, None)] * len(data)
    return [convert(topic, each, _headers_of(message)) for each, message in zip(data, messages, strict=True)]


def _timestamp_of(message: Message) -> int | None:
    kind, timestamp = message.timestamp()
    return timestamp if kind else None


def _headers_of(message: Message) -> KafkaHeaders | None:
    """As they were consumed: a list of names and bytes."""
    return cast("KafkaHeaders | None", message.headers())
