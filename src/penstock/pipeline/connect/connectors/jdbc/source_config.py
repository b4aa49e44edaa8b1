"""The keys of the source."""

from __future__ import annotations

from typing import Final

from penstock.pipeline.connect.api.config_def import (
    REQUIRED,
    ConfigType,
    Importance,
    at_least,
    one_of,
)
from penstock.pipeline.connect.connectors.jdbc import numeric
from penstock.pipeline.connect.connectors.jdbc.databases import KeyRow, with_connection

BULK, INCREMENTING, TIMESTAMP, BOTH = "bulk", "incrementing", "timestamp", "timestamp+incrementing"
MODES = (BULK, INCREMENTING, TIMESTAMP, BOTH)
TABLES = "tables"
"""The key of a task's configuration that says which tables are its."""

_KEYS: tuple[KeyRow, ...] = (
    (
        "mode",
        ConfigType.STRING,
        REQUIRED,
        Importance.HIGH,
        one_of(*MODES),
        "bulk: all rows, every time. incrementing: rows with a higher number in a column that only grows. timestamp: "
        "rows with a later time in a column. timestamp+incrementing: both, which sees changes and misses none.",
    ),
    (
        "incrementing.column.name",
        ConfigType.STRING,
        "",
        Importance.MEDIUM,
        None,
        "The column that only grows; empty for the one that the database numbers by itself.",
    ),
    (
        "timestamp.column.name",
        ConfigType.LIST,
        "",
        Importance.MEDIUM,
        None,
        "The column with the time of a row's last change; of several, the first that is not null.",
    ),
    (
        "timestamp.initial",
        ConfigType.LONG,
        None,
        Importance.LOW,
        None,
        "Where a new source begins, in milliseconds since 1970; -1 for now. Without it, at the beginning.",
    ),
    (
        "timestamp.delay.interval.ms",
        ConfigType.LONG,
        0,
        Importance.MEDIUM,
        at_least(0),
        "How old a row's time must be before it is read, for transactions that commit late.",
    ),
    (
        "validate.non.null",
        ConfigType.BOOLEAN,
        True,
        Importance.LOW,
        None,
        "Whether the columns that say what is new must be NOT NULL.",
    ),
    ("query", ConfigType.STRING, "", Importance.MEDIUM, None, "A query in place of whole tables."),
    (
        "query.suffix",
        ConfigType.STRING,
        "",
        Importance.LOW,
        None,
        "Added to the end of each query.",
    ),
    (
        "table.whitelist",
        ConfigType.LIST,
        "",
        Importance.MEDIUM,
        None,
        "The tables to read, and no others.",
    ),
    ("table.blacklist", ConfigType.LIST, "", Importance.MEDIUM, None, "Tables not to read."),
    (
        "catalog.pattern",
        ConfigType.STRING,
        None,
        Importance.MEDIUM,
        None,
        "Accepted; the URL names the database.",
    ),
    (
        "schema.pattern",
        ConfigType.STRING,
        None,
        Importance.HIGH,
        None,
        "The schemas whose tables are read, as a pattern of LIKE.",
    ),
    ("table.types", ConfigType.LIST, "TABLE", Importance.LOW, None, "TABLE, VIEW or both."),
    (
        "table.poll.interval.ms",
        ConfigType.LONG,
        60000,
        Importance.LOW,
        at_least(1),
        "How often to look for new tables.",
    ),
    (
        "poll.interval.ms",
        ConfigType.INT,
        5000,
        Importance.HIGH,
        at_least(0),
        "How often to ask each table for new rows.",
    ),
    ("batch.max.rows", ConfigType.INT, 100, Importance.LOW, at_least(1), "How many rows to hand on at once."),
    (
        "topic.prefix",
        ConfigType.STRING,
        "",
        Importance.HIGH,
        None,
        "Before a table's name it gives the topic; with a query it is the topic.",
    ),
    (
        "numeric.mapping",
        ConfigType.STRING,
        numeric.NONE,
        Importance.LOW,
        one_of(*numeric.MAPPINGS, ignore_case=True),
        "What exact numbers become: none keeps them exact, the others use integers and doubles where they fit.",
    ),
)


SOURCE_KEYS: Final = with_connection(_KEYS)
