from __future__ import annotations

import signal
from collections.abc import Callable

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.console_records import LOG, RECORDS, RunningTool, properties
from tests.foreign_clients.drivers.model import Change, Client, Record
from tests.foreign_clients.samples import KEEP_FOR_EVER

pytestmark = pytest.mark.processes

TOOL = "kafka-console-share-consumer"
TOPIC = "console-share-consumer"


@pytest.fixture(scope="module", autouse=True)
def topic(client: Client) -> str:
    client.create_topic(TOPIC, configs=KEEP_FOR_EVER)
    client.produce(TOPIC, RECORDS)
    return TOPIC


@pytest.fixture
def from_beginning(client: Client) -> Callable[[str], None]:
    """Has a share group start at the beginning of its topics."""

    def alter(group: str) -> None:
        change = Change("SET", "share.auto.offset.reset", "earliest")
        client.incremental_alter_configs("GROUP", group, [change])

    return alter


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--nonsense",),
        ("--bootstrap-server", "x:1"),
        ("--topic", "t"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--reject", "--release"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--formatter", "no.such.Formatter"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--group", "g", "--command-property", "group.id=h"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--consumer-config", "a", "--command-config", "b"),
        (
            *("--bootstrap-server", "x:1", "--topic", "t"),
            *("--consumer-property", "a=b", "--command-property", "a=b"),
        ),
        ("--bootstrap-server", "x:1", "--topic", "t", "--property", "a=b", "--formatter-property", "a=b"),
    ],
    ids=" ".join,
)
def test_command_lines(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words)


def test_each_record_once(both: BothTools, from_beginning: Callable[[str], None]) -> None:
    both.each(from_beginning)
    show = properties("--formatter-property", "print.delivery=true", "print.key=true", "print.headers=true")
    where = ("--bootstrap-server", both.bootstrap, "--topic", TOPIC, "--group", "{name}", *show)
    first = both(TOOL, *where, "--max-messages", "2", mutating=True)
    assert first.stdout.startswith("Delivery:1\t")
    rest = both(TOOL, *where, "--max-messages", "3", mutating=True)
    assert len((first.stdout + rest.stdout).splitlines()) == len(RECORDS)
    none = both(TOOL, *where, "--timeout-ms", "700", mutating=True, masks=[LOG])
    assert (none.stdout, none.stderr) == ("", "Processed a total of 0 messages\n")


def test_released_records_come_again(both: BothTools, from_beginning: Callable[[str], None]) -> None:
    both.each(from_beginning)
    show = ("--property", "print.delivery=true")
    where = ("--bootstrap-server", both.bootstrap, "--topic", TOPIC, "--group", "{name}", *show)
    both(TOOL, *where, "--release", "--max-messages", "5", mutating=True)
    again = both(TOOL, *where, "--reject", "--max-messages", "5", mutating=True)
    assert all(line.startswith("Delivery:2") for line in again.stdout.splitlines()[1:])
    none = both(TOOL, *where, "--timeout-ms", "700", mutating=True, masks=[LOG])
    assert none.stderr == "Processed a total of 0 messages\n"


@pytest.mark.parametrize("reject", [(), ("--reject-message-on-error",)])
def test_a_record_that_does_not_fit(
    both: BothTools, from_beginning: Callable[[str], None], reject: tuple[str, ...]
) -> None:
    both.each(from_beginning)
    deserializer = ("--value-deserializer", "org.apache.kafka.common.serialization.LongDeserializer")
    where = (
        "--bootstrap-server",
        both.bootstrap,
        "--topic",
        TOPIC,
        "--group",
        "{name}",
        "--max-messages",
        "2",
    )
    done = both(TOOL, *where, *deserializer, *reject, mutating=True, masks=[LOG])
    assert done.returncode == (0 if reject else 1)


def test_partitions_compression_and_transactions(
    both: BothTools, client: Client, from_beginning: Callable[[str], None]
) -> None:
    """Offsets without a record, where a transaction ended, do not come again and again."""
    both.each(from_beginning)
    name = f"{TOPIC}-transactions"
    client.create_topic(name, partitions=2, configs=KEEP_FOR_EVER)
    producer = client.open_transactional_producer(name)
    for codec in ("zstd", "gzip"):
        producer.begin()
        producer.send(name, [Record(b"in a transaction", partition=partition) for partition in (0, 1)])
        producer.commit()
        client.produce(name, [Record(codec.encode() * 50), Record(b"other", partition=1)], codec=codec)
    producer.close()
    show = properties(
        "--formatter-property", "print.partition=true", "print.offset=true", "print.timestamp=true"
    )
    where = ("--bootstrap-server", both.bootstrap, "--topic", name, "--group", "{name}", *show)
    done = both(TOOL, *where, "--max-messages", "8", mutating=True, sort_lines=True)
    assert len(done.stdout.splitlines()) == 8
    none = both(TOOL, *where, "--timeout-ms", "700", mutating=True, masks=[LOG])
    assert none.stdout == ""


def test_a_topic_that_is_not_there_is_made(both: BothTools, client: Client) -> None:
    where = (
        "--bootstrap-server",
        both.bootstrap,
        "--topic",
        "{name}",
        "--group",
        "{name}",
        "--timeout-ms",
        "700",
    )
    both(TOOL, *where, mutating=True, masks=[LOG])
    assert {both.our_name, both.kafka_name} <= client.list_topics()


def test_a_topic_that_cannot_be(both: BothTools) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--topic", "bad topic", "--timeout-ms", "5000")
    assert both(TOOL, *where, masks=[LOG]).returncode == 0
    logged = run_our_tool(TOOL, *where).stderr
    assert "org.apache.kafka.common.errors.InvalidTopicException: Invalid topics: [bad topic]" in logged


def test_records_as_they_come(both: BothTools, client: Client, from_beginning: Callable[[str], None]) -> None:
    from_beginning(both.our_name)
    name = f"{TOPIC}-later"
    client.create_topic(name)
    with RunningTool(
        TOOL, "--bootstrap-server", both.bootstrap, "--topic", name, "--group", both.our_name
    ) as tool:
        for value in (b"one", b"two", b"three"):
            client.produce(name, [Record(value)])
            assert tool.read_line() == f"{value.decode()}\n"
        tool.signal(signal.SIGINT)
        assert tool.end().returncode == 130


def test_nobody_listens(both: BothTools) -> None:
    where = ("--bootstrap-server", "127.0.0.1:9", "--topic", "t", "--timeout-ms", "500")
    assert both(TOOL, *where, masks=[LOG]).returncode == 0


def test_a_signal(both: BothTools, client: Client, from_beginning: Callable[[str], None]) -> None:
    from_beginning(both.our_name)
    where = ("--bootstrap-server", both.bootstrap, "--topic", TOPIC, "--group", both.our_name)
    with RunningTool(TOOL, *where, "--enable-systest-events") as tool:
        for _ in RECORDS:
            tool.read_line()
        tool.signal(signal.SIGTERM)
        done = tool.end()
        assert done.returncode == 143
        assert done.stdout == "shutdown_complete\n"
        assert done.stderr == f"Processed a total of {len(RECORDS)} messages\n"


def test_values_that_are_refused(both: BothTools) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--topic", TOPIC)
    done = run_our_tool(TOOL, *where, "--timeout-ms", "soon")
    assert (done.returncode, done.stderr) == (1, "Cannot parse argument 'soon' of option timeout-ms\n")
