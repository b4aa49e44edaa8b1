"""Java's Kafka Streams with the streams protocol: a program counts words, in two processes, one of which is killed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest

from penstock.errors import ErrorCode
from penstock.wire.messages.streams_group_describe import DescribedGroup, StreamsGroupDescribeRequest
from tests.foreign_clients.drivers.model import Change, Client, Record
from tests.foreign_clients.drivers.sessions import Member, Membership
from tests.foreign_clients.samples import BASE_TIMESTAMP
from tests.support.cluster_fixture import KafkaServer
from tests.support.kafka_streams_programs import word_count
from tests.support.processes import Process, free_port, wait_for
from tests.support.wire_client import WireClient

PARTITIONS = 4
THREADS = 2
DEAD_AFTER_MS = "6000"  # long enough for a JVM on a busy machine
LINES = 300
WORDS = [f"word-{number}" for number in range(10)]
SETTINGS = {
    "num.stream.threads": str(THREADS),
    "commit.interval.ms": "100",
    "statestore.cache.max.bytes": "0",
    "producer.transaction.timeout.ms": DEAD_AFTER_MS,
    "replication.factor": "1",
    "main.consumer.auto.offset.reset": "earliest",
    "topology.optimization": "none",
}
PATIENCE_SECONDS = 90.0

pytestmark = [pytest.mark.processes, pytest.mark.timeout(240)]


class Instance:
    """One process of the program."""

    def __init__(self, kafka: KafkaServer, program: str, directory: Path) -> None:
        directory.mkdir()
        self.endpoint = f"localhost:{free_port()}"
        settings = {
            **SETTINGS,
            "bootstrap.servers": kafka.bootstrap,
            "application.id": program,
            "application.server": self.endpoint,
            "state.dir": str(directory / "state"),
            "input": f"{program}-lines",
            "output": f"{program}-counts",
        }
        told = (f"{key}={value}" for key, value in settings.items())
        self.process = Process([*word_count(), *told], directory / "log")

    def __enter__(self) -> Instance:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()

    def said(self, kind: str) -> list[str]:
        lines = self.process.log_text().splitlines()
        return [line.removeprefix(f"{kind} ") for line in lines if line.startswith(f"{kind} ")]

    def known_endpoints(self) -> set[str]:
        """Of all processes of the program, as this one was told last."""
        told = self.said("endpoints")
        return set(told[-1].split()) if told else set()

    def stop(self) -> None:
        self.process.stop()
        assert "closed" in self.process.log_text().splitlines(), self.process.log_tail()


@pytest.fixture
def program(topic: str, reader: Client) -> str:
    reader.create_topic(f"{topic}-lines", partitions=PARTITIONS)
    reader.create_topic(f"{topic}-counts", partitions=1)
    changes = [
        Change("SET", "streams.session.timeout.ms", DEAD_AFTER_MS),
        Change("SET", "streams.num.standby.replicas", "1"),
    ]
    reader.incremental_alter_configs("GROUP", topic, changes)
    return topic


@pytest.fixture
def counts(program: str, reader: Client) -> Iterator[Member]:
    """Reads what the program has committed."""
    assigned = ((f"{program}-counts", 0),)
    membership = Membership(f"{program}-reader", assigned=assigned, isolation="read_committed")
    with closing(reader.open_member(membership)) as member:
        yield member


def write_lines(client: Client, program: str, count: int) -> None:
    """Each has all words, so that each word has been counted as often as there are lines."""
    line = " ".join(WORDS).encode()
    records = [Record(line, None, (), BASE_TIMESTAMP, number % PARTITIONS) for number in range(count)]
    client.produce(f"{program}-lines", records)


def wait_for_counts(counts: Member, expected: int, *instances: Instance) -> None:
    """Each word is counted from 1 up to there, without a gap, and no number comes twice."""

    def found() -> dict[str, list[int]]:
        found: dict[str, list[int]] = {word: [] for word in WORDS}
        for each in counts.records():
            found[(each.record.key or b"").decode()].append(int(each.record.value or b""))
        return found

    def complaint() -> str:
        counted = {word: len(numbers) for word, numbers in found().items()}
        logs = "\n".join(instance.process.log_tail() for instance in instances)
        return f"{expected} of each word, got {counted}\n{logs}"

    wait_for(
        lambda: all(len(numbers) >= expected for numbers in found().values()), PATIENCE_SECONDS, complaint
    )
    assert found() == {word: list(range(1, expected + 1)) for word in WORDS}


def describe(kafka: KafkaServer, program: str) -> DescribedGroup:
    """By its coordinator, whichever of the brokers that is."""
    found = DescribedGroup(group_id=program)
    for server in kafka.bootstrap.split(","):
        with WireClient(server) as client:
            (found,) = client.send(StreamsGroupDescribeRequest([program])).groups
        if found.error_code != ErrorCode.NOT_COORDINATOR:
            break
    return found


def wait_for_tasks(kafka: KafkaServer, program: str, instances: list[Instance], *, standbys: bool) -> None:
    """The threads of these processes share all tasks, and each process knows of each."""
    endpoints = {instance.endpoint for instance in instances}

    def is_settled() -> bool:
        for instance in instances:
            instance.process.require_alive()
        group = describe(kafka, program)
        held = [member.assignment for member in group.members]
        active = sum(len(task.partitions) for each in held for task in each.active_tasks)
        standby = sum(len(task.partitions) for each in held for task in each.standby_tasks)
        return (
            group.group_state == "Stable"
            and len(held) == THREADS * len(instances)
            and (active, standby) == (2 * PARTITIONS, PARTITIONS if standbys else 0)
            and all(instance.known_endpoints() == endpoints for instance in instances)
        )

    wait_for(is_settled, PATIENCE_SECONDS, lambda: str(describe(kafka, program)))


def test_a_program_survives_the_end_of_a_process(
    kafka: KafkaServer, program: str, reader: Client, counts: Member, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        first, second = (
            stack.enter_context(Instance(kafka, program, tmp_path / name)) for name in ("first", "second")
        )
        write_lines(reader, program, LINES)
        wait_for_tasks(kafka, program, [first, second], standbys=True)
        wait_for_counts(counts, LINES, first, second)
        second.process.kill()
        write_lines(reader, program, LINES)
        wait_for_tasks(kafka, program, [first], standbys=False)
        wait_for_counts(counts, 2 * LINES, first)
        first.stop()


def test_a_program_whose_thread_fails_ends_as_a_whole(
    kafka: KafkaServer, program: str, reader: Client, tmp_path: Path
) -> None:
    with ExitStack() as stack:
        instances = [
            stack.enter_context(Instance(kafka, program, tmp_path / name)) for name in ("first", "second")
        ]
        wait_for_tasks(kafka, program, instances, standbys=True)
        reader.produce(f"{program}-lines", [Record(b"poison", None, (), BASE_TIMESTAMP)])
        for instance in instances:
            wait_for(
                lambda said=instance.said: said("state")[-1:] == ["ERROR"],
                PATIENCE_SECONDS,
                instance.process.log_tail,
            )
