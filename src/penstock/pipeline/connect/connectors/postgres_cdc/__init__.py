"""Changes of PostgreSQL's tables as records, through logical replication, with the configuration of Debezium."""

from __future__ import annotations

from typing import Final

JAVA_NAMES: Final[dict[str, str]] = {
    "io.debezium.connector.postgresql.PostgresConnector": f"{__name__}.source:PostgresConnector",
}
