"""How long a group is busy with itself after a member left, and how long a commit takes.

Fifty members share five hundred partitions; one leaves; the time is taken until every partition has its owner again
and every member knows it. A member joins in its place, and the next one leaves. Both servers compute a new assignment
as soon as the group changes (`group.consumer.assignment.interval.ms=0`; by default Kafka waits up to a second).
"""

from __future__ import annotations

import statistics

from bench.servers import Server
from bench.session import Session

MEMBERS = 50
PARTITIONS = 500
PROTOCOLS = ("classic", "consumer")
COMMIT_PERCENTILES = {"commit_p50": 0.5, "commit_p99": 0.99}


def run(session: Session) -> None:
    session.warm_up_with(warm_up)
    for _ in range(session.sizes.rounds):
        for server in session.steady():
            measure_settling(session, server)
            measure_commits(session, server)


def warm_up(session: Session, server: Server) -> None:
    with session.topic(server, PARTITIONS) as topic:
        for protocol in PROTOCOLS:
            session.settle(server, topic, protocol, MEMBERS, PARTITIONS)
        session.commits(server, topic)


def measure_settling(session: Session, server: Server) -> None:
    with session.topic(server, PARTITIONS) as topic:
        for protocol in PROTOCOLS:
            seconds = session.settle(server, topic, protocol, MEMBERS, PARTITIONS)
            session.record(f"settle_{protocol}", server.name, statistics.median(seconds) * 1000)
    session.say_last(server.name, "settle_classic", "settle_consumer")


def measure_commits(session: Session, server: Server) -> None:
    with session.topic(server, 1) as topic:
        latencies = sorted(session.commits(server, topic))
    for metric, fraction in COMMIT_PERCENTILES.items():
        session.record(metric, server.name, latencies[int(fraction * (len(latencies) - 1))] / 1e6)
    session.say_last(server.name, *COMMIT_PERCENTILES)
