"""Time from the produce of a record to the fetch that has it, at three rates, by one clock.

The figures that count come from `bench.latency_client`, which is nothing but two sockets; those through librdkafka
stand beside them, as what users of a client library see. A percentile of a round is one sample.

At the gentle rate both servers are close to what the machine itself takes, which `bench.latency_floor` shows in the
same run: half of Kafka's latency may be less than that. So the tail is judged where a server has something to do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bench.servers import Server
from bench.session import BRISK_RECORDS_PER_SECOND, BUSY_RECORDS_PER_SECOND, Latencies, Session

WARM_UP_SECONDS = 5
SHORT_WARM_UP_SECONDS = 1
READ = {"latency_p50": 0.5, "latency_p99": 0.99, "latency_p999": 0.999}
FLOOR = {"latency_floor_p99": 0.99}
FASTER = {"latency_brisk_p99": BRISK_RECORDS_PER_SECOND, "latency_busy_p99": BUSY_RECORDS_PER_SECOND}
ACKNOWLEDGED = {"latency_acknowledged_p99": 0.99}
WRITTEN = {"latency_written_p99": 0.99}
LIBRDKAFKA = {
    "latency_librdkafka_p50": 0.5,
    "latency_librdkafka_p99": 0.99,
    "latency_librdkafka_p999": 0.999,
}
FLOOR_COLUMN = "kafka"
NOTES = {
    "latency_p99": "one thread, one connection with acks=all and one with a fetch waiting at the broker; from the"
    " moment that a record is due until the answer with it is read",
    "latency_floor_p99": "the other column is a server that has all answers encoded before the first request, and"
    " writes them: what sockets, scheduler and client take by themselves",
    "latency_written_p99": "from the moment that a record is due until the client writes it: part of the figures"
    " above, and none of the server's unless it keeps the client from the CPU",
    "latency_librdkafka_p99": "from produce() until poll() returns it, threads of the client that wake each other"
    " included; acks=1",
}


def run(session: Session) -> None:
    session.warm_up_with(busy_latencies)
    for _ in range(session.sizes.rounds):
        measure_floor(session)
        for server in session.steady():
            measure(session, server)
            measure_librdkafka(session, server)
            session.say_last(server.name, *READ, *FASTER, *ACKNOWLEDGED, *WRITTEN, *LIBRDKAFKA)
    for metric, text in NOTES.items():
        session.note(metric, text)


def measure_floor(session: Session) -> None:
    rate = session.sizes.records_per_second
    floor = session.latency_floor(session.sizes.latency_records, rate, WARM_UP_SECONDS * rate)
    record_percentiles(session, FLOOR_COLUMN, FLOOR, floor.read)
    session.say_last(FLOOR_COLUMN, *FLOOR)


def measure(session: Session, server: Server) -> None:
    gentle = latencies(session, server, session.sizes.records_per_second, WARM_UP_SECONDS)
    for metric, rate in FASTER.items():
        faster = latencies(session, server, rate, SHORT_WARM_UP_SECONDS)
        record_percentiles(session, server.name, {metric: 0.99}, faster.read)
    record_percentiles(session, server.name, READ, gentle.read)
    record_percentiles(session, server.name, ACKNOWLEDGED, gentle.acknowledged)
    record_percentiles(session, server.name, WRITTEN, gentle.written)
    if server.name != FLOOR_COLUMN:
        record_percentiles(session, server.name, FLOOR, gentle.read)


def latencies(session: Session, server: Server, rate: int, warm_up_seconds: int) -> Latencies:
    with session.topic(server, 1) as topic:
        records = max(session.sizes.latency_records, rate)
        return session.latency(server, topic, records, rate, warm_up_seconds * rate)


def busy_latencies(session: Session, server: Server) -> Latencies:
    return latencies(session, server, BUSY_RECORDS_PER_SECOND, SHORT_WARM_UP_SECONDS)


def measure_librdkafka(session: Session, server: Server) -> None:
    rate = session.sizes.records_per_second
    with session.topic(server, 1) as topic:
        nanoseconds = session.librdkafka_latency(
            server, topic, session.sizes.latency_records, rate, WARM_UP_SECONDS * rate
        )
    record_percentiles(session, server.name, LIBRDKAFKA, nanoseconds)


def record_percentiles(
    session: Session, name: str, fractions: Mapping[str, float], nanoseconds: Sequence[int]
) -> None:
    ordered = sorted(nanoseconds)
    for metric, fraction in fractions.items():
        session.record(metric, name, ordered[int(fraction * (len(ordered) - 1))] / 1e6)
