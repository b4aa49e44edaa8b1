"""Rows of relational databases, into Kafka and out of it, with the configuration of Confluent's JDBC connectors.

There is no JDBC here: PostgreSQL is reached through psycopg, SQLite through Python's own module. The URLs are JDBC's.
"""

_HERE = "penstock.pipeline.connect.connectors.jdbc"

JAVA_NAMES = {
    "io.confluent.connect.jdbc.JdbcSinkConnector": f"{_HERE}.sink:JdbcSinkConnector",
    "io.confluent.connect.jdbc.JdbcSourceConnector": f"{_HERE}.source:JdbcSourceConnector",
}
