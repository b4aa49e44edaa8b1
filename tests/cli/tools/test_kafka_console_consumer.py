from __future__ import annotations

import json
import signal
import struct
from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.console_records import LOG, RECORDS, RunningTool, properties, write_properties
from tests.cli.tools.masks import DATE_TIME, LOOPBACK_PORT, masked
from tests.foreign_clients.drivers.model import Change, Client, Record
from tests.foreign_clients.drivers.sessions import Committed, Membership
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.support.cluster_fixture import KafkaServer
from tests.support.java_tools import run_java_tool
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

TOOL = "kafka-console-consumer"
TOPIC = "console-consumer"
NUMBERS = "console-consumer-numbers"


@pytest.fixture(scope="module", autouse=True)
def topics(client: Client) -> None:
    client.create_topic(TOPIC, configs=KEEP_FOR_EVER)
    client.produce(TOPIC, RECORDS)
    client.create_topic(NUMBERS, partitions=2, configs=KEEP_FOR_EVER)
    client.produce(NUMBERS, numbered_records(7))
    client.produce(NUMBERS, [Record(b"other", partition=1)])


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--nonsense",),
        ("--topic",),
        ("--topic", "a"),
        ("--bootstrap-server", "x:1"),
        ("--topic", "a", "--include", "b", "--bootstrap-server", "x:1"),
        ("--bootstrap-server", "x:1", "--include", "a", "--partition", "0"),
        ("--bootstrap-server", "x:1", "--topic", "a", "--offset", "3"),
        (
            "--bootstrap-server",
            "x:1",
            "--topic",
            "a",
            "--partition",
            "0",
            "--offset",
            "3",
            "--from-beginning",
        ),
        ("--bootstrap-server", "x:1", "--topic", "a", "--partition", "0", "--offset", "soon"),
        ("--bootstrap-server", "x:1", "--topic", "a", "--partition", "0", "--offset", "-1"),
        ("--bootstrap-server", "x:1", "--topic", "a", "--partition", "0", "--group", "g"),
        ("--bootstrap-server", "x:1", "--topic", "a", "--formatter", "no.such.Formatter"),
        (
            *("--bootstrap-server", "x:1", "--topic", "a"),
            *("--property", "print.key=true", "--formatter-property", "print.key=true"),
        ),
        (
            *("--bootstrap-server", "x:1", "--topic", "a"),
            *("--consumer-property", "group.id=a", "--command-property", "group.id=b"),
        ),
        ("--bootstrap-server", "x:1", "--topic", "a", "--consumer.config", "x", "--command-config", "y"),
        ("--bootstrap-server", "x:1", "--topic", "a", "--group", "g", "--command-property", "group.id=h"),
        (
            *("--bootstrap-server", "x:1", "--topic", "a", "--from-beginning"),
            *("--command-property", "auto.offset.reset=latest"),
        ),
    ],
    ids=" ".join,
)
def test_command_lines(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words)


@pytest.mark.parametrize(
    "words", [("--partition", "x"), ("--timeout-ms", "soon"), ("--command-config", "/no/file")]
)
def test_values_that_are_refused(both: BothTools, words: tuple[str, ...]) -> None:
    done = both(TOOL, "--bootstrap-server", "x:1", "--topic", "a", *words, stderr="ignore")
    assert done.returncode == 1
    assert words[1] in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "formatting",
    [
        (),
        properties(
            "--formatter-property", *(f"print.{part}=true" for part in ("timestamp", "key", "headers"))
        ),
        properties("--formatter-property", "print.partition=TRUE", "print.offset= true", "print.epoch=true"),
        properties("--formatter-property", "print.delivery=true", "print.value=false"),
        properties("--formatter-property", "print.key=true", "key.separator=-", "null.literal=(nil)"),
        properties(
            "--formatter-property", "print.headers=true", "headers.separator=; ", "line.separator=|\n"
        ),
        properties("--formatter-property", "print.value=false"),
        ("-property", "key.separator=-", "--property", "print.key=false"),
        ("--formatter", "org.apache.kafka.tools.consumer.NoOpMessageFormatter"),
        ("--formatter", "org.apache.kafka.tools.consumer.LoggingMessageFormatter"),
        ("--key-deserializer", "no.such.Deserializer", "--formatter-property", "print.key=true"),
        ("--value-deserializer", "org.apache.kafka.common.serialization.StringDeserializer"),
        ("--value-deserializer", "org.apache.kafka.common.serialization.BytesDeserializer"),
        ("--value-deserializer", "org.apache.kafka.common.serialization.ByteBufferDeserializer"),
        (
            *("--value-deserializer", "org.apache.kafka.common.serialization.StringDeserializer"),
            *properties("--formatter-property", "value.deserializer.deserializer.encoding=ISO-8859-1"),
        ),
    ],
    ids=lambda words: " ".join(words) or "default",
)
def test_formats(both: BothTools, formatting: tuple[str, ...]) -> None:
    where = ("--topic", TOPIC, "--partition", "0", "--from-beginning", "--max-messages", str(len(RECORDS)))
    both(TOOL, "--bootstrap-server", both.bootstrap, *where, *formatting, masks=[LOG])


NUMBERS_AS_BYTES = {
    "Boolean": [b"\x00", b"\x01"],
    "Short": [struct.pack(">h", number) for number in (0, -2, 32767)],
    "Integer": [struct.pack(">i", number) for number in (0, -2, 2**31 - 1)],
    "Long": [struct.pack(">q", number) for number in (0, -2, 2**63 - 1)],
    "Float": [struct.pack(">f", number) for number in (0, -0.0, 1.5, 1e10, 0.1, 3.4e38, 1e-5, float("nan"))],
    "Double": [
        struct.pack(">d", number)
        for number in (0, 0.1, 123456789.5, 1e7, 9999999.0, 0.001, 1e-4, -1e300, float("-inf"))
    ],
    "UUID": [b"123e4567-e89b-12d3-a456-426614174000"],
}


@pytest.mark.parametrize("kind", NUMBERS_AS_BYTES)
def test_deserializers(both: BothTools, client: Client, kind: str) -> None:
    topic = f"console-consumer-{kind}"
    client.create_topic(topic)
    client.produce(topic, [Record(value) for value in NUMBERS_AS_BYTES[kind]])
    deserializer = f"org.apache.kafka.common.serialization.{kind}Deserializer"
    where = ("--topic", topic, "--partition", "0", "--offset", "earliest")
    many = ("--max-messages", str(len(NUMBERS_AS_BYTES[kind])), "--value-deserializer", deserializer)
    both(TOOL, "--bootstrap-server", both.bootstrap, *where, *many)


@pytest.mark.parametrize("skip", [(), ("--skip-message-on-error",)])
def test_a_record_that_does_not_fit(both: BothTools, skip: tuple[str, ...]) -> None:
    deserializer = ("--value-deserializer", "org.apache.kafka.common.serialization.LongDeserializer")
    where = ("--topic", TOPIC, "--partition", "0", "--offset", "0", "--max-messages", "2")
    done = both(TOOL, "--bootstrap-server", both.bootstrap, *where, *deserializer, *skip, masks=[LOG])
    assert done.returncode == (0 if skip else 1)
    logged = run_our_tool(TOOL, "--bootstrap-server", both.bootstrap, *where, *deserializer, *skip).stderr
    assert "Size of data received by LongDeserializer is not 8" in logged


@pytest.mark.parametrize(
    "position",
    [
        ("--partition", "0", "--offset", "3"),
        ("--partition", "1", "--from-beginning"),
        ("--partition", "0", "--offset", "Earliest"),
        ("--partition", "0", "--offset", "100", "--command-property", "auto.offset.reset=earliest"),
        ("--partition", "0", "--offset", "6", "--isolation-level", "read_committed"),
    ],
    ids=" ".join,
)
def test_positions(both: BothTools, position: tuple[str, ...]) -> None:
    show = properties("--formatter-property", "print.offset=true", "print.partition=true")
    where = ("--topic", NUMBERS, *position, "--max-messages", "1")
    both(TOOL, "--bootstrap-server", both.bootstrap, *where, *show)


@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_group_goes_on_where_it_was(both: BothTools, client: Client, protocol: str) -> None:
    group = ("--group", "{name}", "--command-property", f"group.protocol={protocol}")
    where = ("--topic", TOPIC, "--from-beginning", *group)
    many = ("--max-messages", "2")
    first = both(TOOL, "--bootstrap-server", both.bootstrap, *where, *many, mutating=True)
    second = both(TOOL, "--bootstrap-server", both.bootstrap, *where, *many, mutating=True)
    assert first.stdout.splitlines()[0] == "plain"
    assert second.stdout.splitlines() == ["null", ""]
    assert client.group_offsets(both.our_name) == client.group_offsets(both.kafka_name)


def test_patterns(both: BothTools) -> None:
    where = ("--include", r"console-consumer-num\w+", "--from-beginning", "--max-messages", "8")
    both(TOOL, "--bootstrap-server", both.bootstrap, *where, sort_lines=True)


def test_settings_in_files(both: BothTools, tmp_path: Path) -> None:
    consumer = write_properties(tmp_path, auto_offset_reset="earliest", client_id="me")
    formatter = write_properties(tmp_path, print_offset="true", print_key="true", key_separator="!")
    where = ("--topic", TOPIC, "--max-messages", "2", "--consumer.config", consumer)
    both(
        *(TOOL, "--bootstrap-server", both.bootstrap, *where, "--formatter-config", formatter),
        *("--formatter-property", "print.key=false", "--consumer-property", "fetch.max.wait.ms=10"),
    )


def test_silence_ends_it(both: BothTools) -> None:
    where = ("--topic", TOPIC, "--from-beginning", "--timeout-ms", "1000")
    done = both(TOOL, "--bootstrap-server", both.bootstrap, *where, masks=[LOG])
    assert done.stderr.endswith("Processed a total of 5 messages\n")
    assert done.returncode == 0


def test_what_is_logged_of_a_timeout(both: BothTools) -> None:
    words = (TOOL, "--bootstrap-server", both.bootstrap, "--topic", TOPIC, "--timeout-ms", "200")
    theirs, ours = run_java_tool(*words), run_our_tool(*words)
    logs = [masked(log, [DATE_TIME]).partition("[<time>] ERROR ")[2] for log in (theirs.log, ours.stderr)]
    assert logs[0]
    assert logs[0].splitlines()[:2] == logs[1].splitlines()[:2]


def test_nobody_listens(both: BothTools) -> None:
    where = ("--bootstrap-server", "127.0.0.1:9", "--topic", TOPIC, "--timeout-ms", "500")
    done = both(TOOL, *where, masks=[LOG])
    assert done.returncode == 0
    logged = run_our_tool(TOOL, *where).stderr
    assert "Connection to node -1 (127.0.0.1:<port>) could not be established" in masked(
        logged, [LOOPBACK_PORT]
    )


def test_a_topic_that_is_not_there_is_made(both: BothTools, client: Client) -> None:
    where = ("--topic", "{name}", "--timeout-ms", "800")
    done = both(TOOL, "--bootstrap-server", both.bootstrap, *where, mutating=True, masks=[LOG])
    assert done.returncode == 0
    assert {both.our_name, both.kafka_name} <= client.list_topics()


def test_a_topic_that_cannot_be(both: BothTools) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--topic", "bad topic", "--timeout-ms", "5000")
    assert both(TOOL, *where, masks=[LOG]).returncode == 0
    logged = run_our_tool(TOOL, *where).stderr
    assert "org.apache.kafka.common.errors.InvalidTopicException: Invalid topics: [bad topic]" in logged


def test_a_pattern_that_matches_nothing(both: BothTools) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--include", "no-such-.*", "--timeout-ms", "600")
    assert both(TOOL, *where, masks=[LOG]).stderr.endswith("Processed a total of 0 messages\n")


def test_a_pattern_that_is_none(both: BothTools) -> None:
    done = both(TOOL, "--bootstrap-server", both.bootstrap, "--include", "(", stderr="ignore")
    assert done.returncode == 1


def test_no_offset_to_start_from(both: BothTools) -> None:
    reset = ("--command-property", "auto.offset.reset=none", "--timeout-ms", "20000")
    done = both(TOOL, "--bootstrap-server", both.bootstrap, "--topic", TOPIC, *reset, masks=[LOG])
    assert done.stderr.endswith("Processed a total of 0 messages\n")


def test_a_partition_that_is_not_there(both: BothTools) -> None:
    where = ("--topic", TOPIC, "--partition", "7", "--timeout-ms", "400")
    done = both(TOOL, "--bootstrap-server", both.bootstrap, *where, masks=[LOG])
    assert done.stderr == "Processed a total of 0 messages\n"


# --- the records of internal topics


FORMATTERS = {
    "__consumer_offsets": (
        *("OffsetsMessageFormatter", "GroupMetadataMessageFormatter", "ShareGroupMessageFormatter"),
    ),
    "__transaction_state": ("TransactionLogMessageFormatter",),
    "__share_group_state": ("group.share.ShareGroupStateMessageFormatter",),
}


@pytest.fixture(scope="module")
@starts_processes
def coordinators_topics(client: Client, kafka: KafkaServer) -> None:
    """Has the coordinators write something."""
    member = client.open_member(Membership("console-consumer-group", (TOPIC,)))
    wait_for(lambda: member.records(), 30, "records")
    member.commit({(TOPIC, 0): Committed(3)})
    member.close()
    producer = client.open_transactional_producer("console-consumer-transactions")
    producer.begin()
    producer.send("console-consumer-transactional", [Record(b"in a transaction")])
    producer.commit()
    producer.close()
    group = "console-consumer-share-group"
    earliest = Change("SET", "share.auto.offset.reset", "earliest")
    client.incremental_alter_configs("GROUP", group, [earliest])
    where = ("--bootstrap-server", kafka.bootstrap, "--topic", TOPIC, "--group", group)
    shared = run_our_tool("kafka-console-share-consumer", *where, "--max-messages", "2")
    assert shared.returncode == 0


@pytest.mark.usefixtures("coordinators_topics")
@pytest.mark.parametrize(
    ("topic", "formatter"), [(topic, each) for topic, many in FORMATTERS.items() for each in many]
)
def test_internal_topics(both: BothTools, client: Client, topic: str, formatter: str) -> None:
    found = 0
    for partition in range(4):
        count = client.offsets(topic, partition=partition).end
        where = ("--topic", topic, "--partition", str(partition), "--offset", "earliest")
        how = ("--max-messages", str(count), "--formatter", f"org.apache.kafka.tools.consumer.{formatter}")
        if count:
            done = both(TOOL, "--bootstrap-server", both.bootstrap, *where, *how)
            found += len(json.loads(f"[{done.stdout.replace('}{', '},{')}]"))
    assert found


# --- the end


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals(both: BothTools, number: signal.Signals, code: int) -> None:
    where = (
        "--bootstrap-server",
        both.bootstrap,
        "--topic",
        TOPIC,
        "--from-beginning",
        "--enable-systest-events",
    )
    with RunningTool(TOOL, *where) as tool:
        for _ in RECORDS:
            tool.read_line()
        tool.signal(number)
        done = tool.end()
        assert done.returncode == code
        assert done.stdout == "shutdown_complete\n"
        assert done.stderr.endswith(f"Processed a total of {len(RECORDS)} messages\n")


def test_a_reader_that_leaves(both: BothTools, client: Client, topic: str) -> None:
    client.create_topic(topic)
    client.produce(topic, numbered_records(10))
    with RunningTool(
        TOOL, "--bootstrap-server", both.bootstrap, "--topic", topic, "--from-beginning"
    ) as tool:
        tool.read_line()
        tool.stop_reading()
        client.produce(topic, numbered_records(1))
        done = tool.end()
        assert done.returncode == 0
        assert "Unable to write to standard out, closing consumer." in done.stderr


def test_a_new_record_is_shown_at_once(both: BothTools, client: Client, topic: str) -> None:
    client.create_topic(topic)
    with RunningTool(
        TOOL, "--bootstrap-server", both.bootstrap, "--topic", topic, "--from-beginning"
    ) as tool:
        for value in (b"first", b"second"):
            client.produce(topic, [Record(value)])
            assert tool.read_line() == f"{value.decode()}\n"
        tool.signal(signal.SIGINT)
        assert tool.end().returncode == 130


def test_old_spelling_of_the_server(both: BothTools) -> None:
    """Kafka 4 does not take it any more."""
    words = ("--broker-list", both.bootstrap, "--topic", TOPIC, "--from-beginning", "--max-messages", "1")
    assert run_our_tool(TOOL, *words).stdout == "plain\n"
