"""Rounds of load and `kill -9`: every acknowledged record is read back once, in order."""

import random
import threading
from collections.abc import Callable

import pytest

from penstock.testing import InProcessBroker
from tests.broker.asking import metadata, new_topic
from tests.broker.platform import Platform
from tests.faults.load import Load, read_log
from tests.support.wire_client import WireClient

PARTITIONS = 3
LONGEST_UNDISTURBED_SECONDS = 1.0

pytestmark = [pytest.mark.processes, pytest.mark.faults, pytest.mark.timeout(7200)]


def create_topics(platform: Platform, *names: str) -> None:
    with WireClient(platform.bootstrap) as client:
        for name in names:
            new_topic(client, name, PARTITIONS, segment_bytes=str(1 << 20))


def at_some_moment(chance: random.Random) -> None:
    """The moment of a fault is random on purpose."""
    threading.Event().wait(chance.uniform(0, LONGEST_UNDISTURBED_SECONDS))


def run_rounds(
    platform: Platform, rounds: int, chance: random.Random, disturb: Callable[[int], None]
) -> None:
    """Load of two kinds of producers, a disturbance in every round, and a look at what is left."""
    create_topics(platform, "once", "at-least-once")
    once = Load(platform.bootstrap, "once", PARTITIONS, idempotent=True)
    at_least_once = Load(platform.bootstrap, "at-least-once", PARTITIONS, idempotent=False)
    with once, at_least_once:
        for number in range(rounds):
            at_some_moment(chance)
            disturb(number)
            once.wait_for_progress()
            at_least_once.wait_for_progress()
        once.finish()
        at_least_once.finish()
    print(f"acknowledged: {once.acknowledged_count} once, {at_least_once.acknowledged_count} at least once")
    once.check(platform.bootstrap)
    at_least_once.check(platform.bootstrap)


def test_the_broker_is_killed(platform: Platform, rounds: int, chance: random.Random) -> None:
    run_rounds(platform, rounds, chance, lambda _: platform.restart_broker(kill=True))


def test_the_broker_is_killed_while_it_recovers(
    platform: Platform, rounds: int, chance: random.Random
) -> None:
    def disturb(number: int) -> None:
        platform.broker.kill()
        platform.launch_broker()
        threading.Event().wait(chance.uniform(0, 0.6))  # somewhere in its start
        platform.restart_broker(kill=True)

    run_rounds(platform, rounds, chance, disturb)


def test_zookeeper_is_killed(platform: Platform, rounds: int, chance: random.Random) -> None:
    """The broker serves on; topics can be made again as soon as ZooKeeper is back."""

    def disturb(number: int) -> None:
        platform.zookeeper.kill()
        at_some_moment(chance)
        platform.start_zookeeper()
        create_topics(platform, f"made-after-{number}")

    run_rounds(platform, rounds, chance, disturb)
    platform.restart_broker(kill=True)
    with WireClient(platform.bootstrap) as client:
        for number in range(rounds):
            (topic,) = metadata(client, f"made-after-{number}").topics
            assert (topic.error_code, len(topic.partitions)) == (0, PARTITIONS)


def test_both_are_killed(platform: Platform, rounds: int, chance: random.Random) -> None:
    def disturb(number: int) -> None:
        create_topics(platform, f"made-before-{number}")
        processes = [platform.broker, platform.zookeeper]
        chance.shuffle(processes)
        for process in processes:
            process.kill()
        platform.start_zookeeper()
        platform.start_broker()
        with WireClient(platform.bootstrap) as client:
            assert metadata(client, f"made-before-{number}").topics[0].error_code == 0

    run_rounds(platform, rounds, chance, disturb)


def test_the_broker_is_stopped_in_order(platform: Platform, rounds: int, chance: random.Random) -> None:
    run_rounds(platform, rounds, chance, lambda _: platform.restart_broker(kill=False))


# that the load checks what it reads


def test_the_load_reads_back_what_it_wrote() -> None:
    with InProcessBroker({"num.partitions": "2"}) as broker:
        with Load(broker.bootstrap_servers, "foods", 2, idempotent=True) as load:
            load.wait_for_progress(100)
            load.finish()
        load.check(broker.bootstrap_servers)
        log = read_log(broker.bootstrap_servers, "foods", 0)
        assert len(log) >= 50
        with pytest.raises(AssertionError, match="1 x lost write"):
            load.check_partition(0, log[:-1])
