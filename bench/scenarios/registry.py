"""CPU of the Schema Registry per schema that is read by its id, and per registration; a bare Starlette endpoint below.

Clients keep their connections, and each has one request under way; for the latency while half loaded, each pauses for
as long as a request takes under load. What the registry's process spends is counted, not what the broker does. The
column of Penstock has the registry, that of Kafka the bare endpoint.
"""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from time import perf_counter
from typing import NamedTuple

from tests.support.processes import Process

from bench.http_services import START_SECONDS, serving
from bench.session import Session

CLIENTS = 8
READS_PER_RECORD = 25
"""One read for so many of the records that other clients are measured with."""
REGISTRATIONS_PER_RECORD = 250
FLOOR, REGISTRY = "kafka", "penstock"
SETTINGS = {
    "listeners": "http://127.0.0.1:0",
    "host.name": "127.0.0.1",
    "kafkastore.topic.replication.factor": "1",
    "kafkastore.timeout.ms": "30000",
}
_numbers = count()


class Ask(NamedTuple):
    method: str
    path: str
    body: bytes | None = None


class Cost(NamedTuple):
    cpu_seconds: float
    latencies: list[float]
    """Shortest first."""

    @property
    def p99(self) -> float:
        return self.latencies[len(self.latencies) * 99 // 100]

    @property
    def mean(self) -> float:
        return sum(self.latencies) / len(self.latencies)


def run(session: Session) -> None:
    directory = session.directory("registry")
    directory.mkdir(parents=True, exist_ok=True)
    with session.fresh(session.names[-1]) as server:
        server.start()
        settings = {**SETTINGS, "kafkastore.bootstrap.servers": server.bootstrap}
        words = [word for item in settings.items() for word in ("--override", "=".join(item))]
        with (
            serving(directory / "registry.log", ["penstock.cli.tools.schema_registry_start", *words]) as (
                registry,
                port,
            ),
            serving(directory / "bare.log", ["bench.bare_endpoint"]) as (bare, bare_port),
        ):
            _exchange(_connect(port), _registration())
            for _ in range(session.sizes.rounds):
                _measure(session, FLOOR, bare, bare_port, lambda: Ask("POST", "/", _schema()))
                _measure(session, REGISTRY, registry, port, _registration)
            session.record("registry_rss", REGISTRY, registry.rss_bytes() / 1e6)
            session.say_last(REGISTRY, "registry_rss")


def _schema() -> bytes:
    """A record of ten fields that nobody has registered yet."""
    number = next(_numbers)
    fields = [{"name": f"field_{number}_{each}", "type": ["null", "string"]} for each in range(10)]
    return json.dumps({"schema": json.dumps({"type": "record", "name": "Event", "fields": fields})}).encode()


def _registration() -> Ask:
    return Ask("POST", f"/subjects/subject-{next(_numbers)}/versions", _schema())


def _measure(session: Session, column: str, process: Process, port: int, write: Callable[[], Ask]) -> None:
    reads = session.sizes.client_records // READS_PER_RECORD
    writes = session.sizes.client_records // REGISTRATIONS_PER_RECORD
    _measure_one(session, column, "read", process, port, [Ask("GET", "/schemas/ids/1")] * reads)
    _measure_one(session, column, "register", process, port, [write() for _ in range(writes)])


def _measure_one(
    session: Session, column: str, what: str, process: Process, port: int, asks: list[Ask]
) -> None:
    half = len(asks) // 2
    loaded = _cost(process, port, asks[:half], pause=0.0)
    half_loaded = _cost(process, port, asks[half:], pause=loaded.mean)
    session.record(f"registry_{what}_cpu", column, loaded.cpu_seconds / len(loaded.latencies) * 1e3)
    session.record(f"registry_{what}_p99", column, half_loaded.p99 * 1e3)
    session.say_last(column, f"registry_{what}_cpu", f"registry_{what}_p99")


def _cost(process: Process, port: int, asks: list[Ask], *, pause: float) -> Cost:
    before = process.cpu_seconds()
    with ThreadPoolExecutor(CLIENTS) as pool:
        jobs = [pool.submit(_ask_all, port, asks[client::CLIENTS], pause) for client in range(CLIENTS)]
        latencies = sorted(seconds for job in jobs for seconds in job.result())
    return Cost(process.cpu_seconds() - before, latencies)


def _ask_all(port: int, asks: list[Ask], pause: float) -> list[float]:
    connection = _connect(port)
    latencies = []
    for ask in asks:
        started = perf_counter()
        _exchange(connection, ask)
        latencies.append(perf_counter() - started)
        if pause:
            time.sleep(pause)
    connection.close()
    return latencies


def _connect(port: int) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)


def _exchange(connection: http.client.HTTPConnection, ask: Ask) -> None:
    connection.request(ask.method, ask.path, ask.body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = response.read()
    if response.status != 200:
        raise RuntimeError(f"{response.status}: {answer[:200]!r}")
