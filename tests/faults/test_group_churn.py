"""Consumers join, leave and are killed while a producer writes: nothing is lost, committed offsets never go back, and
when it is quiet again the group settles and each partition has one owner."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker.asking import new_topic
from tests.faults.churn import Churn
from tests.faults.group_view import OffsetObserver, committed_offsets, describe
from tests.faults.load import Load
from tests.faults.members import KINDS, MemberKind, Members
from tests.faults.server import KillableServer, running_server
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

PARTITIONS = 12
CONSUMERS = 12
PAUSE_BETWEEN_BURSTS_SECONDS = 0.1
PATIENCE_SECONDS = 120.0
DEFAULT_SECONDS = 8.0
LONG = "PENSTOCK_FAULT_CHURN_SECONDS" in os.environ

SETTINGS = {
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "500",
}

ONE_KIND_IN_SHORT = ("confluent-range", "confluent-consumer")
ONE_KIND = (
    *ONE_KIND_IN_SHORT,
    "confluent-cooperative",
    "aiokafka",
    "kafka-python",
    "kafkajs",
    "franz-go-cooperative",
    "franz-go-consumer",
    "java-range",
    "java-consumer",
)
MIXED = (
    *("confluent-range", "aiokafka", "kafka-python", "franz-go-range") * 2,
    *("kafkajs", "java-range", "confluent-range", "franz-go-range"),
)

pytestmark = [pytest.mark.processes, pytest.mark.faults, pytest.mark.timeout(900)]


@pytest.fixture
def churn_seconds() -> float:
    return float(os.environ.get("PENSTOCK_FAULT_CHURN_SECONDS", DEFAULT_SECONDS))


@pytest.fixture(scope="module")
@starts_processes
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KillableServer]:
    with running_server(tmp_path_factory.mktemp("server"), SETTINGS) as running:
        yield running


def check_nothing_is_lost(load: Load, members: Members) -> None:
    for partition in range(PARTITIONS):
        missing = set(load.acknowledged[partition]) - members.processed(partition)
        assert not missing, f"partition {partition}: {len(missing)} not consumed: {sorted(missing)[:10]}"


def wait_until_all_is_committed(client: WireClient, load: Load, churn: Churn, group: str) -> None:
    ends = [len(numbers) for numbers in load.acknowledged]

    def is_done() -> bool:
        churn.require_all_alive()
        return committed_offsets(client, group, load.topic, PARTITIONS) == ends

    def what() -> str:
        return f"{ends=}, committed {committed_offsets(client, group, load.topic, PARTITIONS)}"

    wait_for(is_done, PATIENCE_SECONDS, what, interval=0.1)


def wait_until_settled(client: WireClient, churn: Churn, group: str, protocol: str) -> None:
    """The coordinator says so, and the members agree with it."""
    count = len(churn.present)
    wait_for(
        lambda: describe(client, group, protocol).is_settled(count, PARTITIONS),
        PATIENCE_SECONDS,
        lambda: f"{count} members to settle: {describe(client, group, protocol)}",
        interval=0.1,
    )
    wait_for(
        lambda: sorted(each for member in churn.present for each in member.owned) == list(range(PARTITIONS)),
        PATIENCE_SECONDS,
        lambda: f"each partition to have one owner: { {each.name: each.owned for each in churn.present} }",
        interval=0.1,
    )


def run_churn(
    server: KillableServer, directory: Path, kinds: list[MemberKind], seconds: float, chance: random.Random
) -> None:
    group = topic = f"churn-{directory.name}"
    protocol = kinds[0].protocol
    with WireClient(server.bootstrap) as client:
        new_topic(client, topic, PARTITIONS)
        load = Load(
            server.bootstrap, topic, PARTITIONS, idempotent=True, pause_seconds=PAUSE_BETWEEN_BURSTS_SECONDS
        )
        observer = OffsetObserver(server.bootstrap, group, topic, PARTITIONS)
        with Members(directory, server.bootstrap, group, topic) as members, load, observer:
            churn = Churn(members, kinds, chance)
            churn.fill()
            wait_for(lambda: sum(observer.latest) > 0, PATIENCE_SECONDS, "a first commit", interval=0.1)
            before = sum(observer.latest)
            churn.run(seconds)
            committed_in_churn = sum(observer.latest) - before
            load.finish()
            churn.finish()
            wait_until_all_is_committed(client, load, churn, group)
            wait_until_settled(client, churn, group, protocol)
        ownerships = sum(len(member.ownerships()) for member in members.started)
        print(f"{churn.counts}, {ownerships=}, {load.acknowledged_count=}, {committed_in_churn=}")
        observer.check()
        check_nothing_is_lost(load, members)
        assert committed_in_churn > 0 or not LONG, "the group did nothing while members came and went"


@pytest.mark.parametrize("kind", ONE_KIND if LONG else ONE_KIND_IN_SHORT)
def test_one_kind_of_client(
    kind: str, server: KillableServer, tmp_path: Path, churn_seconds: float, chance: random.Random
) -> None:
    run_churn(server, tmp_path, [KINDS[kind]] * CONSUMERS, churn_seconds, chance)


def test_several_kinds_of_client_in_one_group(
    server: KillableServer, tmp_path: Path, churn_seconds: float, chance: random.Random
) -> None:
    run_churn(server, tmp_path, [KINDS[kind] for kind in MIXED], churn_seconds, chance)
