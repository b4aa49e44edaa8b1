"""A Schema Registry as a process of its own, and plain HTTP to it."""

from __future__ import annotations

import http.client
import json
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.cluster_fixture import REPLICAS
from tests.support.processes import Process, free_port

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
START_SECONDS = 60.0
_numbers = count()


class Said(NamedTuple):
    status: int
    body: Any
    headers: http.client.HTTPMessage


class Registry:
    """Its own settings are such that it is elected quickly, and found missing as soon as Kafka allows."""

    def __init__(
        self,
        bootstrap: str,
        directory: Path,
        settings: Mapping[str, str] | None = None,
        *,
        port: int | None = None,
    ) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.settings = {
            "listeners": self.url,
            "host.name": "127.0.0.1",
            "kafkastore.bootstrap.servers": bootstrap,
            "kafkastore.topic.replication.factor": REPLICAS,
            "kafkastore.timeout.ms": "30000",
            "kafkagroup.session.timeout.ms": "6000",
            "kafkagroup.heartbeat.interval.ms": "200",
            **(settings or {}),
        }
        self._log = directory / f"registry-{next(_numbers)}.log"
        self.process = self._start()

    def _start(self) -> Process:
        overrides = [word for item in self.settings.items() for word in ("--override", "=".join(item))]
        return Process(
            [sys.executable, "-m", "penstock.cli.tools.schema_registry_start", *overrides], self._log
        )

    def wait_until_ready(self) -> None:
        self.process.wait_until(self._is_ready, START_SECONDS, "the registry to answer")

    def _is_ready(self) -> bool:
        try:
            return self.get("/subjects").status == 200
        except OSError:
            return False

    def restart(self) -> None:
        self.process = self._start()

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        *,
        timeout: float = 60.0,
    ) -> Said:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
            connection.request(method, path, content, {"Content-Type": MEDIA_TYPE, **(headers or {})})
            response = connection.getresponse()
            return Said(response.status, _parsed(response.read()), response.headers)
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Said:
        return self.ask("GET", path, headers=headers)

    def post(self, path: str, body: Any) -> Said:
        return self.ask("POST", path, body)

    def put(self, path: str, body: Any) -> Said:
        return self.ask("PUT", path, body)

    def delete(self, path: str) -> Said:
        return self.ask("DELETE", path)

    def register(self, subject: str, schema: str, **members: Any) -> int:
        """The id."""
        said = self.post(f"/subjects/{subject}/versions", {"schema": schema, **members})
        assert said.status == 200, said.body
        return int(said.body["id"])

    def is_listening(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text) if text else None
    except ValueError:
        return text.decode()


def own_group() -> dict[str, str]:
    """A topic and a group that no other registry has."""
    name = f"{next(_numbers)}-{free_port()}"
    return {"kafkastore.topic": f"_schemas-{name}", "schema.registry.group.id": f"registry-{name}"}


@contextmanager
def running_registry(
    bootstrap: str, directory: Path, settings: Mapping[str, str] | None = None
) -> Iterator[Registry]:
    registry = Registry(bootstrap, directory, settings)
    try:
        registry.wait_until_ready()
        yield registry
    finally:
        registry.process.stop()
