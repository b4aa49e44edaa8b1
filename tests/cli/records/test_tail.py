"""`penstock tail`: the last records, then those that come."""

import json
from collections.abc import Callable

import pytest
from google.protobuf.duration_pb2 import Duration

from penstock.client import AvroSerializer, JsonSchemaSerializer, ProtobufSerializer, SchemaRegistryClient
from penstock.testing import InProcessRegistry
from tests.cli.running import PENSTOCK, Cli, Terminal, without_escapes
from tests.support.times import RECENTLY_MS

pytestmark = pytest.mark.processes

Produce = Callable[..., None]


def test_the_last_records_in_order(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    produce(penstock_topic, *(b"value %d" % number for number in range(15)))
    lines = cli.output("tail", penstock_topic, "--no-follow").splitlines()
    assert [line.split("  ")[1:] for line in lines] == [[f"0:{n}", f"value {n}"] for n in range(5, 15)]
    assert len(cli.output("tail", penstock_topic, "--no-follow", "-n", "3").splitlines()) == 3
    assert cli.output("tail", penstock_topic, "--no-follow", "-n", "0") == ""
    assert len(cli.output("tail", penstock_topic, "--no-follow", "-n", "1000").splitlines()) == 15


@pytest.mark.penstock_topic(partitions=3)
def test_of_all_partitions_together(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    for number in range(12):
        produce(penstock_topic, b"%d" % number, partition=number % 3, timestamp=RECENTLY_MS + number)
    shown = cli.output("tail", penstock_topic, "--no-follow", "-n", "4", "--format", "{value}")
    assert shown.split() == ["8", "9", "10", "11"]
    one = cli.output(
        "tail", penstock_topic, "--no-follow", "--partition", "1", "--format", "{partition}:{value}"
    )
    assert one.split() == ["1:1", "1:4", "1:7", "1:10"]


def test_keys_headers_and_times(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    produce(penstock_topic, (b"key", b"value"), headers=[("a", b"1"), ("a", None)], timestamp=RECENTLY_MS)
    produce(penstock_topic, (None, None), (b"\xff", b"\x00\xfe"))
    first, second, third = cli.output("tail", penstock_topic, "--no-follow").splitlines()
    assert first.endswith(".123  0:0  key  value  [a=1,a=null]")
    assert second.endswith("  0:1  null")
    assert third.endswith("  0:2  \\xff  \x00\\xfe")
    text = cli.output("tail", penstock_topic, "--no-follow", "--format", "{key}\\t{headers}\\n{offset}")
    assert text.splitlines()[:2] == ["key\ta=1,a=null", "0"]


def test_json(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    produce(penstock_topic, ("käse".encode(), b"\xff"), headers=[("a", b"1")], timestamp=RECENTLY_MS)
    (line,) = cli.output("tail", penstock_topic, "--no-follow", "--output", "json").splitlines()
    assert json.loads(line) == {
        "topic": penstock_topic,
        "partition": 0,
        "offset": 0,
        "timestamp": RECENTLY_MS,
        "key": "käse",
        "value_base64": "/w==",
        "headers": [{"name": "a", "value": "1"}],
    }


def test_records_with_schemas(
    cli: Cli, penstock_topic: str, penstock_registry: InProcessRegistry, produce: Produce
) -> None:
    """Avro, JSON Schema, Protobuf, and what only looks as if it had one, in one topic."""
    with SchemaRegistryClient(penstock_registry.url) as registry:
        for each in (
            AvroSerializer('"string"', registry).serialize(f"{penstock_topic}-1", "pho"),
            JsonSchemaSerializer(True, registry).serialize(f"{penstock_topic}-2", {"cups": 2}),
            ProtobufSerializer(registry=registry).serialize(f"{penstock_topic}-3", Duration(seconds=3)),
            b"\x00\x7f\x7f\x7f\x7f none",
            b"\x00\x00",
            b"plain",
        ):
            produce(penstock_topic, (AvroSerializer('"long"', registry).serialize(penstock_topic, 7), each))
    words = ("tail", penstock_topic, "--no-follow", "--registry", penstock_registry.url)
    shown = cli.output(*words, "--format", "{key} {value}").splitlines()
    assert shown == [
        *('7 "pho"', '7 {"cups":2}', '7 "3s"'),
        *("7 \x00\x7f\x7f\x7f\x7f none", "7 \x00\x00", "7 plain"),
    ]
    assert cli.output(*words, "--grep", "cups", "--format", "{value}") == '{"cups":2}\n'
    raw = cli.output("tail", penstock_topic, "--no-follow", "--raw", "--format", "{value}")
    assert raw.startswith("\x00\x00\x00")
    away = cli.output(*words[:-1], "http://127.0.0.1:9", "--format", "{value}")
    assert away == raw, "without a registry it is text"


def test_grep(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    produce(penstock_topic, (b"apple", b"red"), (b"pear", b"green"), (b"plum", b"blue"))
    shown = cli.output("tail", penstock_topic, "--no-follow", "--grep", "^p|red", "--format", "{key}")
    assert shown.split() == ["apple", "pear", "plum"]
    assert cli.output("tail", penstock_topic, "--no-follow", "--grep", "^gr", "--format", "{key}") == "pear\n"


def test_gaps_do_not_hide_records(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    """Transactions leave offsets behind that hold no record of anybody."""
    from confluent_kafka import Producer

    produce(penstock_topic, *(b"plain %d" % number for number in range(5)))
    producer = Producer({"bootstrap.servers": cli.bootstrap_servers, "transactional.id": penstock_topic})
    producer.init_transactions(30)
    for value, finish in ((b"kept", producer.commit_transaction), (b"undone", producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(penstock_topic, value)
        producer.flush(30)
        finish(30)
    shown = cli.output("tail", penstock_topic, "--no-follow", "-n", "3", "--format", "{value}")
    assert shown.splitlines() == ["plain 3", "plain 4", "kept"]


def test_it_follows_until_ctrl_c(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    produce(penstock_topic, (b"k", b"first"))
    with Terminal([*PENSTOCK, "tail", penstock_topic], cli.environment(), cli.directory) as terminal:
        assert "k  first" in terminal.read_until("first")
        produce(penstock_topic, b"second")
        terminal.read_until("second")
        terminal.type("\x03")
        rest = terminal.read_to_end()
    assert terminal.process.returncode == 130
    assert "Traceback" not in without_escapes(rest)


@pytest.mark.parametrize("words", [[], ["--format", "{key} {value} {headers}"], ["--output", "json"]])
def test_records_give_a_terminal_no_orders(
    cli: Cli, penstock_topic: str, produce: Produce, words: list[str]
) -> None:
    orders = "\x1b]0;owned\x07 \x9b2J \x08\x7f\r"
    produce(penstock_topic, (orders.encode(), orders.encode()), headers=[(orders, orders.encode())])
    argv = [*PENSTOCK, "tail", penstock_topic, "--no-follow", *words]
    with Terminal(argv, cli.environment(), cli.directory) as terminal:
        shown = terminal.read_to_end()
    assert "owned" in shown
    own = without_escapes(shown)
    assert not {"\x1b]0", "\x9b", "\x07", "\x08", "\x7f"} & {each for each in orders if each in own}
    assert "\x1b]" not in shown
    assert "\r" not in own.replace("\r\n", "\n")


def test_a_reader_that_has_enough_ends_it(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    produce(penstock_topic, *(b"x" * 1000 for _ in range(500)))
    with Terminal(
        [
            "bash",
            "-c",
            f"{' '.join(PENSTOCK)} tail {penstock_topic} -n 500 | head -n 1; echo ${{PIPESTATUS[*]}}",
        ],
        cli.environment(),
        cli.directory,
    ) as terminal:
        produce(penstock_topic, b"more")
        shown = terminal.read_to_end()
    assert "Traceback" not in shown
    assert shown.splitlines()[-1] == "0 0"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["nowhere"], "there is no topic 'nowhere'; `penstock topics --list` shows those that there are"),
        (["TOPIC", "--partition", "3"], "--partition: got 3; TOPIC has partitions 0 to 0"),
        (["TOPIC", "--grep", "("], "--grep: got '('; takes a regular expression: missing ), unterminated"),
        (["TOPIC", "--format", "{time}"], "--format: got '{time}'; takes {topic}, {partition}, {offset}, "),
    ],
)
def test_refused(cli: Cli, penstock_topic: str, words: list[str], says: str) -> None:
    done = cli.run("tail", *(word.replace("TOPIC", penstock_topic) for word in words))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(says.replace("TOPIC", penstock_topic))


def test_a_name_that_is_nearly_a_topic(cli: Cli, penstock_topic: str) -> None:
    said = cli.refused("tail", penstock_topic[:-1])
    assert said == f"there is no topic {penstock_topic[:-1]!r}; is {penstock_topic!r} meant?"


def test_wrong_numbers_are_refused(cli: Cli, penstock_topic: str) -> None:
    done = cli.run("tail", penstock_topic, "-n", "many")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "penstock tail: error: argument -n/--lines: got 'many'; takes a number from 0"
    )
