"""Kafka's formatters of records by the names of their Java classes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Protocol

from penstock.cli.tools.console.confluent_classes import FORMAT_OF_FORMATTER
from penstock.errors import ProtocolError
from penstock.wire_client.errors import KafkaError

if TYPE_CHECKING:
    from penstock.cli.tools.clients.record import Record
    from penstock.wire.schema import RecordTypes

PACKAGE = "org.apache.kafka.tools.consumer"
TIMESTAMP_TYPES = {1: "CreateTime", 2: "LogAppendTime"}
DEFAULT_FORMATTER = f"{PACKAGE}.DefaultMessageFormatter"


class Formatter(Protocol):
    def format(self, record: Record) -> bytes: ...


class FormatError(KafkaError):
    """A record is not what the formatter takes it for."""

    JAVA_NAME = "java.lang.RuntimeException"


class NoOpFormatter:
    def format(self, record: Record) -> bytes:
        return b""


class LoggingFormatter:
    """The default's lines, and each record to the log at INFO as well."""

    def __init__(self, default: Formatter) -> None:
        import logging

        self._default = default
        self._log = logging.getLogger(f"{PACKAGE}.LoggingMessageFormatter")

    def format(self, record: Record) -> bytes:
        kind, timestamp_ms = record.timestamp()
        timestamp = f"{TIMESTAMP_TYPES[kind]}:{timestamp_ms}, " if kind in TIMESTAMP_TYPES else ""
        key, value = _text(record.key()), _text(record.value())
        self._log.info(
            "%skey:%svalue:%s",
            timestamp,
            "null " if key is None else f"{key}, ",
            "null" if value is None else value,
        )
        return self._default.format(record)


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode("utf-8", "replace")


class CoordinatorRecordFormatter:
    """The records of an internal topic as JSON; as Kafka writes them, nothing stands between two of them."""

    def __init__(self, types: RecordTypes, shown: Collection[int] | None) -> None:
        self._types = types
        self._shown = shown

    def format(self, record: Record) -> bytes:
        from penstock.cli.tools.console.stored_json import record_as_json

        key = record.key()
        if key is None:
            return b""
        try:
            text = record_as_json(self._types, key, record.value(), self._shown)
        except (ProtocolError, ValueError) as error:
            raise FormatError(f"Could not read record at offset {record.offset()} due to: {error}") from None
        return b"" if text is None else text.encode()


OFFSETS = (0, 1)
GROUP_METADATA = (2,)


def _default(configs: Mapping[str, str], has_delivery_counts: bool) -> Formatter:
    from penstock.cli.tools.console.default_formatter import DefaultFormatter

    return DefaultFormatter(configs, has_delivery_counts=has_delivery_counts)


def _logging(configs: Mapping[str, str], has_delivery_counts: bool) -> Formatter:
    return LoggingFormatter(_default(configs, has_delivery_counts))


def _no_op(configs: Mapping[str, str], has_delivery_counts: bool) -> Formatter:
    return NoOpFormatter()


def _offsets(configs: Mapping[str, str], has_delivery_counts: bool) -> Formatter:
    from penstock.wire.stored.group import RECORD_TYPES

    return CoordinatorRecordFormatter(RECORD_TYPES, OFFSETS)


def _group_metadata(configs: Mapping[str, str], has_delivery_counts: bool) -> Formatter:
    from penstock.wire.stored.group import RECORD_TYPES

    return CoordinatorRecordFormatter(RECORD_TYPES, GROUP_METADATA)


def _share_group(configs: Mapping[str, str], has_delivery_counts: bool) -> Formatter:
    from penstock.wire.stored.share_group import RECORD_TYPES

    return CoordinatorRecordFormatter(RECORD_TYPES, None)


def _share_group_state(configs: Mapping[str, str], has_delivery_counts: bool) -> Formatter:
    from penstock.wire.stored.share_state import RECORD_TYPES

    return CoordinatorRecordFormatter(RECORD_TYPES, None)


def _transaction_log(configs: Mapping[str, str], has_delivery_counts: bool) -> Formatter:
    from penstock.wire.stored.transaction import RECORD_TYPES

    return CoordinatorRecordFormatter(RECORD_TYPES, None)


FORMATTERS: dict[str, Callable[[Mapping[str, str], bool], Formatter]] = {
    DEFAULT_FORMATTER: _default,
    f"{PACKAGE}.LoggingMessageFormatter": _logging,
    f"{PACKAGE}.NoOpMessageFormatter": _no_op,
    f"{PACKAGE}.OffsetsMessageFormatter": _offsets,
    f"{PACKAGE}.GroupMetadataMessageFormatter": _group_metadata,
    f"{PACKAGE}.ShareGroupMessageFormatter": _share_group,
    f"{PACKAGE}.TransactionLogMessageFormatter": _transaction_log,
    f"{PACKAGE}.group.share.ShareGroupStateMessageFormatter": _share_group_state,
}


def _with_schemas(name: str, configs: Mapping[str, str], has_delivery_counts: bool) -> Formatter:
    from penstock.cli.tools.console.schema_formatter import SchemaFormatter
    from penstock.rest.schemas.codec import FORMATS

    return SchemaFormatter(FORMATS[name], configs, has_delivery_counts=has_delivery_counts)


def check_formatter(class_name: str) -> None:
    if class_name not in FORMATTERS and class_name not in FORMAT_OF_FORMATTER:
        raise LookupError(class_name)


def formatter_of(
    class_name: str, configs: Mapping[str, str], *, has_delivery_counts: bool = False
) -> Formatter:
    """The formatter of a class; LookupError names a class that there is none of, as Java does."""
    check_formatter(class_name)
    if class_name in FORMAT_OF_FORMATTER:
        return _with_schemas(FORMAT_OF_FORMATTER[class_name], configs, has_delivery_counts)
    return FORMATTERS[class_name](configs, has_delivery_counts)
