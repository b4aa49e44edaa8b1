"""Resident memory: idle, and after gigabytes have been produced and consumed."""

from __future__ import annotations

import time

from bench.servers import Server
from bench.session import PARTITIONS, Session

SETTLE_SECONDS = 5.0
GIGABYTES_AT_ONCE = 1.0  # then the topic is deleted, so that the disk stays small


def run(session: Session) -> None:
    for name in session.names:
        with session.fresh(name) as server:
            server.start()
            time.sleep(SETTLE_SECONDS)
            record_rss(session, server, "rss_idle")
            load(session, server)
            record_rss(session, server, "rss_loaded")


def load(session: Session, server: Server) -> None:
    left = session.sizes.memory_gigabytes
    while left > 0:
        records = session.records_in(min(left, GIGABYTES_AT_ONCE))
        with session.topic(server, PARTITIONS) as topic:
            session.produce(server, topic, records)
            session.consume(server, topic, records)
        left -= GIGABYTES_AT_ONCE


def record_rss(session: Session, server: Server, metric: str) -> None:
    session.record(metric, server.name, server.rss_bytes() / 1e6)
    session.record(f"{metric}_with_zookeeper", server.name, server.rss_bytes_with_companions() / 1e6)
    session.say_last(server.name, metric, f"{metric}_with_zookeeper")
