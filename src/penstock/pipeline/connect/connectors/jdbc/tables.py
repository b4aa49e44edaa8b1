"""The tables that rows go to: known by their columns, created and extended where that is allowed."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.pipeline.connect.connectors.jdbc.dialect import (
    Described,
    Dialect,
    NewColumn,
    TableName,
    add_columns,
    by_name,
    create_table,
)
from penstock.pipeline.connect.connectors.jdbc.row_layout import RowLayout
from penstock.pipeline.connect.errors import ConnectError

log = logging.getLogger("penstock.connect.jdbc")


class Tables:
    def __init__(self, database: Dialect, settings: Mapping[str, Any]) -> None:
        self._database = database
        self._creates, self._evolves = settings["auto.create"], settings["auto.evolve"]
        self._known: dict[TableName, Described] = {}

    def forget(self) -> None:
        """After a transaction that did not come to its end."""
        self._known.clear()

    def prepare(self, table: TableName, layout: RowLayout) -> Described:
        """Makes sure that the table has the layout's columns; all that it has."""
        known = self._known.get(table)
        if known is not None and all(name in known for name in layout.names):
            return known
        known = by_name(self._database.columns(table))
        if not all(name in known for name in layout.names):
            known = self._changed(table, layout)
        self._known[table] = known
        return known

    def _changed(self, table: TableName, layout: RowLayout) -> Described:
        """With the columns that it lacks, unless another task was faster: all want them at the same moment."""
        self._database.lock_tables()
        known = by_name(self._database.columns(table))
        if not known:
            self._create(table, layout)
        elif missing := [each for each in layout.columns if each.name not in known]:
            self._extend(table, known, missing)
        return by_name(self._database.columns(table))

    def _create(self, table: TableName, layout: RowLayout) -> None:
        if not self._creates:
            raise ConnectError(f"table {table} is not there, and auto.create is false")
        sql = create_table(self._database, table, layout.columns)
        log.info("creates a table: %s", sql)
        self._database.execute(sql)

    def _extend(self, table: TableName, known: Described, missing: Sequence[NewColumn]) -> None:
        names = ", ".join(each.name for each in missing)
        if not self._evolves:
            raise ConnectError(
                f"table {table} lacks the columns {names}, and auto.evolve is false; it has {', '.join(known)}"
            )
        required = [each.name for each in missing if not each.schema.optional and not each.schema.has_default]
        if required:
            raise ConnectError(
                f"table {table}: cannot add {', '.join(required)}: a column that rows lack so far has to be optional"
            )
        optional = [NewColumn(each.name, each.schema.as_optional()) for each in missing]
        for sql in add_columns(self._database, table, optional):
            log.info("extends a table: %s", sql)
            self._database.execute(sql)
