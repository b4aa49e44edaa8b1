"""The keys, named as Debezium names them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from penstock.pipeline.connect.api.config_def import (
    ConfigDef,
    ConfigType,
    Importance,
    at_least,
    between,
    invalid,
    not_empty,
    one_of,
)
from penstock.pipeline.connect.connectors.jdbc.dialect import TableName

INITIAL, INITIAL_ONLY, NEVER, NO_DATA = "initial", "initial_only", "never", "no_data"
ALL_TABLES, FILTERED, DISABLED = "all_tables", "filtered", "disabled"
_SLOT_NAME: Final = re.compile(r"[a-z0-9_]{1,63}")
_OPERATIONS: Final = {"c", "u", "d", "t", "none"}


def _is_slot_name(name: str, value: Any) -> None:
    if not _SLOT_NAME.fullmatch(value or ""):
        raise invalid(name, value, "takes up to 63 of a-z, 0-9 and _")


def _are_expressions(name: str, value: Sequence[str]) -> None:
    for each in value or ():
        try:
            re.compile(each)
        except re.error as error:
            raise invalid(name, each, f"no regular expression: {error}") from None


def _are_operations(name: str, value: Sequence[str]) -> None:
    if not set(value or ()) <= _OPERATIONS:
        raise invalid(name, value, f"takes some of {', '.join(sorted(_OPERATIONS))}")


_REQUIRED: Final = (
    ("database.hostname", ConfigType.STRING, not_empty, "Where PostgreSQL is."),
    ("database.user", ConfigType.STRING, not_empty, "The user to log in as, with the attribute REPLICATION."),
    ("database.dbname", ConfigType.STRING, not_empty, "The database whose changes are captured."),
    ("topic.prefix", ConfigType.STRING, not_empty, "Topics are named prefix.schema.table."),
)
_KEYS: Final = (
    ("database.port", ConfigType.INT, 5432, between(1, 65535), "Where PostgreSQL listens."),
    ("database.password", ConfigType.PASSWORD, None, None, "The password to log in with."),
    (
        "database.sslmode",
        ConfigType.STRING,
        "prefer",
        None,
        "disable, prefer, require, verify-ca or verify-full.",
    ),
    ("plugin.name", ConfigType.STRING, "pgoutput", one_of("pgoutput"), "PostgreSQL's own output plugin."),
    (
        "slot.name",
        ConfigType.STRING,
        "debezium",
        _is_slot_name,
        "The replication slot, made if it is not there.",
    ),
    ("publication.name", ConfigType.STRING, "dbz_publication", not_empty, "The publication of the tables."),
    (
        "publication.autocreate.mode",
        ConfigType.STRING,
        ALL_TABLES,
        one_of(ALL_TABLES, FILTERED, DISABLED),
        "Whether a missing publication is made: of all tables, of those that are captured, or not.",
    ),
    (
        "schema.include.list",
        ConfigType.LIST,
        "",
        _are_expressions,
        "Schemas to capture, as regular expressions.",
    ),
    ("schema.exclude.list", ConfigType.LIST, "", _are_expressions, "Schemas not to capture."),
    (
        "table.include.list",
        ConfigType.LIST,
        "",
        _are_expressions,
        "Tables to capture, as expressions of schema.table.",
    ),
    ("table.exclude.list", ConfigType.LIST, "", _are_expressions, "Tables not to capture."),
    (
        "snapshot.mode",
        ConfigType.STRING,
        INITIAL,
        one_of(INITIAL, INITIAL_ONLY, NEVER, NO_DATA),
        "initial: first the rows that are there, then changes. initial_only: no changes. never, no_data: changes only.",
    ),
    ("tombstones.on.delete", ConfigType.BOOLEAN, True, None, "A record without value behind each delete."),
    ("skipped.operations", ConfigType.LIST, "t", _are_operations, "Of c, u, d and t; none for none."),
    ("max.batch.size", ConfigType.INT, 2048, at_least(1), "Rows or changes to read at a time."),
    (
        "poll.interval.ms",
        ConfigType.LONG,
        500,
        at_least(1),
        "How often to look for changes when there are none.",
    ),
)


def _config_def() -> ConfigDef:
    keys = ConfigDef()
    for required, kind, check, text in _REQUIRED:
        keys.define(required, kind, validator=check, doc=text, importance=Importance.HIGH)
    for name, kind, default, validator, doc in _KEYS:
        keys.define(name, kind, default, validator=validator, doc=doc)
    return keys


CONFIG: Final = _config_def()


def is_captured(settings: Mapping[str, Any]) -> Callable[[TableName], bool]:
    """As Debezium has it: expressions match whole names, whatever the case."""
    schemas, tables = settings["schema.include.list"], settings["table.include.list"]
    has_schema, has_table = _matcher(schemas, if_none=True), _matcher(tables, if_none=True)
    lacks_schema, lacks_table = (
        _matcher(settings[name], if_none=False) for name in ("schema.exclude.list", "table.exclude.list")
    )
    return lambda table: (
        (has_schema(table.schema) and has_table(str(table)))
        and not (lacks_schema(table.schema) or lacks_table(str(table)))
    )


def _matcher(expressions: Sequence[str], *, if_none: bool) -> Callable[[str], bool]:
    compiled = [re.compile(each, re.IGNORECASE) for each in expressions if each]
    return lambda text: any(each.fullmatch(text) for each in compiled) if compiled else if_none
