"""Two thousand partitions: creating them, starting with them, their memory, asking for all of them."""

from __future__ import annotations

import time

from bench import topics
from bench.servers import Server
from bench.session import Session
from bench.wire import METADATA_OF_ALL_TOPICS, Connection, decode_metadata

TOPICS = 20
METADATA_REQUESTS = 50


def run(session: Session) -> None:
    servers = [session.fresh(name) for name in session.names]
    try:
        for server in servers:
            create(session, server)
        for _ in range(session.sizes.rounds):
            for server in servers:
                restart(session, server)
    finally:
        for server in servers:
            server.close()


def partition_count(session: Session) -> int:
    return session.sizes.partitions // TOPICS * TOPICS


def create(session: Session, server: Server) -> None:
    server.start()
    each = partition_count(session) // TOPICS
    seconds = topics.create(server, {f"many-{number}": each for number in range(TOPICS)})
    session.record("partitions_create_seconds", server.name, seconds)
    session.say_last(server.name, "partitions_create_seconds")
    server.stop_broker()


def restart(session: Session, server: Server) -> None:
    process = server.launch()
    server.wait_until_answering()
    topics.wait_for_leaders(server, partition_count(session))
    session.record("partitions_start_seconds", server.name, time.monotonic() - process.started_at)
    session.record("partitions_rss", server.name, server.rss_bytes() / 1e6)
    session.record(
        "partitions_metadata", server.name, metadata_seconds(server, partition_count(session)) * 1e3
    )
    session.say_last(server.name, "partitions_start_seconds", "partitions_rss", "partitions_metadata")
    server.stop_broker()


def metadata_seconds(server: Server, partitions: int) -> float:
    """The best of many answers on one connection."""
    connection = Connection(server.port)
    try:
        return min(timed_metadata(connection, partitions) for _ in range(METADATA_REQUESTS))
    finally:
        connection.close()


def timed_metadata(connection: Connection, partitions: int) -> float:
    started = time.perf_counter()
    answer = connection.ask(METADATA_OF_ALL_TOPICS)
    seconds = time.perf_counter() - started
    assert decode_metadata(answer).partitions >= partitions
    return seconds
