"""The keys of every connector, of every source and of every sink, as a form would show them.

Names, types, defaults, groups, order and texts of errors are Kafka Connect's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any, Final, NamedTuple

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import (
    REQUIRED,
    ConfigDef,
    ConfigType,
    Importance,
    Validator,
    Width,
    at_least,
    invalid,
    not_empty,
    one_of,
)

NAME = "name"
CONNECTOR_CLASS = "connector.class"
CONNECTOR_VERSION = "connector.plugin.version"
KEY_CONVERTER, VALUE_CONVERTER, HEADER_CONVERTER = "key.converter", "value.converter", "header.converter"
PLUGIN_VERSION = "plugin.version"
TRANSFORMS, PREDICATES = "transforms", "predicates"
TOPICS, TOPICS_REGEX = "topics", "topics.regex"
DLQ_TOPIC = "errors.deadletterqueue.topic.name"
TOPIC_CREATION = "topic.creation."
TOPIC_CREATION_GROUPS = "topic.creation.groups"
EXACTLY_ONCE_SUPPORT = "exactly.once.support"
TRANSACTION_BOUNDARY = "transaction.boundary"
OFFSETS_TOPIC = "offsets.storage.topic"

COMMON_GROUP = "Common"
TRANSFORMS_GROUP = "Transforms"
PREDICATES_GROUP = "Predicates"
ERROR_GROUP = "Error Handling"
TOPIC_CREATION_GROUP = "Topic Creation"
EXACTLY_ONCE_GROUP = "Exactly Once Support"
OFFSETS_GROUP = "offsets.topic"

HIGH, MEDIUM, LOW = Importance.HIGH, Importance.MEDIUM, Importance.LOW
STRING, INT, LONG, SHORT = ConfigType.STRING, ConfigType.INT, ConfigType.LONG, ConfigType.SHORT
BOOLEAN, LIST, CLASS = ConfigType.BOOLEAN, ConfigType.LIST, ConfigType.CLASS


def name_without_control_characters(name: str, value: Any) -> None:
    if value is None:
        return
    if not value:
        raise invalid(name, value, "String may not be empty")
    found = [ord(each) for each in value if ord(each) < 32 or 127 <= ord(each) < 160]
    if found:
        codes = ", ".join(map(str, found))
        raise invalid(
            name,
            value,
            f"String may not contain control sequences but had the following ASCII chars: {codes}",
        )


def unique_aliases(name: str, value: Any) -> None:
    if value is None:
        raise invalid(name, None, "entry must be non null")
    if len(set(value)) < len(value):
        raise invalid(name, value, "Duplicate alias provided.")


def unique_words(name: str, value: Any) -> None:
    if value is None:
        raise ConfigError(f"Configuration '{name}' values must not be null.")
    if len(set(value)) < len(value):
        raise ConfigError(f"Configuration '{name}' values must not be duplicated.")
    if "" in value:
        raise ConfigError(f"Configuration '{name}' values must not be empty.")


def regular_expression(name: str, value: Any) -> None:
    try:
        re.compile(value)
    except (re.error, TypeError) as error:
        raise invalid(name, value, f"Invalid regex: {error}") from None


def unless_absent(check: Validator) -> Validator:
    def check_given(name: str, value: Any) -> None:
        if value is not None:
            check(name, value)

    return check_given


class _Row(NamedTuple):
    name: str
    type: ConfigType
    default: Any
    importance: Importance
    width: Width
    display_name: str
    doc: str
    validator: Validator | None = None


def _define(keys: ConfigDef, group: str, rows: Iterable[_Row], *orders: int) -> ConfigDef:
    """The rows as keys of a group, in the order of the form: from 1 on, unless told."""
    for order, row in zip(orders or count(1), rows, strict=False):
        keys.define(**row._asdict(), group=group, order_in_group=order)
    return keys


def common_keys(
    connector_version: str | None = None,
    converters: Mapping[str, tuple[str | None, str | None]] | None = None,
) -> ConfigDef:
    """`converters`: the worker's, which a connector has unless it says otherwise, with their versions."""
    version = _Row(
        *(CONNECTOR_VERSION, STRING, connector_version, MEDIUM, Width.MEDIUM, "Connector version"),
        "The version of the connector's class, or a range such as [1.0,2.0).",
    )
    given = converters or {}
    converter_rows = [
        row
        for name in (KEY_CONVERTER, VALUE_CONVERTER, HEADER_CONVERTER)
        for row in _converter_rows(name, *given.get(name, (None, None)))
    ]
    keys = _define(ConfigDef(), COMMON_GROUP, (*_FIRST_ROWS, version, *_TASK_ROWS, *converter_rows))
    order = len(keys)
    _define(keys, TRANSFORMS_GROUP, (_TRANSFORMS_ROW,), order + 1)
    _define(keys, PREDICATES_GROUP, (_PREDICATES_ROW,), order + 2)
    _define(keys, COMMON_GROUP, (_RELOAD_ROW,), order + 3)
    return _define(keys, ERROR_GROUP, _ERROR_ROWS)


def _converter_rows(name: str, default: str | None, version: str | None) -> tuple[_Row, _Row]:
    what = name.partition(".")[0]
    return (
        _Row(
            *(name, CLASS, default, LOW, Width.SHORT, f"{what.capitalize()} converter class"),
            f"Turns {what}s into bytes and back; the worker's, unless set.",
        ),
        _Row(
            *(f"{name}.{PLUGIN_VERSION}", STRING, version, LOW, Width.SHORT),
            *(f"{what.capitalize()} converter version", f"The version of the {what} converter."),
        ),
    )


_FIRST_ROWS: Final = (
    _Row(
        *(NAME, STRING, REQUIRED, HIGH, Width.MEDIUM, "Connector name"),
        "The connector's name, which no other has.",
        name_without_control_characters,
    ),
    _Row(
        *(CONNECTOR_CLASS, STRING, REQUIRED, HIGH, Width.LONG, "Connector class"),
        "The connector's class: in full (org.apache.kafka.connect.file.FileStreamSinkConnector, or "
        "package.module.Class in Python), by its last part, or by that without 'Connector'.",
    ),
)
_TASK_ROWS: Final = (
    _Row(
        *("tasks.max", INT, 1, HIGH, Width.SHORT, "Tasks max"),
        "How many tasks the connector may have at most.",
        at_least(1),
    ),
    _Row(
        *("tasks.max.enforce", BOOLEAN, True, LOW, Width.SHORT, "Enforce tasks max"),
        "(Deprecated) Whether a connector that makes more tasks than tasks.max fails.",
    ),
)
_TRANSFORMS_ROW: Final = _Row(
    *(TRANSFORMS, LIST, [], LOW, Width.LONG, "Transforms"),
    "Aliases of the transforms that records go through, in this order.",
    unique_aliases,
)
_PREDICATES_ROW: Final = _Row(
    *(PREDICATES, LIST, [], LOW, Width.LONG, "Predicates"),
    "Aliases of the predicates that transforms may ask.",
    unique_aliases,
)
_RELOAD_ROW: Final = _Row(
    *("config.action.reload", STRING, "restart", LOW, Width.MEDIUM, "Reload Action"),
    "What happens when a config provider's value changes: none, or restart the connector.",
    one_of("none", "restart"),
)
_ERROR_ROWS: Final = (
    _Row(
        *("errors.retry.timeout", LONG, 0, MEDIUM, Width.MEDIUM, "Retry Timeout for Errors"),
        "For how many milliseconds an operation that failed is tried again; 0 for never, -1 without end.",
    ),
    _Row(
        *("errors.retry.delay.max.ms", LONG, 60_000, MEDIUM, Width.MEDIUM),
        *(
            "Maximum Delay Between Retries for Errors",
            "The longest wait between two attempts, in milliseconds.",
        ),
    ),
    _Row(
        *("errors.tolerance", STRING, "none", MEDIUM, Width.SHORT, "Error Tolerance"),
        "What a record that cannot be handled does: none fails the task, all skips the record.",
        one_of("none", "all"),
    ),
    _Row(
        *("errors.log.enable", BOOLEAN, False, MEDIUM, Width.SHORT, "Log Errors"),
        "Whether each failed operation is written to the log, tolerated or not.",
    ),
    _Row(
        *("errors.log.include.messages", BOOLEAN, False, MEDIUM, Width.SHORT, "Log Error Details"),
        "Whether the log names the record too: a sink's by its place, a source's with key, value and headers.",
    ),
)
_TOPIC_ROWS: Final = (
    _Row(
        *(TOPICS, LIST, [], HIGH, Width.LONG, "Topics", "The topics to read, with commas between them."),
        unique_words,
    ),
    _Row(
        *(TOPICS_REGEX, STRING, "", HIGH, Width.LONG, "Topics regex"),
        "A regular expression that matches the whole name of each topic to read. Either this or topics is set.",
        regular_expression,
    ),
)
_DEAD_LETTER_ROWS: Final = (
    _Row(
        *(DLQ_TOPIC, STRING, "", MEDIUM, Width.MEDIUM, "Dead Letter Queue Topic Name"),
        "Where records go that this sink, its transforms or its converters cannot handle; nowhere if empty.",
    ),
    _Row(
        *("errors.deadletterqueue.topic.replication.factor", SHORT, 3, MEDIUM, Width.MEDIUM),
        *(
            "Dead Letter Queue Topic Replication Factor",
            "Replicas of that topic, if it has to be made.",
        ),
    ),
    _Row(
        *("errors.deadletterqueue.context.headers.enable", BOOLEAN, False, MEDIUM, Width.MEDIUM),
        "Enable Error Context Headers",
        "Whether records there say in headers (__connect.errors.*) where they come from and what went wrong.",
    ),
)
_CREATION_ROW: Final = _Row(
    *(TOPIC_CREATION_GROUPS, LIST, [], LOW, Width.LONG, "Topic Creation Groups"),
    "Groups of topics that are made with settings of their own.",
    unique_aliases,
)
_EXACTLY_ONCE_ROWS: Final = (
    _Row(
        *(EXACTLY_ONCE_SUPPORT, STRING, "requested", MEDIUM, Width.SHORT, "Exactly once support"),
        "required: the connector is refused unless it says that with this configuration it writes each record once; "
        "requested: nobody asks.",
        one_of("REQUIRED", "REQUESTED", ignore_case=True),
    ),
    _Row(
        *(TRANSACTION_BOUNDARY, STRING, "poll", MEDIUM, Width.SHORT, "Transaction Boundary"),
        "Where a transaction ends: with each poll, after an interval, or where the connector says.",
        one_of("INTERVAL", "POLL", "CONNECTOR", ignore_case=True),
    ),
    _Row(
        *("transaction.boundary.interval.ms", LONG, None, LOW, Width.SHORT, "Transaction boundary interval"),
        "That interval; the worker's offset.flush.interval.ms, unless set.",
        unless_absent(at_least(0)),
    ),
)
_OFFSETS_ROW: Final = _Row(
    *(OFFSETS_TOPIC, STRING, None, LOW, Width.LONG, "Offsets topic"),
    "A topic for this connector's offsets alone; the worker's, unless set.",
    not_empty,
)


def _sink_keys() -> ConfigDef:
    keys = _define(ConfigDef(), COMMON_GROUP, _TOPIC_ROWS, 4, 4)
    return _define(keys, ERROR_GROUP, _DEAD_LETTER_ROWS, 6, 7, 8)


def _source_keys() -> ConfigDef:
    keys = _define(ConfigDef(), TOPIC_CREATION_GROUP, (_CREATION_ROW,))
    _define(keys, EXACTLY_ONCE_GROUP, _EXACTLY_ONCE_ROWS, 2, 3, 4)
    return _define(keys, OFFSETS_GROUP, (_OFFSETS_ROW,))


SINK_KEYS: Final = _sink_keys()
SOURCE_KEYS: Final = _source_keys()
