"""What is asked of PostgreSQL, over one connection.

There is no streaming connection: a slot is peeked at with SQL, which leaves it where it is, and is advanced in a step
of its own, to what Kafka has. Peeking decodes whole transactions; their messages are fetched with a cursor, some at a
time, so that one larger than memory is no trouble here (PostgreSQL puts it on its disk).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from penstock.pipeline.connect.connectors.jdbc.dialect import TableName
from penstock.pipeline.connect.connectors.jdbc.postgres import Postgres
from penstock.pipeline.connect.connectors.jdbc.url import DatabaseUrl
from penstock.pipeline.connect.connectors.postgres_cdc.config import ALL_TABLES, DISABLED, FILTERED
from penstock.pipeline.connect.connectors.postgres_cdc.pgoutput import Relation, RelationColumn, Row
from penstock.pipeline.connect.connectors.postgres_cdc.segments import Key
from penstock.pipeline.connect.connectors.postgres_cdc.tables import TableShape, TypeOfColumn
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError

TRANSACTIONS_AT_ONCE: Final = 10_000
"""Changes after which peeking stops at the next commit."""
SLOT_SECONDS: Final = 20
_LSN: Final = "({} - '0/0'::pg_lsn)::int8"
_SESSION: Final = (
    "SET datestyle = 'ISO, YMD'",
    "SET bytea_output = hex",
    "SET extra_float_digits = 1",
    "SET intervalstyle = iso_8601",
)
_TABLES: Final = """
    SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'r' AND c.relpersistence = 'p' AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
    ORDER BY 1, 2
"""
_SLOT: Final = f"""
    SELECT plugin, database, active_pid, {_LSN.format("confirmed_flush_lsn")}
    FROM pg_replication_slots WHERE slot_name = %s
"""
_PEEK: Final = f"""
    DECLARE changes NO SCROLL CURSOR FOR
    SELECT {_LSN.format("lsn")}, data FROM pg_logical_slot_peek_binary_changes(
        %s, NULL, %s, 'proto_version', '1', 'publication_names', %s)
"""
_TYPES: Final = """
    SELECT t.oid, CASE WHEN b.typtype = 'e' THEN 'enum' ELSE b.typname END, b.oid,
           CASE WHEN t.typtype = 'd' THEN t.typtypmod ELSE -1 END
    FROM pg_type t JOIN pg_type b ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
    WHERE t.oid = ANY (%s)
"""
_RELATION: Final = """
    SELECT c.oid, c.relreplident, a.attname, a.atttypid, a.atttypmod
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.oid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
    ORDER BY a.attnum
"""
_KEY: Final = """
    SELECT a.attname FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid
    CROSS JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (attnum, number)
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum
    WHERE c.oid = to_regclass(%s) AND k.number <= i.indnkeyatts
      AND CASE WHEN c.relreplident = 'i' THEN i.indisreplident ELSE i.indisprimary END
    ORDER BY k.number
"""


class CaptureSession(Postgres):
    def __init__(self, settings: Mapping[str, Any]) -> None:
        password = settings["database.password"]
        options = {"sslmode": settings["database.sslmode"]}
        super().__init__(
            DatabaseUrl(
                "postgresql",
                *(
                    settings["database.dbname"],
                    settings["database.hostname"],
                    settings["database.port"],
                    options,
                ),
            ),
            settings["database.user"],
            None if password is None else password.reveal(),
        )
        self._settings = settings
        self._slot: str = settings["slot.name"]
        self._publication: str = settings["publication.name"]

    def connect(self) -> None:
        super().connect()
        for each in _SESSION:
            self.execute(each)
        self.commit()

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        return self._open.execute(sql, values or None).fetchall()

    # --- publication and slot

    def ensure_publication(self, captured: Sequence[TableName]) -> None:
        mode = self._settings["publication.autocreate.mode"]
        is_there = bool(self._rows("SELECT 1 FROM pg_publication WHERE pubname = %s", self._publication))
        name = self.quote(self._publication)
        if not is_there and mode == DISABLED:
            raise ConnectError(
                f"publication.name: there is no publication {self._publication!r}, "
                "and publication.autocreate.mode=disabled"
            )
        if not is_there and mode == ALL_TABLES:
            self.execute(f"CREATE PUBLICATION {name} FOR ALL TABLES")
        if mode == FILTERED and not set(captured) <= set(self.published()):
            tables = ", ".join(map(self.quote_table, captured))
            self.execute(
                f"ALTER PUBLICATION {name} SET TABLE {tables}"
                if is_there
                else f"CREATE PUBLICATION {name} FOR TABLE {tables}"
            )
        self.commit()

    def ordinary_tables(self) -> list[TableName]:
        """Not those that are only divided into others, whose changes come under the names of their parts."""
        return [TableName(*row) for row in self._rows(_TABLES)]

    def published(self) -> list[TableName]:
        found = self._rows(
            "SELECT schemaname, tablename FROM pg_publication_tables WHERE pubname = %s ORDER BY 1, 2",
            self._publication,
        )
        return [TableName(*row) for row in found]

    def slot_lsn(self) -> int | None:
        """Up to where it is done with; None if there is no slot of that name."""
        found = self._rows(_SLOT, self._slot)
        self.commit()
        if not found:
            return None
        plugin, database, _, lsn = found[0]
        if plugin != "pgoutput" or database != self._settings["database.dbname"]:
            raise ConnectError(
                f"slot.name: the slot {self._slot!r} is of database {database} with the plugin {plugin}; "
                f"takes one of {self._settings['database.dbname']} with pgoutput"
            )
        return cast("int | None", lsn)

    def create_slot(self) -> None:
        """Waits for the transactions that are under way, but not for ever."""
        import psycopg

        self.execute(f"SET LOCAL statement_timeout = '{SLOT_SECONDS}s'")
        try:
            self._rows("SELECT pg_create_logical_replication_slot(%s, 'pgoutput')", self._slot)
        except psycopg.errors.QueryCanceled as error:
            self.rollback()
            raise RetriableConnectError(
                f"slot.name: the slot {self._slot!r} cannot be made while older transactions are under way"
            ) from error
        self.commit()

    def advance(self, lsn: int) -> None:
        text = f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"
        self._rows("SELECT pg_replication_slot_advance(%s, %s)", self._slot, text)
        self.commit()

    def flushed_lsn(self) -> int:
        found = self._rows(f"SELECT {_LSN.format('pg_current_wal_flush_lsn()')}")
        self.commit()
        return int(found[0][0])

    # --- changes

    def peek(self) -> None:
        self.execute(_PEEK, (self._slot, TRANSACTIONS_AT_ONCE, self._publication))

    def fetch_changes(self, count: int) -> list[tuple[int, bytes]]:
        with self._open.cursor(binary=True) as cursor:
            return cast("list[tuple[int, bytes]]", cursor.execute(f"FETCH {count} FROM changes").fetchall())

    # --- tables

    def shape(self, relation: Relation) -> TableShape:
        """The key is the primary key, or what REPLICA IDENTITY says it is."""
        from psycopg.adapt import Transformer

        key = [
            row[0] for row in self._rows(_KEY, self.quote_table(TableName(relation.schema, relation.name)))
        ]
        flagged = [column.name for column in relation.columns if column.is_identity]
        names = key if not flagged or relation.identity == "f" or set(flagged) == set(key) else flagged
        return TableShape(
            *(self._settings["topic.prefix"], self._settings["database.dbname"], relation, names),
            *(self._types(column.type_oid for column in relation.columns), self, Transformer(self._open)),
        )

    def _types(self, oids: Iterable[int]) -> dict[int, TypeOfColumn]:
        found = self._rows(_TYPES, list(set(oids)))
        return {oid: TypeOfColumn(*more) for oid, *more in found}

    def shape_now(self, table: TableName) -> TableShape:
        found = self._rows(_RELATION, self.quote_table(table))
        if not found:
            raise RetriableConnectError(f"{table}: the table is gone")
        columns = tuple(RelationColumn(name, kind, modifier, False) for *_, name, kind, modifier in found)
        oid, identity = found[0][:2]
        return self.shape(Relation(oid, *table, identity if isinstance(identity, str) else "d", columns))

    # --- rows that are there

    def begin_snapshot(self) -> str:
        """What it sees, as `segments.Seen` reads it."""
        self.begin()
        sql = f"SELECT pg_current_snapshot()::text || '@' || {_LSN.format('pg_current_wal_insert_lsn()')}"
        return str(self._rows(sql)[0][0])

    def select_rows(self, shape: TableShape, after: Key | None) -> None:
        order = shape.order_by(self.quote)
        columns = ", ".join(map(self.quote, shape.names))
        sql = f"DECLARE table_rows NO SCROLL CURSOR FOR SELECT {columns} FROM {self.quote_table(shape.name)}"
        if after:
            sql += f" WHERE ({', '.join(order)}) > ({', '.join(['%s'] * len(order))})"
        self.execute(sql + (f" ORDER BY {', '.join(order)}" if order else ""), after or ())

    def fetch_rows(self, count: int) -> list[Row]:
        with self._open.cursor() as cursor:
            cursor.execute(f"FETCH {count} FROM table_rows")
            result = cursor.pgresult
            assert result is not None
            return [
                tuple([result.get_value(row, column) for column in range(result.nfields)])
                for row in range(result.ntuples)
            ]

    def end_rows(self) -> None:
        self.execute("CLOSE table_rows")
