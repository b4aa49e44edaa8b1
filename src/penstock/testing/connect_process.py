"""A Connect worker for tests, in a process of its own: a driver of Spark is nothing to have in the test's process.

    with InProcessBroker() as broker, ConnectProcess(broker.bootstrap_servers) as connect:
        connect.start_connector("lake", {"connector.class": "LakeSink", "topics": "orders", "store.path": "/tmp/lake"})

It is the worker that `penstock up` starts, with settings that suit tests below those that are given. Spark starts with
the first connector, which takes some seconds.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from penstock.child_processes import dying_with_us, end
from penstock.errors import PenstockError
from penstock.testing.config_text import as_text

START_SECONDS = 60.0
STOP_SECONDS = 60.0
CONNECTOR_SECONDS = 120.0
REQUEST_SECONDS = 60.0
POLL_SECONDS = 0.1
LOG_TAIL = 3_000
SHORT_LIVED_JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
CONNECT_SETTINGS: Mapping[str, str] = {
    "listeners": "http://127.0.0.1:0",
    "rest.advertised.host.name": "127.0.0.1",
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.json.JsonConverter",
    "value.converter.schemas.enable": "false",
    "offset.storage.partitions": "1",
    "status.storage.partitions": "1",
    **{f"{each}.storage.replication.factor": "1" for each in ("config", "offset", "status")},
    "tick.ms": "500",
}


class ConnectTrouble(PenstockError):
    """The worker does not start, refuses a request, or a connector fails."""


class ConnectProcess:
    """A Connect worker at `url`; `settings` are those of connect-distributed.properties."""

    def __init__(self, bootstrap_servers: str, settings: Mapping[str, str] | None = None) -> None:
        group = f"connect-{uuid.uuid4().hex[:6]}"
        self.url = ""
        self._settings = {
            "bootstrap.servers": bootstrap_servers,
            "group.id": group,
            **{f"{each}.storage.topic": f"{group}-{each}" for each in ("config", "offset", "status")},
            **CONNECT_SETTINGS,
            **(settings or {}),
        }
        self._folder: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    # life

    def start(self) -> None:
        """Returns when requests are answered; whatever keeps the worker from starting is raised here."""
        if find_spec("pyspark") is None:
            raise ConnectTrouble("Connect needs pyspark; get it with: pip install 'penstock[spark]'")
        self._folder = Path(tempfile.mkdtemp(prefix="penstock-connect-"))
        settings = {"data.dir": str(self._folder / "data"), **self._settings}
        file = self._folder / "connect-distributed.properties"
        file.write_text("".join(f"{name}={_escaped(text)}\n" for name, text in settings.items()))
        command = [sys.executable, "-m", "penstock.cli.tools.connect_distributed", str(file)]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                dying_with_us(command),
                env={"JAVA_TOOL_OPTIONS": SHORT_LIVED_JAVA, **os.environ},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a Ctrl-C is for the tests, which then stop it
            )
        try:
            self._wait(self._is_ready, START_SECONDS, "the Connect worker to answer")
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end(process, STOP_SECONDS)
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()

    # connectors

    def start_connector(
        self, name: str, config: Mapping[str, object], *, timeout: float = CONNECTOR_SECONDS
    ) -> None:
        """Makes a connector, or changes it; returns when it and all its tasks run.

        `ConnectTrouble` if its configuration is refused, with every reason, or if it fails, with its trace.
        """
        self._ask("PUT", f"/connectors/{name}/config", as_text(config))
        self._wait(lambda: self._is_running(name), timeout, f"connector {name} to run")

    def delete_connector(self, name: str, *, timeout: float = CONNECTOR_SECONDS) -> None:
        """Returns when nothing of it runs any more."""
        self._ask("DELETE", f"/connectors/{name}")
        self._wait(lambda: self._is_gone(name), timeout, f"connector {name} to end")

    def connectors(self) -> list[str]:
        names: list[str] = self._ask("GET", "/connectors")
        return names

    def status(self, name: str) -> dict[str, Any]:
        """As the REST API tells it: the states of the connector and of its tasks."""
        status: dict[str, Any] = self._ask("GET", f"/connectors/{name}/status")
        return status

    def _is_gone(self, name: str) -> bool:
        try:
            self.status(name)
        except _NotFound:
            return True
        return False

    def _is_running(self, name: str) -> bool:
        try:
            status = self.status(name)
        except _NotFound:  # it is written down, and not begun
            return False
        parts = [status["connector"], *status["tasks"]]
        for part in parts:
            if part["state"] == "FAILED":
                raise ConnectTrouble(f"connector {name} failed: {part.get('trace', '')}")
        return bool(status["tasks"]) and all(part["state"] == "RUNNING" for part in parts)

    # the worker

    @property
    def _log(self) -> Path:
        assert self._folder is not None, "not started"
        return self._folder / "connect.log"

    def _is_ready(self) -> bool:
        said = re.search(r"^Kafka Connect is ready on (\S+)", self._log.read_text(), re.MULTILINE)
        if said is None:
            return False
        self.url = said[1].rstrip(",")
        try:
            self._ask("GET", "/health")
        except ConnectTrouble:
            return False
        return True

    def _wait(self, condition: Callable[[], bool], seconds: float, what: str) -> None:
        deadline = time.monotonic() + seconds
        while not condition():
            if self._process is None or self._process.poll() is not None:
                raise ConnectTrouble(f"the Connect worker has ended:\n{self._log.read_text()[-LOG_TAIL:]}")
            if time.monotonic() > deadline:
                log = self._log.read_text()[-LOG_TAIL:]
                raise ConnectTrouble(f"waited {seconds:g} s for {what}; the worker's log ends with:\n{log}")
            time.sleep(POLL_SECONDS)

    def _ask(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            self.url + path, data, {"content-type": "application/json"}, method=method
        )
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_SECONDS) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            with error:
                raise _trouble(error.code, error.read(), f"{method} {path}") from None
        except OSError as error:
            raise ConnectTrouble(f"{method} {path}: the Connect worker does not answer: {error}") from error
        return json.loads(text) if text else None


class _NotFound(ConnectTrouble):
    pass


def _trouble(status: int, body: bytes, what: str) -> ConnectTrouble:
    try:
        message = str(json.loads(body)["message"])
    except (ValueError, KeyError, TypeError):
        message = body.decode(errors="replace")
    kind = _NotFound if status == 404 else ConnectTrouble
    return kind(f"{what}: {status}: {message}")


def _escaped(text: str) -> str:
    """For a file of properties."""
    return text.replace("\\", "\\\\").replace("\n", "\\n")
