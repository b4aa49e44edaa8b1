"""Time from produce() to the consumer that has the record, at a gentle rate, both ends in one process."""

from __future__ import annotations

from bench.servers import Server
from bench.session import Session

WARM_UP_SECONDS = 5
PERCENTILES = {"latency_p50": 0.5, "latency_p99": 0.99, "latency_p999": 0.999}


def run(session: Session) -> None:
    for _ in range(session.sizes.rounds):
        for server in session.steady():
            measure(session, server)
            session.say_last(server.name, *PERCENTILES)


def measure(session: Session, server: Server) -> None:
    rate = session.sizes.records_per_second
    with session.topic(server, 1) as topic:
        nanoseconds = session.latency(
            server, topic, session.sizes.latency_records, rate, WARM_UP_SECONDS * rate
        )
    latencies = sorted(nanoseconds)
    for metric, fraction in PERCENTILES.items():
        session.record(metric, server.name, latencies[int(fraction * (len(latencies) - 1))] / 1e6)
