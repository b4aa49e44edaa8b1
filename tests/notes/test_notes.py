"""Every command of the notes works word for word: ports 2181 and 9092, `../../config/*.properties` and all."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.notes.commands import INSTALLATION, KAFKA_BROKER, SENDING_MESSAGES, commands_of
from tests.notes.shell import Machine, Running, machine
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

# What Kafka's own consumer says first of the older spelling.
DEPRECATED = "Option --property is deprecated"
FOODS = [f"food number {number}" for number in range(20)]
KINDS = ("fruit", "vegetable", "bread")
KEYED = [f"{kind}-{kind} {number}" for number in range(10) for kind in KINDS]


@pytest.fixture
@starts_processes
def shell(tmp_path: Path) -> Iterator[Machine]:
    with machine(tmp_path) as made:
        yield made


@contextmanager
def servers(shell: Machine, zookeeper: str, broker: str) -> Iterator[None]:
    """Each in a terminal of its own; both end cleanly on Ctrl-C."""
    with ExitStack() as terminals:
        started: list[Running] = []
        for command, ready in ((zookeeper, "ZooKeeper is ready on"), (broker, "Kafka broker 0 is ready on")):
            started.append(terminals.enter_context(shell.run(command)))
            started[-1].wait_for_text(ready)
        yield
        for server in reversed(started):
            assert server.interrupt() == 0, server.said()


def create(shell: Machine, command: str, topic: str) -> None:
    code, lines, errors = shell.run_to_end(command)
    assert (code, lines, errors) == (0, [f"Created topic {topic}."], [])


def produce(shell: Machine, command: str, lines: list[str]) -> None:
    code, _, errors = shell.run_to_end(command, "".join(f"{line}\n" for line in lines))
    assert (code, errors) == (0, [])


def consume(shell: Machine, command: str, count: int) -> list[str]:
    with shell.run(command) as consumer:
        lines = consumer.wait_for_lines(count, but=DEPRECATED)
        consumer.interrupt()
        assert f"Processed a total of {count} messages" in consumer.said()
        return lines


@pytest.mark.parametrize("section", [INSTALLATION, KAFKA_BROKER], ids=["installation", "kafka-broker"])
def test_what_is_typed_into_the_producer_arrives(shell: Machine, section: str) -> None:
    zookeeper = commands_of(INSTALLATION)[0]
    broker, topics, producer, consumer = commands_of(section)[-4:]
    with servers(shell, zookeeper, broker):
        create(shell, topics, "my-topic")
        produce(shell, producer, FOODS)
        assert sorted(consume(shell, consumer, len(FOODS))) == sorted(FOODS)


def test_keys_split_at_a_hyphen(shell: Machine) -> None:
    zookeeper, broker, topics, producer, consumer = commands_of(SENDING_MESSAGES)
    with servers(shell, zookeeper, broker):
        create(shell, topics, "foods")
        produce(shell, producer, KEYED)
        values = consume(shell, consumer, len(KEYED))
        for kind in KINDS:
            assert [value for value in values if value.startswith(kind)] == [f"{kind} {n}" for n in range(10)]
        assert len(values) == len(KEYED)
    for kind in KINDS:
        stored = [log for log in commit_logs(shell, "foods", 4) if f"key: {kind} " in "".join(log)]
        assert len(stored) == 1, f"{kind} is in one partition"
        wanted = [f"key: {kind} payload: {kind} {number}" for number in range(10)]
        assert [line.partition("] ")[2] for line in stored[0] if f"key: {kind} " in line] == wanted


def test_the_commit_log_is_where_the_notes_say(shell: Machine) -> None:
    """server.properties -> tmp/kafka-logs -> files.log, and the records are there in the order they were typed."""
    zookeeper, broker, topics, producer, _ = commands_of(INSTALLATION)
    with servers(shell, zookeeper, broker):
        create(shell, topics, "my-topic")
        produce(shell, producer, FOODS)
    stored = [
        [line.partition("payload: ")[2] for line in log if "payload: " in line]
        for log in commit_logs(shell, "my-topic", 3)
    ]
    assert sorted(food for foods in stored for food in foods) == sorted(FOODS)
    for foods in stored:
        assert foods == sorted(foods, key=FOODS.index)


def commit_logs(shell: Machine, topic: str, partitions: int) -> list[list[str]]:
    """What kafka-dump-log shows of each partition."""
    shown = []
    for partition in range(partitions):
        file = f"/tmp/kafka-logs/{topic}-{partition}/00000000000000000000.log"
        code, lines, errors = shell.run_to_end(f"kafka-dump-log --print-data-log --files {file}")
        assert (code, errors) == (0, [])
        shown.append(lines)
    return shown
