"""What goes wrong, and what is said about it."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from penstock.pipeline.connect.connectors.postgres_cdc.source import PostgresConnector
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from penstock.pipeline.connect.plugins import Plugins
from tests.pipeline.connect.connectors.postgres_cdc.conftest import Captured, drained, events
from tests.support.postgres import program
from tests.support.processes import wait_for


@pytest.fixture
def orders(captured: Captured) -> Captured:
    captured.run("CREATE TABLE orders (id INT PRIMARY KEY)")
    return captured


@pytest.fixture
def weak(orders: Captured) -> Iterator[str]:
    """A user who may do nothing but log in."""
    name = f"weak_{orders.name}"
    orders.run(f"CREATE ROLE {name} LOGIN PASSWORD 'secret'")
    yield name
    orders.stop_tasks()
    orders.run(f"DROP OWNED BY {name}")
    orders.run(f"DROP ROLE {name}")


def test_no_such_table_waits_and_names_those_there_are(orders: Captured) -> None:
    task = orders.task(table_include_list=r"public\.clients")
    with pytest.raises(RetriableConnectError, match=r"table\.include\.list.*it has public\.orders"):
        task.poll()
    orders.run("CREATE TABLE clients (id INT PRIMARY KEY)")
    orders.run("INSERT INTO clients VALUES (1)")
    assert events(drained(task), "id") == [("r", 1)]


def test_privileges_that_are_missing(orders: Captured, weak: str) -> None:
    orders.run("INSERT INTO orders VALUES (1)")

    def refused() -> str:
        with pytest.raises(ConnectError) as refusal:
            drained(orders.task(database_user=weak))
        assert not isinstance(refusal.value, RetriableConnectError)
        assert "\n" not in str(refusal.value)
        return str(refusal.value)

    assert "must be superuser to create FOR ALL TABLES publication" in _without_database(
        refused(), orders, weak
    )
    orders.run("CREATE PUBLICATION dbz_publication FOR ALL TABLES")
    assert "replication" in refused()
    orders.run(f"ALTER ROLE {weak} REPLICATION")
    assert "permission denied for table orders" in refused()
    orders.run(f"GRANT SELECT ON orders TO {weak}")
    assert events(drained(orders.task(database_user=weak)), "id") == [("r", 1)]


def _without_database(text: str, orders: Captured, weak: str) -> str:
    """Whoever may not create in the database is told that first."""
    assert "permission denied for database" in text
    orders.run(f"GRANT CREATE ON DATABASE {orders.name} TO {weak}")
    with pytest.raises(ConnectError) as refusal:
        orders.task(database_user=weak).poll()
    return str(refusal.value)


def test_a_wrong_password(orders: Captured) -> None:
    with pytest.raises(ConnectError, match="password authentication failed") as refusal:
        orders.task(database_password="guess").poll()
    assert not isinstance(refusal.value, RetriableConnectError)


@pytest.mark.processes
def test_a_slot_that_somebody_else_reads(orders: Captured) -> None:
    task = orders.task()
    assert drained(task) == []
    orders.run("INSERT INTO orders VALUES (1)")
    words = rf'replication slot "{orders.name}" is active for PID'
    with somebody_who_reads(orders), pytest.raises(RetriableConnectError, match=words):
        task.poll()
    assert events(drained(task), "id") == [("c", 1)]


@contextmanager
def somebody_who_reads(orders: Captured) -> Iterator[None]:
    """pg_recvlogical, which holds the slot until it is ended."""

    def wait_until(is_active: bool) -> None:
        sql = "SELECT active FROM pg_replication_slots WHERE slot_name = %s"
        wait_for(
            lambda: orders.run(sql, orders.name) == [(is_active,)], what=f"active={is_active} of the slot"
        )

    where = ["-d", orders.name, "-h", "127.0.0.1", "-p", str(orders.server.port), "-U", "penstock"]
    options = ["-o", "proto_version=1", "-o", "publication_names=dbz_publication"]
    what = ["--slot", orders.name, "--start", "--no-loop", "-f", "/dev/null"]
    environment = {**os.environ, "PGPASSWORD": "secret"}
    process = subprocess.Popen([program("pg_recvlogical"), *where, *what, *options], env=environment)
    try:
        wait_until(True)
        yield
    finally:
        process.kill()
        process.wait()
        wait_until(False)


def test_a_slot_that_is_gone(orders: Captured) -> None:
    task = orders.task()
    drained(task)
    orders.run("INSERT INTO orders VALUES (1)")
    records = drained(task)
    orders.stop_tasks()
    orders.run("SELECT pg_drop_replication_slot(%s)", orders.name)
    with pytest.raises(
        ConnectError, match="is gone, and the changes since with it; reset the connector's offsets"
    ):
        orders.task(after=records).poll()


def test_a_slot_of_another_kind(orders: Captured) -> None:
    orders.run("SELECT pg_create_logical_replication_slot(%s, 'test_decoding')", orders.name)
    with pytest.raises(ConnectError, match="with the plugin test_decoding; takes one of"):
        orders.task().poll()


def test_no_publication_and_none_to_be_made(orders: Captured) -> None:
    with pytest.raises(ConnectError, match=re.escape("publication.autocreate.mode=disabled")):
        orders.task(publication_autocreate_mode="disabled").poll()


def test_a_slot_cannot_be_made_while_a_transaction_is_open(
    orders: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.pipeline.connect.connectors.postgres_cdc.session.SLOT_SECONDS", 1)
    with psycopg.connect(orders.dsn) as writer:
        writer.execute("INSERT INTO orders VALUES (1)")
        task = orders.task()
        with pytest.raises(RetriableConnectError, match="while older transactions are under way"):
            task.poll()
        writer.commit()
    assert events(drained(task), "id") == [("r", 1)]


def test_the_database_comes_back(orders: Captured) -> None:
    """A connection that is cut in the middle of the snapshot, and of a large transaction."""
    orders.run("INSERT INTO orders SELECT generate_series(1, 30)")
    cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
    task = orders.task(max_batch_size="8")
    records = task.poll() or []
    orders.run(cut, orders.name)
    with pytest.raises(RetriableConnectError, match="capturing changes"):
        task.poll()
    records += drained(task)
    assert events(records, "id") == [("r", number) for number in range(1, 31)]
    orders.run("INSERT INTO orders SELECT generate_series(31, 60)")
    changes = task.poll() or []
    orders.run(cut, orders.name)
    with pytest.raises(RetriableConnectError):
        task.poll()
    changes += drained(task)
    assert events(changes, "id") == [("c", number) for number in range(31, 61)]


def test_keys_of_the_configuration() -> None:
    configs = {
        "slot.name": "My-Slot",
        "plugin.name": "wal2json",
        "table.include.list": "a(",
        "snapshot.mode": "some",
    }
    answers = PostgresConnector.config_def.validate(configs)
    wrong = {name for name, answer in answers.items() if answer.errors}
    missing = {"database.hostname", "database.user", "database.dbname", "topic.prefix"}
    assert wrong == {*configs, *missing}
    both = {"table.include.list": "a", "table.exclude.list": "b"}
    assert set(PostgresConnector().validate(both)) == set(both)


def test_the_java_name_is_known() -> None:
    name = "io.debezium.connector.postgresql.PostgresConnector"
    assert Plugins("").find_connector(name).cls is PostgresConnector


def test_there_is_one_task_and_offsets_are_checked() -> None:
    connector = PostgresConnector()
    connector.start({"topic.prefix": "shop"})
    assert len(connector.task_configs(8)) == 1
    assert connector.alter_offsets(
        {}, [({"server": "shop"}, None), ({"server": "shop", "table": "a.b"}, None)]
    )
    with pytest.raises(ConnectError, match="server"):
        connector.alter_offsets({}, [({}, None)])
    with pytest.raises(ConnectError, match="lsn_commit"):
        connector.alter_offsets({}, [({"server": "shop"}, {"lsn": "1"})])


def test_a_table_that_goes_while_it_is_read(orders: Captured) -> None:
    orders.run("INSERT INTO orders SELECT generate_series(1, 10)")
    orders.run("CREATE TABLE parcels (id INT PRIMARY KEY)")
    task = orders.task(max_batch_size="10")
    records = task.poll() or []
    orders.task(after=records)  # so that no lock is held
    orders.run("DROP TABLE parcels")
    assert events([*records, *drained(orders.task(after=records))], "id") == [("r", i) for i in range(1, 11)]
