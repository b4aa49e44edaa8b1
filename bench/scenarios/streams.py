"""Programs of streams: Penstock's on Spark, and the same in Kafka Streams, Quix Streams and PySpark by hand, each on
the same broker of Penstock.

A windowed count and a join of a stream with a table, of JSON, from an empty group to the commit of the last record;
each output is looked at afterwards. CPU is that of all processes of a system. It is told twice: as a whole, with the
starts of JVMs and of Spark, and from the tenth part of the records on, when all that is over; the targets are for the
latter, what a program takes that runs for longer than a minute. PySpark is given its second run in the same session for
that. The column of Kafka has who is named in the line. Quix gets a tenth of the records.

Then the time from an event to its count, at a rate that loads nothing, and the start of a program whose store has a
million keys, beside one whose store is empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from bench import topics
from bench.client import run_module
from bench.servers import Server
from bench.session import Session
from bench.spark_by_hand import SparkByHand
from bench.streams import results, runs
from bench.streams.records import EVENTS, KEYS, PARTITIONS, add_events, create_filled
from bench.streams.runs import AtWork, Sample, Watched, at_work, new_run
from bench.streams.systems import KAFKA_STREAMS, PENSTOCK, QUIX, SLOW_PEERS_SHARE, STREAMS, System

PER_RECORDS = 1_000_000
SHORT = {"windowed_count": "count", "stream_table_join": "join"}
RECORDS_PER_SECOND, WARM_UP_RECORDS = 100, 500
START_SECONDS = 180.0
PERCENTILES = {"p50": 0.5, "p99": 0.99}
COLUMN = {PENSTOCK.name: "penstock", KAFKA_STREAMS.name: "kafka"}


def run(session: Session) -> None:
    measure_throughput(session)
    measure_latency(session)
    measure_restore(session)


@contextmanager
def filled_server(session: Session, records: int, *, keys: int = KEYS) -> Iterator[Server]:
    with session.fresh("penstock") as server:
        server.start()
        create_filled(server, records, keys=keys)
        yield server


# --- throughput


def measure_throughput(session: Session) -> None:
    records = session.sizes.streams_records
    with filled_server(session, records) as server:
        for _ in range(session.sizes.rounds):
            for program in SHORT:
                measure(session, server, program, records, (PENSTOCK, *STREAMS))
            if "kafka" in session.names:
                measure_by_hand(session, server, records)
    if "kafka" in session.names:
        few = max(1_000, round(records * SLOW_PEERS_SHARE))
        with filled_server(session, few) as server:
            for _ in range(session.sizes.rounds):
                for program in SHORT:
                    measure(session, server, program, few, QUIX)


def measure(
    session: Session, server: Server, program: str, records: int, systems: tuple[System, ...]
) -> None:
    for system in systems:
        if COLUMN.get(system.name, "kafka") not in session.names:
            continue
        output = session.name_of_topic()
        topics.create(server, {output: PARTITIONS})
        taken = runs.measure(system, new_run(program, output, server, session.root), records)
        if program == "windowed_count":
            results.require_counts(server.bootstrap, output, records)
        else:
            results.require_joined(server.bootstrap, output, records, exactly=system.is_exact)
        topics.delete(server, [output])
        record(session, program, system.name, taken.whole, taken.when_warm, taken.peak_rss_bytes)


def measure_by_hand(session: Session, server: Server, records: int) -> None:
    """The second run is what a warm session takes; the first one has the session's start in it."""
    outputs = [session.name_of_topic() for _ in range(2)]
    topics.create(server, dict.fromkeys(outputs, PARTITIONS))
    folder = session.directory("by_hand")
    folder.mkdir()
    with SparkByHand(folder / "by_hand.log") as by_hand:
        watched, samples = Watched(by_hand), [Sample(0, 0.0, 0.0)]
        for output in outputs:
            job = {"topic": EVENTS, "output": output, "folder": str(folder / output)}
            with watched.looking():
                by_hand.run(bootstrap=server.bootstrap, query="to_windowed_counts", **job)
            watched.look(lambda: records)
            samples.append(watched.taken.whole)
            results.require_counts(server.bootstrap, output, records)
    (_, first, second), rss_bytes = samples, watched.taken.peak_rss_bytes
    topics.delete(server, outputs)
    warm = replace(second.since(first), records=records)
    record(session, "windowed_count", "spark", first, warm, rss_bytes)


def record(
    session: Session, program: str, name: str, whole: Sample, warm: Sample, peak_rss_bytes: float
) -> None:
    prefix = f"streams_{SHORT[program]}_{name}"
    values = {
        "warm_cpu": per_records(warm.cpu_seconds, warm.records),
        "cpu": per_records(whole.cpu_seconds, whole.records),
        "warm_seconds": per_records(warm.seconds, warm.records),
        "rss": peak_rss_bytes / 1e6,
    }
    for what, value in values.items():
        session.record(f"{prefix}_{what}", COLUMN.get(name, "kafka"), value)
    told = ", ".join(f"{what} {value:.2f}" for what, value in values.items())
    session.say(f"{program} of {whole.records} by {name}: {whole.seconds:.1f} s; per 1,000,000: {told}")


def per_records(amount: float, records: int) -> float:
    return amount * PER_RECORDS / records


# --- latency


def measure_latency(session: Session) -> None:
    for system in (PENSTOCK, KAFKA_STREAMS):
        if COLUMN[system.name] in session.names:
            with filled_server(session, 1_000) as server:
                _measure_latency(session, server, system)


def _measure_latency(session: Session, server: Server, system: System) -> None:
    output = session.name_of_topic()
    topics.create(server, {output: PARTITIONS})
    program = new_run("windowed_count", output, server, session.root)
    with at_work(system, program) as watched:
        watched.watch_until(runs.committed_by(program), 1_000)
        for number in range(session.sizes.rounds):
            job = {
                "bootstrap": server.bootstrap,
                "topic": output,
                "records": session.sizes.streams_latency_records,
                "records_per_second": RECORDS_PER_SECOND,
                "warm_up_records": WARM_UP_RECORDS if number == 0 else 0,
            }
            nanoseconds = sorted(run_module("bench.streams.latency_client", "latency", job)["nanoseconds"])
            for name, fraction in PERCENTILES.items():
                value = nanoseconds[int(fraction * (len(nanoseconds) - 1))] / 1e6
                session.record(f"streams_latency_{name}", COLUMN[system.name], value)
            session.say_last(COLUMN[system.name], *(f"streams_latency_{name}" for name in PERCENTILES))


# --- restore


def measure_restore(session: Session) -> None:
    keys = session.sizes.streams_restored_keys
    with filled_server(session, keys, keys=keys) as server:
        for system in (PENSTOCK, KAFKA_STREAMS):
            if COLUMN[system.name] in session.names:
                _measure_restore(session, server, system, keys)


def _measure_restore(session: Session, server: Server, system: System, keys: int) -> None:
    """Twice the same application: until it says that it runs, with nothing in its changelog; and until it has one more
    event of each partition behind it, which it can't before its stores are whole."""
    output = session.name_of_topic()
    topics.create(server, {output: PARTITIONS})
    program = new_run("keyed_count", output, server, session.root)
    with at_work(system, program) as watched:
        empty_seconds = seconds_to_run(watched, system)
        known = watched.watch_until(runs.committed_by(program), keys).whole.records
    runs.forget_state(program)
    add_events(server, PARTITIONS)
    with at_work(system, program) as watched:
        taken = watched.watch_until(runs.committed_by(program), known + PARTITIONS)
        events_of_each = 2 + (known - keys) // PARTITIONS  # systems before have each had one more
        results.require_counted_on(server.bootstrap, output, PARTITIONS, events_of_each)
        column = COLUMN[system.name]
        session.record("streams_start_seconds", column, empty_seconds)
        session.record("streams_restore_seconds", column, taken.whole.seconds)
        session.record("streams_restore_cpu", column, taken.whole.cpu_seconds)
        session.record("streams_restore_rss", column, watched.rss_bytes() / 1e6)
        session.say_last(
            column,
            *(
                f"streams_{name}"
                for name in ("start_seconds", "restore_seconds", "restore_cpu", "restore_rss")
            ),
        )


def seconds_to_run(watched: AtWork, system: System) -> float:
    process = watched.process
    process.wait_until(
        lambda: system.says_it_runs in process.log_text(), START_SECONDS, f"{system.name} to run"
    )
    return watched.seconds
