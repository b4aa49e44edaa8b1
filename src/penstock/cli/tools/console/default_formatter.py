"""Records as lines: Kafka's DefaultMessageFormatter with its properties.

A formatter turns a record into the bytes of its output. The usual line, the value alone, has a way of its own for
whole batches (`format_values`): nothing is done per record but to take its value.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from penstock.cli.tools.clients.log_lines import log_error
from penstock.cli.tools.console.deserializers import Deserialize, UnknownDeserializerError, deserializer_of

if TYPE_CHECKING:
    from penstock.cli.tools.clients.record import Record

Column = Callable[["Record"], bytes]
LOGGER = "org.apache.kafka.tools.consumer.DefaultMessageFormatter"
TIMESTAMP_TYPES = {1: b"CreateTime:%d", 2: b"LogAppendTime:%d"}
NO_TIMESTAMP = b"NO_TIMESTAMP"
NO_HEADERS = b"NO_HEADERS"
NOT_PRESENT = b"NOT_PRESENT"


class DefaultFormatter:
    def __init__(self, configs: Mapping[str, str], *, has_delivery_counts: bool = False) -> None:
        self._separator = configs.get("key.separator", "\t").encode()
        self._line_separator = configs.get("line.separator", "\n").encode()
        self._headers_separator = configs.get("headers.separator", ",").encode()
        self._null = configs.get("null.literal", "null").encode()
        self._deserialize_key = _configured_deserializer(configs, "key.deserializer", is_key=True)
        self._deserialize_value = _configured_deserializer(configs, "value.deserializer")
        self._deserialize_header = _configured_deserializer(configs, "headers.deserializer")
        self._delivery = _delivery_count if has_delivery_counts else _no_delivery_count
        self._columns = [column for name, column in self._known_columns() if _is_printed(configs, name)]
        self.is_value_alone = self._columns == [self._value] and self._deserialize_value is None

    def _known_columns(self) -> list[tuple[str, Column]]:
        """In the order of a line."""
        return [
            ("print.timestamp", _timestamp),
            ("print.partition", _partition),
            ("print.offset", _offset),
            ("print.delivery", self._delivery),
            ("print.epoch", _epoch),
            ("print.headers", self._headers),
            ("print.key", self._key),
            ("print.value", self._value),
        ]

    def format(self, record: Record) -> bytes:
        if not self._columns:
            return b""
        return self._separator.join([column(record) for column in self._columns]) + self._line_separator

    def format_values(self, records: Sequence[Record]) -> bytes:
        """The lines of records of which only the value is shown."""
        values = [record.value() for record in records]
        separator = self._line_separator
        try:
            return separator.join(values) + separator  # type: ignore[arg-type]
        except TypeError:
            return separator.join([self._null if value is None else value for value in values]) + separator

    def _headers(self, record: Record) -> bytes:
        headers = record.headers()
        if not headers:
            return NO_HEADERS
        return self._headers_separator.join(
            [name.encode() + b":" + self._text(value, self._deserialize_header) for name, value in headers]
        )

    def _key(self, record: Record) -> bytes:
        return self._text(record.key(), self._deserialize_key)

    def _value(self, record: Record) -> bytes:
        return self._text(record.value(), self._deserialize_value)

    def _text(self, data: bytes | None, deserialize: Deserialize | None) -> bytes:
        present = self._null if data is None else data
        return present if deserialize is None else deserialize(present).encode()


def _timestamp(record: Record) -> bytes:
    kind, timestamp_ms = record.timestamp()
    return TIMESTAMP_TYPES[kind] % timestamp_ms if kind in TIMESTAMP_TYPES else NO_TIMESTAMP


def _partition(record: Record) -> bytes:
    return b"Partition:%d" % record.partition()


def _offset(record: Record) -> bytes:
    return b"Offset:%d" % record.offset()


def _epoch(record: Record) -> bytes:
    """Kafka's tool drops the epoch before it hands the record to the formatter."""
    return b"Epoch:" + NOT_PRESENT


def _delivery_count(record: Record) -> bytes:
    return b"Delivery:%d" % record.delivery_count()


def _no_delivery_count(record: Record) -> bytes:
    return b"Delivery:" + NOT_PRESENT


def _is_printed(configs: Mapping[str, str], name: str) -> bool:
    return configs.get(name, str(name == "print.value")).strip().lower() == "true"


def _configured_deserializer(
    configs: Mapping[str, str], key: str, is_key: bool = False
) -> Deserialize | None:
    """The deserializer of a property; with one that cannot be made, the bytes are shown as they are."""
    if key not in configs:
        return None
    prefix = f"{key}."
    own = {name.removeprefix(prefix): text for name, text in configs.items() if name.startswith(prefix)}
    try:
        return deserializer_of(configs[key], own, is_key)
    except UnknownDeserializerError as error:
        log_error(f"Unable to instantiate a deserializer from {configs[key]}", LOGGER, str(error))
        return None
