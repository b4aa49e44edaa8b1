"""Broker CPU per request, for requests that carry one record each.

One partition is what a broker may take shortcuts for, since every request of the connection then looks like
the one before; so the same load is also spread over several partitions, in turn. And many requests in flight let a
server handle several at a time; so there is also a run with at most five, as Java's producer has them.
"""

from __future__ import annotations

from bench.servers import Server
from bench.session import PARTITIONS, Session

JAVAS_MAX_IN_FLIGHT = 5


def run(session: Session) -> None:
    for _ in range(session.sizes.rounds):
        for server in session.steady():
            measure(session, server)


def measure(session: Session, server: Server) -> None:
    count = session.sizes.small_requests
    with session.topic(server, 1) as topic:
        load = session.small_requests(server, topic, count)
        few = session.small_requests(server, topic, count, max_in_flight=JAVAS_MAX_IN_FLIGHT)
    with session.topic(server, PARTITIONS) as topic:
        spread = session.small_requests(server, topic, count, PARTITIONS)
    session.record("small_requests_cpu", server.name, load.cpu_seconds / count * 100_000)
    session.record("small_requests_seconds", server.name, load.seconds / count * 100_000)
    session.record("small_requests_spread_cpu", server.name, spread.cpu_seconds / count * 100_000)
    session.record("small_requests_few_cpu", server.name, few.cpu_seconds / count * 100_000)
    session.say_last(server.name, "small_requests_cpu", "small_requests_spread_cpu", "small_requests_few_cpu")
