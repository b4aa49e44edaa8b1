"""Time from the produce of a record to the fetch that has it, at a gentle rate, by one clock.

The figures that count come from `bench.latency_client`, which is nothing but two sockets; those through librdkafka
stand beside them, as what users of a client library see. A percentile of a round is one sample.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.servers import Server
from bench.session import BRISK_RECORDS_PER_SECOND, Latencies, Session

WARM_UP_SECONDS = 5
BRISK_WARM_UP_SECONDS = 1
READ = {"latency_p50": 0.5, "latency_p99": 0.99, "latency_p999": 0.999}
BRISK_READ = {"latency_brisk_p99": 0.99}
ACKNOWLEDGED = {"latency_acknowledged_p99": 0.99}
WRITTEN = {"latency_written_p99": 0.99}
LIBRDKAFKA = {
    "latency_librdkafka_p50": 0.5,
    "latency_librdkafka_p99": 0.99,
    "latency_librdkafka_p999": 0.999,
}
NOTES = {
    "latency_p99": "one thread, one connection with acks=all and one with a fetch waiting at the broker; from the"
    " moment that a record is due until the answer with it is read",
    "latency_written_p99": "from the moment that a record is due until the client writes it: part of the figures"
    " above, and none of the server's unless it keeps the client from the CPU",
    "latency_librdkafka_p99": "from produce() until poll() returns it, threads of the client that wake each other"
    " included; acks=1",
}


def run(session: Session) -> None:
    session.warm_up_with(brisk_latencies)
    for _ in range(session.sizes.rounds):
        for server in session.steady():
            measure(session, server)
            measure_librdkafka(session, server)
            session.say_last(server.name, *READ, *BRISK_READ, *ACKNOWLEDGED, *WRITTEN, *LIBRDKAFKA)
    for metric, text in NOTES.items():
        session.note(metric, text)


def measure(session: Session, server: Server) -> None:
    rate = session.sizes.records_per_second
    with session.topic(server, 1) as topic:
        gentle = session.latency(server, topic, session.sizes.latency_records, rate, WARM_UP_SECONDS * rate)
    brisk = brisk_latencies(session, server)
    record_percentiles(session, server, READ, gentle.read)
    record_percentiles(session, server, BRISK_READ, brisk.read)
    record_percentiles(session, server, ACKNOWLEDGED, gentle.acknowledged)
    record_percentiles(session, server, WRITTEN, gentle.written)


def brisk_latencies(session: Session, server: Server) -> Latencies:
    rate = BRISK_RECORDS_PER_SECOND
    with session.topic(server, 1) as topic:
        return session.latency(
            server, topic, session.sizes.latency_records, rate, BRISK_WARM_UP_SECONDS * rate
        )


def measure_librdkafka(session: Session, server: Server) -> None:
    rate = session.sizes.records_per_second
    with session.topic(server, 1) as topic:
        nanoseconds = session.librdkafka_latency(
            server, topic, session.sizes.latency_records, rate, WARM_UP_SECONDS * rate
        )
    record_percentiles(session, server, LIBRDKAFKA, nanoseconds)


def record_percentiles(
    session: Session, server: Server, fractions: Mapping[str, float], nanoseconds: Sequence[int]
) -> None:
    ordered = sorted(nanoseconds)
    for metric, fraction in fractions.items():
        session.record(metric, server.name, ordered[int(fraction * (len(ordered) - 1))] / 1e6)
