"""A PostgreSQL server of the test's own: a data directory, a port, run as an unprivileged user where we are root."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support.processes import Process, free_port, wait_for
from tests.support.spark_processes import children, is_alive, kill
from tests.support.toolchains import unavailable
from tools.suite.processes import starts_processes

UNPRIVILEGED = ("postgres", "nobody")
SETTINGS = {"fsync": "off", "wal_level": "logical", "max_replication_slots": "10", "max_wal_senders": "10"}


def program(name: str) -> str:
    """Debian keeps the server's programs outside the path."""
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    found = shutil.which(name, path=os.pathsep.join([*map(str, places), os.environ.get("PATH", "")]))
    if found is None:
        unavailable(f"{name} of PostgreSQL is not installed")
    return found


class Postgres:
    """`kill` ends it as a power cut would, processes of its own too; `start` brings it back with its data."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self._folder = folder
        self._data = folder / "data"
        self._as_user = _as_unprivileged()
        self._process: Process | None = None

    @property
    def url(self) -> str:
        return f"jdbc:postgresql://127.0.0.1:{self.port}/postgres"

    @property
    def dsn(self) -> str:
        return f"host=127.0.0.1 port={self.port} dbname=postgres user=penstock password=secret"

    def create(self) -> None:
        """With a password, so that a wrong one is refused."""
        if os.getuid() == 0:
            os.chown(self._folder, *_ids())
        secret = self._folder / "password"
        secret.write_text("secret")
        secret.chmod(0o644)
        options = ["-U", "penstock", "-A", "scram-sha-256", "--no-sync", f"--pwfile={secret}"]
        subprocess.run(
            [*self._as_user, program("initdb"), "-D", str(self._data), *options],
            check=True,
            capture_output=True,
            timeout=120,
            cwd=self._folder,
        )

    def start(self) -> None:
        settings = [word for name, value in SETTINGS.items() for word in ("-c", f"{name}={value}")]
        argv = [*self._as_user, program("postgres"), "-D", str(self._data), "-p", str(self.port)]
        argv += ["-c", "listen_addresses=127.0.0.1", "-k", str(self._folder), *settings]
        self._process = Process(argv, self._folder / "postgres.log", cwd=self._folder)
        self._process.wait_until(self._answers, what="PostgreSQL")

    def _answers(self) -> bool:
        import psycopg

        try:
            psycopg.connect(self.dsn, connect_timeout=5).close()
        except psycopg.OperationalError:
            return False
        return True

    def kill(self) -> None:
        assert self._process is not None
        backends = children(self._process.pid)  # each leads a session of its own
        self._process.kill()
        for backend in backends:
            kill(backend)
        wait_for(lambda: not any(map(is_alive, backends)), what="the processes of PostgreSQL to end")

    def stop(self) -> None:
        if self._process is not None and self._process.alive:
            self._process.signal(signal.SIGINT)
            self._process.stop()


def _ids() -> tuple[int, int]:
    users = {each.pw_name: (each.pw_uid, each.pw_gid) for each in pwd.getpwall()}
    return next(users[name] for name in UNPRIVILEGED if name in users)


def _as_unprivileged() -> list[str]:
    if os.getuid() != 0:
        return []
    uid, gid = _ids()
    return ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups", "--pdeathsig", "KILL", "--"]


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """In a short folder that the unprivileged user may enter: sockets have short names."""
    with tempfile.TemporaryDirectory(prefix="penstock-pg-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        os.chmod(folder, 0o755)
        server = Postgres(Path(folder))
        server.create()
        server.start()
        try:
            yield server
        finally:
            server.stop()


@pytest.fixture(scope="session")
@starts_processes
def postgres_server() -> Iterator[Postgres]:
    """One for all files of a worker; who kills it starts it again."""
    with running_postgres() as server:
        yield server
