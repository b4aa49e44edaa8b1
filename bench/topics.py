"""Topics that keep all their data until they are deleted, and then give the disk back at once."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.servers import Server
from bench.wire import METADATA_OF_ALL_TOPICS, try_metadata
from penstock import KafkaAdmin
from tests.support.processes import wait_for

TIMEOUT_SECONDS = 120.0
CONFIG = {"retention.ms": "-1", "retention.bytes": "-1"}


def create(server: Server, topics: Mapping[str, int]) -> float:
    """Creates topics with so many partitions; returns the seconds until Metadata knows a leader for each."""
    admin = _admin(server)
    expected = _partitions_with_leader(server) + sum(topics.values())
    new = [
        NewTopic(name, num_partitions=count, replication_factor=server.replication_factor, config=CONFIG)
        for name, count in topics.items()
    ]
    started = time.perf_counter()
    for future in admin.create_topics(new, operation_timeout=TIMEOUT_SECONDS).values():
        future.result(TIMEOUT_SECONDS)
    wait_for_leaders(server, expected)
    return time.perf_counter() - started


def create_with_replicas(server: Server, name: str, replicas: list[int]) -> None:
    """A topic of one partition, on these brokers; the first of them leads it."""
    expected = _partitions_with_leader(server) + 1
    new = NewTopic(name, num_partitions=1, replica_assignment=[replicas], config=CONFIG)
    admin = _admin(server)  # it must outlive its futures
    [created] = admin.create_topics([new], operation_timeout=TIMEOUT_SECONDS).values()
    created.result(TIMEOUT_SECONDS)
    wait_for_leaders(server, expected)


def elect_preferred_leaders(server: Server) -> None:
    """Has each partition led by its first replica, as the topic was created."""
    with KafkaAdmin(bootstrap_servers=server.bootstrap) as admin:
        admin.elect_leaders()


def delete(server: Server, names: Iterable[str]) -> None:
    """Deletes topics, and waits until their files are gone: what is still dirty in the page cache goes with them."""
    names = list(names)
    admin = _admin(server)  # it must outlive its futures
    for future in admin.delete_topics(names, operation_timeout=TIMEOUT_SECONDS).values():
        future.result(TIMEOUT_SECONDS)
    wait_for(
        lambda: not any(_has_files(server, name) for name in names), TIMEOUT_SECONDS, f"no files of {names}"
    )


def _has_files(server: Server, topic: str) -> bool:
    """Whether there is a partition of the topic, deleted (Kafka adds a suffix until the files go) or not."""
    return any(True for data in server.data_directories for _ in data.glob(f"{topic}-[0-9]*"))


def _admin(server: Server) -> AdminClient:
    return AdminClient({"bootstrap.servers": server.bootstrap, "log_level": 3})


def wait_for_leaders(server: Server, partitions: int) -> None:
    def all_have_leaders() -> bool:
        return _partitions_with_leader(server) >= partitions

    wait_for(all_have_leaders, TIMEOUT_SECONDS, f"leaders of {partitions} partitions", interval=0.005)


def _partitions_with_leader(server: Server) -> int:
    metadata = try_metadata(server.port, METADATA_OF_ALL_TOPICS)
    return metadata.partitions_with_leader if metadata else 0
