"""Time to produce in transactions: large ones, and ones of a single record."""

from __future__ import annotations

from bench.servers import Server
from bench.session import PARTITIONS, Session

LARGE, SMALL = 1_000, 1
"""Records in a transaction."""


def run(session: Session) -> None:
    session.warm_up_with(warm_up)
    for _ in range(session.sizes.rounds):
        for server in session.steady():
            measure(session, server)


def warm_up(session: Session, server: Server) -> None:
    with session.topic(server, PARTITIONS) as topic:
        for records in (LARGE, SMALL):
            session.transactions(server, topic, session.sizes.transactions, records)


def measure(session: Session, server: Server) -> None:
    with session.topic(server, PARTITIONS) as topic:
        large = session.transactions(server, topic, session.sizes.transactions, LARGE)
        small = session.transactions(server, topic, session.sizes.transactions * 5, SMALL)
    session.record("transactions_seconds", server.name, large.seconds / session.sizes.transactions * 100)
    session.record("transactions_cpu", server.name, large.cpu_seconds / session.sizes.transactions * 100)
    session.record(
        "small_transactions_seconds", server.name, small.seconds / session.sizes.transactions * 200
    )
    session.record(
        "small_transactions_cpu", server.name, small.cpu_seconds / session.sizes.transactions * 200
    )
    session.say_last(server.name, "transactions_seconds", "small_transactions_seconds")
