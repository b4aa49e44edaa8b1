from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.console_records import LOG, RunningTool, properties, write_properties
from tests.cli.tools.masks import LOOPBACK_PORT, masked
from tests.foreign_clients.drivers.model import Client, Record

pytestmark = pytest.mark.processes

TOOL = "kafka-console-producer"


def produced(client: Client, topic: str) -> list[Record]:
    count = client.offsets(topic).end
    return [
        Record(each.record.value, each.record.key, each.record.headers)
        for each in client.consume(topic, count)
    ]


def test_lines(both: BothTools, client: Client) -> None:
    typed = "plain\n\ngrüße ✓\r\nold mac\rlast line has no end"
    both(TOOL, "--bootstrap-server", both.bootstrap, "--topic", "{name}", input=typed, mutating=True)
    ours = produced(client, both.our_name)
    assert ours == produced(client, both.kafka_name)
    assert [record.value for record in ours] == [
        *(b"plain", b"", "grüße ✓".encode(), b"old mac", b"last line has no end")
    ]


@pytest.mark.parametrize(
    ("reader", "typed"),
    [
        (("parse.key=true",), "k\tv\n\tno key\nk\t\nk\tv\tw\n"),
        (("parse.key=true", "key.separator=-"), "k-v\nk-v-w\n"),
        (("parse.key=true", "key.separator=::", "ignore.error=true"), "k::v\nnone\n"),
        (("parse.headers=true",), "h1:v1,h2:v2\tvalue\nh:\tx\n:v\tx\n"),
        (("parse.headers=true", "parse.key=TRUE "), "h1:v1,h1:v2\tk\tv\n"),
        (
            (
                *("parse.headers=true", "parse.key=true", "headers.delimiter=|", "headers.separator=;"),
                *("headers.key.separator==", "key.separator=/"),
            ),
            "a=1;b=2|key/value\n",
        ),
        (("parse.headers=true", "headers.separator=[,;]+"), "a:1,;b:2\tv\na:1;\tv\n"),
        (("parse.headers=true", "ignore.error=true"), "no header here\nalone,a:b\tv\n"),
        (("parse.key=true", "null.marker=NULL"), "NULL\tv\nk\tNULL\n"),
        (("parse.headers=true", "null.marker=NULL"), "NULL\tv\na:NULL\tNULL\n"),
        (("null.marker=",), "\nx\n"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_readers(both: BothTools, client: Client, reader: tuple[str, ...], typed: str) -> None:
    words = ("--bootstrap-server", both.bootstrap, "--topic", "{name}", "--timeout", "5")
    both(TOOL, *words, *properties("--reader-property", *reader), input=typed, mutating=True)
    ours = produced(client, both.our_name)
    assert ours
    assert ours == produced(client, both.kafka_name)


@pytest.mark.parametrize(
    ("reader", "typed", "said"),
    [
        (
            ("parse.key=true",),
            "k\tv\nbad line\nk\tw\n",
            "No key separator found on line number 2: 'bad line'",
        ),
        (
            ("parse.headers=true",),
            "no headers\n",
            "No headers delimiter found on line number 1: 'no headers'",
        ),
        (
            ("parse.headers=true",),
            "a:1,b\tv\n",
            "No header key separator found in pair 'b' on line number 1",
        ),
        (
            ("parse.headers=true", "null.marker=x"),
            "x:1\tv\n",
            "Header keys should not be equal to the null marker 'x' as they can't be null",
        ),
        (("headers.delimiter=,",), "", "headers.delimiter and headers.separator may not be equal"),
        (("null.marker=\t",), "", "null.marker and key.separator may not be equal"),
    ],
    ids=lambda value: value if isinstance(value, str) and "\n" not in value else "",
)
def test_bad_lines(both: BothTools, client: Client, reader: tuple[str, ...], typed: str, said: str) -> None:
    client.create_topic(both.our_name)
    client.create_topic(both.kafka_name)
    words = ("--bootstrap-server", both.bootstrap, "--topic", "{name}", "--timeout", "5")
    read = properties("--reader-property", *reader)
    done = both(TOOL, *words, *read, input=typed, mutating=True, stderr="ignore")
    assert done.returncode == 1
    assert done.stderr == f"org.apache.kafka.common.KafkaException: {said}\n"
    assert produced(client, both.our_name) == produced(client, both.kafka_name)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--nonsense",),
        ("--bootstrap-server", "x:1"),
        ("--topic", "t"),
        ("--topic", "t", "--bootstrap-server", "nonsense"),
        ("--topic", "t", "--bootstrap-server", "x:1,y"),
        ("--topic", "t", "--bootstrap-server", "x:1", "--property", "a=b", "--reader-property", "a=b"),
        (
            "--topic",
            "t",
            "--bootstrap-server",
            "x:1",
            "--producer-property",
            "a=b",
            "--command-property",
            "a=b",
        ),
        ("--topic", "t", "--bootstrap-server", "x:1", "--producer.config", "a", "--command-config", "b"),
    ],
    ids=" ".join,
)
def test_command_lines(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--line-reader", "no.such.Reader"), "java.lang.ClassNotFoundException: no.such.Reader"),
        (("--command-config", "/no/file"), "/no/file"),
        (("--batch-size", "large"), "Cannot parse argument 'large' of option batch-size"),
        (("--request-required-acks", "many"), "acks"),
        (("--compression-codec", "best"), "compression.type"),
    ],
)
def test_values_that_are_refused(both: BothTools, words: tuple[str, ...], said: str) -> None:
    done = both(TOOL, "--bootstrap-server", both.bootstrap, "--topic", "t", *words, stderr="ignore")
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    "words",
    [
        ("--sync",),
        ("--compression-codec",),
        ("--compression-codec", "zstd"),
        ("--property", "parse.key=true", "-property", "key.separator=-"),
        ("--producer-property", "linger.ms=1", "--producer-property", "acks=1"),
        (
            "--max-partition-memory-bytes",
            "1000",
            "--request-required-acks",
            "1",
            "--request-timeout-ms",
            "2000",
        ),
        (
            *("--message-send-max-retries", "0", "--retry-backoff-ms", "10", "--max-block-ms", "5000"),
            *(
                "--max-memory-bytes",
                "1000000",
                "--socket-buffer-size",
                "10000",
                "--metadata-expiry-ms",
                "5000",
            ),
        ),
    ],
    ids=" ".join,
)
def test_options(both: BothTools, client: Client, words: tuple[str, ...]) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--topic", "{name}", "--timeout", "5")
    both(TOOL, *where, *words, input="a-b\nc-d\n", mutating=True)
    assert produced(client, both.our_name) == produced(client, both.kafka_name) != []


def test_settings_in_files(both: BothTools, client: Client, tmp_path: Path) -> None:
    reader = write_properties(tmp_path, parse_key="true", key_separator="-")
    producer = write_properties(tmp_path, acks="1", client_id="me")
    where = ("--bootstrap-server", both.bootstrap, "--topic", "{name}", "--timeout", "5")
    both(
        *(TOOL, *where, "--reader-config", reader, "--producer.config", producer),
        *("--reader-property", "key.separator=:"),
        input="a:b\n",
        mutating=True,
    )
    assert produced(client, both.our_name) == produced(client, both.kafka_name) == [Record(b"b", b"a")]


def test_keys_go_to_the_same_partitions(both: BothTools, client: Client) -> None:
    both.each(lambda name: client.create_topic(name, partitions=5))
    typed = "".join(f"key-{number}\t{number}\n" for number in range(40))
    where = ("--bootstrap-server", both.bootstrap, "--topic", "{name}", "--timeout", "5")
    both(TOOL, *where, "--reader-property", "parse.key=true", input=typed, mutating=True)
    ends = [
        [client.offsets(name, partition=partition).end for partition in range(5)]
        for name in (both.our_name, both.kafka_name)
    ]
    assert ends[0] == ends[1]


# --- what cannot be sent


def test_a_record_that_is_too_large(both: BothTools, client: Client) -> None:
    both.each(lambda name: client.create_topic(name, configs={"max.message.bytes": "1000"}))
    where = ("--bootstrap-server", both.bootstrap, "--topic", "{name}", "--timeout", "5")
    typed = f"{'x' * 3000}\n"
    done = both(TOOL, *where, input=typed, mutating=True, masks=[LOG])
    assert done.returncode == 0
    logged = run_our_tool(
        TOOL, *(word.replace("{name}", both.our_name) for word in where), input=typed
    ).stderr
    assert f"Error when sending message to topic {both.our_name} with key: null, value: 3000 bytes" in logged
    assert "org.apache.kafka.common.errors.RecordTooLargeException: " in logged


def test_a_topic_that_cannot_be(both: BothTools) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--topic", "bad topic", "--max-block-ms", "3000")
    done = both(TOOL, *where, input="x\n", masks=[LOG])
    assert done.returncode == 0
    logged = run_our_tool(TOOL, *where, input="x\n").stderr
    assert "org.apache.kafka.common.errors.InvalidTopicException: Invalid topics: [bad topic]" in logged


@pytest.mark.parametrize("sync", [(), ("--sync",)])
def test_nobody_listens(both: BothTools, sync: tuple[str, ...]) -> None:
    where = ("--bootstrap-server", "127.0.0.1:9", "--topic", "t", "--max-block-ms", "700", *sync)
    done = both(TOOL, *where, input="x\n", masks=[LOG], stderr="ignore")
    assert done.returncode == (1 if sync else 0)
    logged = masked(run_our_tool(TOOL, *where, input="x\n").stderr, [LOOPBACK_PORT])
    assert "Connection to node -1 (127.0.0.1:<port>) could not be established" in logged
    assert (
        "org.apache.kafka.common.errors.TimeoutException: Topic t not present in metadata after 700 ms."
        in logged
    )


# --- at a terminal, and its end


def test_the_prompt(both: BothTools, client: Client, topic: str) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "penstock.cli.tools.kafka_console_producer"]
    where = ("--bootstrap-server", both.bootstrap, "--topic", topic, "--timeout", "5")
    with subprocess.Popen([*command, *where], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE) as tool:
        os.close(theirs)
        seen = read_until(ours, b">")
        os.write(ours, b"hello\n")
        seen += read_until(ours, b"\n>")
        os.write(ours, b"\x04")
        assert tool.wait(30) == 0
        os.close(ours)
    assert seen.replace(b"\r", b"") == b">hello\n>"
    assert produced(client, topic) == [Record(b"hello")]


def read_until(terminal: int, end: bytes, seconds: float = 30.0) -> bytes:
    seen = b""
    deadline = time.monotonic() + seconds
    while not seen.replace(b"\r", b"").endswith(end):
        assert select.select([terminal], [], [], max(0, deadline - time.monotonic()))[0], seen
        seen += os.read(terminal, 1000)
    return seen


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals(both: BothTools, client: Client, topic: str, number: signal.Signals, code: int) -> None:
    """What was read before is sent."""
    client.create_topic(topic)
    with RunningTool(TOOL, "--bootstrap-server", both.bootstrap, "--topic", topic, "--timeout", "5") as tool:
        tool.type("typed\n")
        assert client.consume(topic, 1)[0].record.value == b"typed"
        tool.signal(number)
        assert tool.end().returncode == code


def test_old_spellings(both: BothTools, client: Client, topic: str) -> None:
    """Kafka 4 does not take --broker-list any more."""
    words = ("--broker-list", both.bootstrap, "--topic", topic, "--timeout", "5")
    keys = ("--property", "key.separator=-", "--property", "parse.key=true")
    done = run_our_tool(TOOL, *words, *keys, input="fruit-apple\n")
    assert done.returncode == 0
    assert produced(client, topic) == [Record(b"apple", b"fruit")]
