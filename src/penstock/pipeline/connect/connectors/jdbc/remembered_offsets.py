"""Positions that lie in the database beside the rows, changed in the same transaction: exactly once for any insert."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.pipeline.connect.connectors.jdbc.dialect import (
    Dialect,
    NewColumn,
    Upsert,
    create_table,
    split_table_name,
)
from penstock.pipeline.connect.data.schema import INT32, INT64, STRING

COLUMNS = (
    NewColumn("connector", STRING, is_key=True),
    NewColumn("topic", STRING, is_key=True),
    NewColumn("kafka_partition", INT32, is_key=True),
    NewColumn("next_offset", INT64),
)


class RememberedOffsets:
    def __init__(self, database: Dialect, table: str, connector: str) -> None:
        self._database = database
        self._table = split_table_name(table)
        self._connector = connector
        self._rows = Upsert(
            self._table, tuple(each.name for each in COLUMNS), ("connector", "topic", "kafka_partition")
        )

    def read(self) -> dict[tuple[str, int], int]:
        """All that this connector has; creates the table where it is missing."""
        database = self._database
        if not database.columns(self._table):
            self._create()
            return {}
        sql = (
            f"SELECT topic, kafka_partition, next_offset FROM {database.quote_table(self._table)} "
            f"WHERE connector = {database.placeholder}"
        )
        found = [row for rows in database.rows(sql, (self._connector,), 1000) for row in rows]
        database.commit()
        return {(topic, partition): offset for topic, partition, offset in found}

    def _create(self) -> None:
        """Unless another task was faster."""
        database = self._database
        database.lock_tables()
        if not database.columns(self._table):
            database.execute(create_table(database, self._table, COLUMNS))
        database.commit()

    def write(self, offsets: Mapping[tuple[str, int], int]) -> None:
        """Within the transaction of the rows."""
        self._database.upsert(
            self._rows,
            [(self._connector, topic, partition, offset) for (topic, partition), offset in offsets.items()],
        )
