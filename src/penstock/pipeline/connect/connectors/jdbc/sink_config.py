"""The keys of the sink."""

from __future__ import annotations

from typing import Final

from penstock.pipeline.connect.api.config_def import (
    ConfigType,
    Importance,
    at_least,
    one_of,
)
from penstock.pipeline.connect.connectors.jdbc.databases import KeyRow, with_connection

INSERT, UPSERT, UPDATE = "insert", "upsert", "update"
NONE, KAFKA, RECORD_KEY, RECORD_VALUE = "none", "kafka", "record_key", "record_value"

_KEYS: tuple[KeyRow, ...] = (
    (
        "insert.mode",
        ConfigType.STRING,
        INSERT,
        Importance.HIGH,
        one_of(INSERT, UPSERT, UPDATE),
        "insert: plain INSERTs. upsert: a row with the same primary key is overwritten, so that a record that comes "
        "twice counts once. update: only rows that are there are changed.",
    ),
    (
        "batch.size",
        ConfigType.INT,
        3000,
        Importance.MEDIUM,
        at_least(1),
        "How many rows go to the database in one statement, at most; PostgreSQL takes more where records come as "
        "columns.",
    ),
    (
        "delete.enabled",
        ConfigType.BOOLEAN,
        False,
        Importance.MEDIUM,
        None,
        "Whether a tombstone (a record without a value) deletes its row. Needs pk.mode=record_key.",
    ),
    (
        "table.name.format",
        ConfigType.STRING,
        "${topic}",
        Importance.MEDIUM,
        None,
        "The table, maybe with its schema; ${topic} stands for the topic's name.",
    ),
    (
        "pk.mode",
        ConfigType.STRING,
        NONE,
        Importance.HIGH,
        one_of(NONE, KAFKA, RECORD_KEY, RECORD_VALUE),
        "What the primary key is: none; kafka, the record's coordinates; record_key or record_value, fields of these.",
    ),
    (
        "pk.fields",
        ConfigType.LIST,
        "",
        Importance.MEDIUM,
        None,
        "The primary key's columns. kafka: three names for topic, partition and offset. record_key: fields of the "
        "key, or the name of a key that is a single value. record_value: fields of the value. Empty: all of them.",
    ),
    (
        "fields.whitelist",
        ConfigType.LIST,
        "",
        Importance.MEDIUM,
        None,
        "The value's fields to write beside the primary key; empty for all.",
    ),
    (
        "auto.create",
        ConfigType.BOOLEAN,
        False,
        Importance.MEDIUM,
        None,
        "Whether a table that is missing is created from the record's schema.",
    ),
    (
        "auto.evolve",
        ConfigType.BOOLEAN,
        False,
        Importance.MEDIUM,
        None,
        "Whether a column that is missing is added. It has to be optional or to have a default.",
    ),
    ("max.retries", ConfigType.INT, 10, Importance.MEDIUM, at_least(0), "How often to try again in a row."),
    (
        "retry.backoff.ms",
        ConfigType.INT,
        3000,
        Importance.MEDIUM,
        at_least(0),
        "How long to wait before the same records are tried again.",
    ),
    (
        "offsets.table",
        ConfigType.STRING,
        "",
        Importance.LOW,
        None,
        "A table (created if missing) that keeps the position of each partition, written in the transaction of the "
        "rows: so that each record is written exactly once with insert.mode=insert too. Empty: none.",
    ),
)


SINK_KEYS: Final = with_connection(_KEYS)
