"""Broker CPU per gigabyte consumed: a consumer that starts cold reads a topic that is in the page cache."""

from __future__ import annotations

from contextlib import ExitStack

from bench.servers import Server
from bench.session import PARTITIONS, Session


def run(session: Session) -> None:
    records = session.records_in(session.sizes.gigabytes)
    with ExitStack() as stack:
        topics = {
            server: stack.enter_context(session.topic(server, PARTITIONS)) for server in session.steady()
        }
        for server, topic in topics.items():
            session.produce(server, topic, records)
        for _ in range(session.sizes.rounds):
            for server, topic in topics.items():
                measure(session, server, topic, records)


def measure(session: Session, server: Server, topic: str, records: int) -> None:
    gigabytes = session.sizes.gigabytes
    load = session.consume(server, topic, records)
    session.record("consume_cpu", server.name, load.cpu_seconds / gigabytes)
    session.record("consume_seconds", server.name, load.seconds / gigabytes)
    if server.companions:
        session.record("consume_zookeeper_cpu", server.name, load.companion_cpu_seconds / gigabytes)
    session.say_last(server.name, "consume_cpu", "consume_seconds")
