"""Read, process, write in transactions, while processors and the broker are killed: read_committed shows each input
once, in order.

Apache Kafka 4.3.1 fails here now and then: a transaction that was in PrepareCommit when the broker was killed has been
seen as CompleteCommit after the restart, without its marker in one of the partitions.
"""

import os
import random
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from penstock.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from tests.broker.asking import LATEST, new_topic
from tests.faults.drivers.settings import MemberSettings
from tests.faults.group_view import committed_offsets
from tests.faults.load import Load, read_numbers
from tests.faults.processors import KINDS, Processors
from tests.faults.server import KillableServer, running_server
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

PARTITIONS = 4
PROCESSORS = 2
DEFAULT_ROUNDS = 3
LONG = "PENSTOCK_FAULT_TRANSACTION_ROUNDS" in os.environ
LONGEST_UNDISTURBED_SECONDS = 1.5
LONGEST_SLEEP_SECONDS = 4.0
PAUSE_BETWEEN_BURSTS_SECONDS = 0.1
PATIENCE_SECONDS = 180.0
READ_UNCOMMITTED, READ_COMMITTED = 0, 1

SETTINGS = {
    "group.min.session.timeout.ms": "1000",
    "group.consumer.session.timeout.ms": "2000",
    "group.consumer.min.session.timeout.ms": "1000",
    "group.consumer.heartbeat.interval.ms": "400",
    "group.consumer.min.heartbeat.interval.ms": "400",
}

IN_SHORT = ("confluent", "franz-go", "java")
IN_LONG = ("confluent", "franz-go", "java-consumer")

pytestmark = [pytest.mark.processes, pytest.mark.faults, pytest.mark.timeout(7200)]


@pytest.fixture
def transaction_rounds() -> int:
    return int(os.environ.get("PENSTOCK_FAULT_TRANSACTION_ROUNDS", DEFAULT_ROUNDS))


@pytest.fixture
@starts_processes
def server(tmp_path: Path) -> Iterator[KillableServer]:
    with running_server(tmp_path / "server", SETTINGS) as running:
        yield running


class Pipeline:
    """Input, processors and output, and the faults that befall them."""

    def __init__(self, server: KillableServer, processors: Processors, load: Load, group: str) -> None:
        self.server = server
        self.processors = processors
        self.load = load
        self.group = group

    # faults

    def kill_a_processor(self, chance: random.Random) -> None:
        place = chance.randrange(PROCESSORS)
        self.processors.kill(place)
        self.processors.restart(place)

    def kill_the_broker(self, chance: random.Random) -> None:
        self.server.kill()
        self.server.start()

    def kill_both(self, chance: random.Random) -> None:
        self.server.kill()
        self.kill_a_processor(chance)
        self.server.start()

    def freeze_a_processor(self, chance: random.Random) -> None:
        """It may sleep through its session, and goes on as if nothing had happened."""
        place = chance.randrange(PROCESSORS)
        self.processors.freeze(place)
        threading.Event().wait(chance.uniform(0, LONGEST_SLEEP_SECONDS))
        self.processors.thaw(place)

    def disturb(self, number: int, chance: random.Random) -> None:
        """Each kind of fault in turn, at a random moment."""
        threading.Event().wait(chance.uniform(0, LONGEST_UNDISTURBED_SECONDS))
        faults = (self.kill_a_processor, self.kill_the_broker, self.kill_both, self.freeze_a_processor)
        faults[number % len(faults)](chance)

    # progress

    def committed(self) -> list[int] | None:
        try:
            with WireClient(self.server.bootstrap) as client:
                return committed_offsets(client, self.group, self.load.topic, PARTITIONS)
        except OSError:
            return None

    def wait_until(self, is_far_enough: Callable[[list[int]], bool]) -> None:
        latest: list[int] | None = None

        def is_done() -> bool:
            nonlocal latest
            self.processors.keep_up()
            latest = self.committed()
            return latest is not None and is_far_enough(latest)

        wait_for(is_done, PATIENCE_SECONDS, lambda: f"progress, {latest=}, {self.complaint()}", interval=0.1)

    def complaint(self) -> str:
        ends = [len(numbers) for numbers in self.load.acknowledged]
        return f"acknowledged input {ends}; {self.processors.complaint()}"

    def wait_for_progress(self) -> None:
        before = max(0, sum(self.committed() or ()))
        self.wait_until(lambda latest: sum(latest) > before)

    def drain(self) -> None:
        self.load.finish()
        ends = [len(numbers) for numbers in self.load.acknowledged]
        self.wait_until(lambda latest: latest == ends)


# reading the output


def end_offset(client: WireClient, topic: str, partition: int, isolation_level: int) -> int:
    """The high watermark, or the last stable offset."""
    asked = ListOffsetsPartition(partition_index=partition, timestamp=LATEST)
    request = ListOffsetsRequest(
        replica_id=-1,
        isolation_level=isolation_level,
        topics=[ListOffsetsTopic(name=topic, partitions=[asked])],
    )
    (found,) = client.send(request).topics[0].partitions
    assert found.error_code == 0, found
    return int(found.offset)


def wait_until_no_transaction_is_open(client: WireClient, topic: str) -> None:
    def ends(isolation_level: int) -> list[int]:
        return [end_offset(client, topic, partition, isolation_level) for partition in range(PARTITIONS)]

    wait_for(
        lambda: ends(READ_COMMITTED) == ends(READ_UNCOMMITTED),
        PATIENCE_SECONDS,
        lambda: f"transactions to end: {ends(READ_COMMITTED)} of {ends(READ_UNCOMMITTED)}",
        interval=0.1,
    )


def read_committed(bootstrap: str, topic: str, partition: int) -> list[int]:
    return read_numbers(bootstrap, topic, partition, "read_committed")


def check_once_and_in_order(found: list[int], expected: list[int]) -> None:
    twice = len(found) - len(set(found))
    missing = sorted(set(expected) - set(found))
    assert not twice, (
        f"{twice} came twice: {[now for now, then in zip(found[1:], found, strict=False) if now <= then][:10]}"
    )
    assert not missing, f"{len(missing)} are missing: {missing[:10]}"
    assert found == expected, "out of order, or more than was sent"


@pytest.mark.parametrize("kind", IN_LONG if LONG else IN_SHORT)
def test_each_input_comes_out_once(
    kind: str, server: KillableServer, tmp_path: Path, transaction_rounds: int, chance: random.Random
) -> None:
    source, output, group = "input", "output", "copiers"
    with WireClient(server.bootstrap) as client:
        new_topic(client, source, PARTITIONS)
        new_topic(client, output, PARTITIONS)
    settings = MemberSettings(
        server.bootstrap,
        group,
        source,
        "",
        "",
        output=output,
        session_timeout_ms=2_000,
        heartbeat_interval_ms=400,
    )
    load = Load(
        server.bootstrap, source, PARTITIONS, idempotent=True, pause_seconds=PAUSE_BETWEEN_BURSTS_SECONDS
    )
    with Processors([KINDS[kind]] * PROCESSORS, settings, tmp_path / "processors") as processors, load:
        pipeline = Pipeline(server, processors, load, group)
        pipeline.wait_for_progress()
        for number in range(transaction_rounds):
            pipeline.disturb(number, chance)
            pipeline.wait_for_progress()
        pipeline.drain()
        with WireClient(server.bootstrap) as client:
            wait_until_no_transaction_is_open(client, output)
    print(f"{load.acknowledged_count} records, {processors.gave_up} processors gave up")
    load.check(server.bootstrap)
    for partition in range(PARTITIONS):
        expected = read_numbers(server.bootstrap, source, partition)
        check_once_and_in_order(read_committed(server.bootstrap, output, partition), expected)


# that the check would notice


@pytest.mark.parametrize(
    ("found", "complaint"),
    [
        ([0, 1, 1, 2], "came twice"),
        ([0, 2], "1 are missing"),
        ([1, 0, 2], "out of order"),
        ([0, 1, 2, 3], "more than"),
    ],
)
def test_the_check_complains(found: list[int], complaint: str) -> None:
    with pytest.raises(AssertionError, match=complaint):
        check_once_and_in_order(found, [0, 1, 2])
