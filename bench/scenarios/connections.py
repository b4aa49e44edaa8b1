"""Five hundred connections: the memory they take, and the work of a small request on each."""

from __future__ import annotations

import time

from bench.servers import Server
from bench.session import Session
from bench.wire import API_VERSIONS_REQUEST, METADATA_OF_NO_TOPIC, Connection

WARM_UP_ROUNDS = 20
MEASURED_ROUNDS = 10
REQUESTS = (API_VERSIONS_REQUEST, METADATA_OF_NO_TOPIC)


def run(session: Session) -> None:
    servers: dict[Server, list[Connection]] = {session.fresh(name): [] for name in session.names}
    try:
        for server, connections in servers.items():
            server.start()
            connections += [Connection(server.port) for _ in range(session.sizes.connections)]
            ask_all(connections, WARM_UP_ROUNDS)
        for _ in range(session.sizes.rounds):
            for server, connections in servers.items():
                measure(session, server, connections)
    finally:
        for server, connections in servers.items():
            for connection in connections:
                connection.close()
            server.close()


def measure(session: Session, server: Server, connections: list[Connection]) -> None:
    cpu, started = server.cpu_seconds(), time.perf_counter()
    ask_all(connections, MEASURED_ROUNDS)
    seconds, cpu_used = time.perf_counter() - started, server.cpu_seconds() - cpu
    requests = MEASURED_ROUNDS * len(connections) * len(REQUESTS)
    session.record("connections_rss", server.name, server.rss_bytes() / 1e6)
    session.record("connections_cpu", server.name, cpu_used / requests * 1_000)
    session.record("connections_round", server.name, seconds / MEASURED_ROUNDS * 1e3)
    session.say_last(server.name, "connections_rss", "connections_cpu", "connections_round")


def ask_all(connections: list[Connection], rounds: int) -> None:
    """All connections ask at once, then all answers are read."""
    for _ in range(rounds):
        for request in REQUESTS:
            for connection in connections:
                connection.send(request)
            for connection in connections:
                connection.receive()
