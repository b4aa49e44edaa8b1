"""Broker CPU per gigabyte produced: 1 KB records in batches of a megabyte, acks=all, uncompressed."""

from __future__ import annotations

from bench.session import PARTITIONS, Session


def run(session: Session) -> None:
    gigabytes = session.sizes.gigabytes
    for _ in range(session.sizes.rounds):
        for server in session.steady():
            with session.topic(server, PARTITIONS) as topic:
                load = session.produce(server, topic, session.records_in(gigabytes))
            session.record("produce_cpu", server.name, load.cpu_seconds / gigabytes)
            session.record("produce_seconds", server.name, load.seconds / gigabytes)
            if server.companions:
                session.record("produce_zookeeper_cpu", server.name, load.companion_cpu_seconds / gigabytes)
            session.say_last(server.name, "produce_cpu", "produce_seconds")
