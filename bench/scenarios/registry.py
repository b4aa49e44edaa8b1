"""CPU of the Schema Registry per schema that is read by its id, and per registration; a bare Starlette endpoint below.

For the latency while half loaded, each client pauses for as long as a request takes under load. What the registry's
process spends is counted, not what the broker does. The column of Penstock has the registry, that of Kafka the bare
endpoint.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count

from bench.http_load import Ask, connect, exchange, load
from bench.http_services import serving
from bench.session import Session
from tests.support.processes import Process

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
            exchange(connect(port), _registration())
            for _ in range(session.sizes.rounds):
                _measure(session, FLOOR, bare, bare_port, lambda: Ask("POST", "/", _schema()), None)
                _measure(session, REGISTRY, registry, port, _registration, server.broker)
            session.record("registry_rss", REGISTRY, registry.rss_bytes() / 1e6)
            session.say_last(REGISTRY, "registry_rss")


def _schema() -> bytes:
    """A record of ten fields that nobody has registered yet."""
    number = next(_numbers)
    fields = [{"name": f"field_{number}_{each}", "type": ["null", "string"]} for each in range(10)]
    return json.dumps({"schema": json.dumps({"type": "record", "name": "Event", "fields": fields})}).encode()


def _registration() -> Ask:
    return Ask("POST", f"/subjects/subject-{next(_numbers)}/versions", _schema())


def _measure(
    session: Session,
    column: str,
    process: Process,
    port: int,
    write: Callable[[], Ask],
    broker: Process | None,
) -> None:
    reads = [Ask("GET", "/schemas/ids/1")] * (session.sizes.client_records // READS_PER_RECORD)
    writes = [write() for _ in range(session.sizes.client_records // REGISTRATIONS_PER_RECORD)]
    for what, asks in (("read", reads), ("register", writes)):
        half = len(asks) // 2
        loaded = load(process, port, asks[:half], broker=broker)
        half_loaded = load(process, port, asks[half:], pause=loaded.mean)
        session.record(f"registry_{what}_cpu", column, loaded.cpu_per_ask * 1e3)
        session.record(f"registry_{what}_p99", column, half_loaded.p99 * 1e3)
        session.say_last(column, f"registry_{what}_cpu", f"registry_{what}_p99")
        if column == REGISTRY:
            session.note(f"registry_{what}_cpu", loaded.limit)
