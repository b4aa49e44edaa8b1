"""Three brokers, three replicas, acks=all: what replication costs, and how soon a cluster goes on without a broker.

One system at a time: three brokers of each at once would measure how two cores are shared by seven processes.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from bench import topics
from bench.clusters import BROKERS, CLUSTERS, SESSION_TIMEOUT_MS, Cluster
from bench.scenarios.latency import record_percentiles
from bench.session import PARTITIONS, Load, Session, still_improving
from bench.steady_writer import SteadyWriter
from bench.wire import METADATA_OF_ALL_TOPICS, Metadata, leaders_of, try_metadata
from tests.support.processes import wait_for

MOST_WARM_UP_ROUNDS = 8
WARM_UP_SECONDS = 5
TOPICS = 30
PATIENCE_SECONDS = 180.0
LOOK_SECONDS = 0.02


def run(session: Session) -> None:
    for name in session.names:
        with started(session, name) as cluster:
            measure_load(session, cluster)
            measure_failover(session, cluster)
        with started(session, name) as cluster:
            measure_partitions(session, cluster)
    session.note(
        "cluster_failover",
        f"session timeouts of {SESSION_TIMEOUT_MS / 1000:g} s in both; each broker is killed in turn",
    )


@contextmanager
def started(session: Session, name: str) -> Iterator[Cluster]:
    with CLUSTERS[name](session.directory(f"{name}-cluster")) as cluster:
        cluster.start()
        yield cluster


# load


def measure_load(session: Session, cluster: Cluster) -> None:
    warm_up(session, cluster)
    for _ in range(session.sizes.rounds):
        load = produced(session, cluster)
        gigabytes = session.sizes.gigabytes
        session.record("cluster_produce_cpu", cluster.name, load.cpu_seconds / gigabytes)
        session.record("cluster_produce_seconds", cluster.name, load.seconds / gigabytes)
        acknowledged = latencies(session, cluster, session.sizes.latency_records)
        record_percentiles(
            session,
            cluster.name,
            {"cluster_acknowledged_p50": 0.5, "cluster_acknowledged_p99": 0.99},
            acknowledged,
        )
        session.say_last(
            cluster.name,
            "cluster_produce_cpu",
            "cluster_produce_seconds",
            "cluster_acknowledged_p50",
            "cluster_acknowledged_p99",
        )
    session.record("cluster_rss", cluster.name, cluster.rss_bytes() / 1e6)
    session.record("cluster_rss_with_zookeeper", cluster.name, cluster.rss_bytes_with_companions() / 1e6)
    session.say_last(cluster.name, "cluster_rss", "cluster_rss_with_zookeeper")


def warm_up(session: Session, cluster: Cluster) -> None:
    costs: list[tuple[float, ...]] = []
    while len(costs) < MOST_WARM_UP_ROUNDS and still_improving(costs):
        costs.append((produced(session, cluster).cpu_seconds,))
    latencies(session, cluster, session.sizes.latency_records)
    session.say(f"{cluster.name}: warmed up in {len(costs)} rounds")


def produced(session: Session, cluster: Cluster) -> Load:
    """One load; the CPU is that of all brokers until all replicas have it all."""
    with session.topic(cluster, PARTITIONS) as topic:
        return session.produce(cluster, topic, session.records_in(session.sizes.gigabytes))


def latencies(session: Session, cluster: Cluster, records: int) -> list[int]:
    """From the moment that a record is due to its acknowledgement, by two sockets to the partition's leader."""
    rate = session.sizes.records_per_second
    with session.topic(cluster, 1) as topic:
        port = cluster.ports[leaders_of(cluster.port, topic)[0]]
        taken = session.socket_latency(port, topic, records, rate, WARM_UP_SECONDS * rate)
    return taken.acknowledged


# failover


def measure_failover(session: Session, cluster: Cluster) -> None:
    for number in range(max(session.sizes.rounds, len(BROKERS))):
        broker = BROKERS[number % len(BROKERS)]
        with led_by(session, cluster, broker) as topic, SteadyWriter(cluster.bootstrap, topic) as writer:
            killed_at = time.monotonic()
            cluster.kill(broker)
            session.record("cluster_failover", cluster.name, writer.wait_until_acknowledged(killed_at))
        session.say_last(cluster.name, "cluster_failover")
        cluster.bring_back(broker)
        wait_until_in_sync(cluster)


@contextmanager
def led_by(session: Session, cluster: Cluster, broker: int) -> Iterator[str]:
    """A topic of one partition that this broker leads; it stays, since the broker will be away."""
    others = [other for other in BROKERS if other != broker]
    topic = session.name_of_topic()
    topics.create_with_replicas(cluster, topic, [broker, *others])
    yield topic


def wait_until_in_sync(cluster: Cluster) -> None:
    def all_are() -> bool:
        found = try_metadata(cluster.port, METADATA_OF_ALL_TOPICS)
        return found is not None and found.partitions == found.partitions_in_sync

    wait_for(all_are, PATIENCE_SECONDS, "all replicas to be in sync")


# many partitions


def measure_partitions(session: Session, cluster: Cluster) -> None:
    each = session.sizes.cluster_partitions // TOPICS
    seconds = topics.create(cluster, {f"many-{number}": each for number in range(TOPICS)})
    session.record("cluster_partitions_create_seconds", cluster.name, seconds)
    wait_until_in_sync(cluster)
    for number in range(session.sizes.rounds):
        cluster.stop_broker()
        measure_start(session, cluster, TOPICS * each)
        broker = BROKERS[number % len(BROKERS)]
        topics.elect_preferred_leaders(cluster)
        wait_until_balanced(cluster)
        measure_elections(session, cluster, broker)
        cluster.bring_back(broker)
        wait_until_in_sync(cluster)


def wait_until_balanced(cluster: Cluster) -> None:
    """An election is answered before each broker has heard of it."""

    def all_lead() -> bool:
        found = [try_metadata(port, METADATA_OF_ALL_TOPICS) for port in cluster.ports.values()]
        least = 1 / (2 * len(BROKERS))
        return all(
            each is not None and all(each.leaders[broker] > least * each.partitions for broker in BROKERS)
            for each in found
        )

    wait_for(all_lead, PATIENCE_SECONDS, "each broker to lead its share")


def measure_start(session: Session, cluster: Cluster, partitions: int) -> None:
    """Until every broker tells the leader of each."""
    process = cluster.launch()
    for port in cluster.ports.values():
        wait_for(
            lambda port=port: has_all_led(port, partitions), PATIENCE_SECONDS, "all partitions to be led"
        )
    session.record("cluster_start_seconds", cluster.name, time.monotonic() - process.started_at)
    wait_until_in_sync(cluster)
    session.record("cluster_partitions_rss", cluster.name, cluster.rss_bytes() / 1e6)
    session.say_last(
        cluster.name, "cluster_partitions_create_seconds", "cluster_start_seconds", "cluster_partitions_rss"
    )


def has_all_led(port: int, partitions: int) -> bool:
    found = try_metadata(port, METADATA_OF_ALL_TOPICS)
    return found is not None and found.partitions_with_leader >= partitions


def measure_elections(session: Session, cluster: Cluster, broker: int) -> None:
    """From the first partition that another broker leads to the last: what comes before is the session's timeout."""
    port = next(port for other, port in cluster.ports.items() if other != broker)
    before = asked(port).leaders[broker]
    cluster.kill(broker)
    wait_for(
        lambda: asked(port).leaders[broker] < before, PATIENCE_SECONDS, "leaders to change", LOOK_SECONDS
    )
    first = time.monotonic()
    wait_for(lambda: is_led_by_others(port, broker), PATIENCE_SECONDS, "all leaders to change", LOOK_SECONDS)
    session.record("cluster_elections_seconds", cluster.name, time.monotonic() - first)
    session.say_last(cluster.name, "cluster_elections_seconds")


def is_led_by_others(port: int, broker: int) -> bool:
    found = asked(port)
    return not found.leaders[broker] and found.partitions_with_leader == found.partitions


def asked(port: int) -> Metadata:
    found = try_metadata(port, METADATA_OF_ALL_TOPICS)
    if found is None:
        raise RuntimeError(f"no answer of the broker on port {port}")
    return found
