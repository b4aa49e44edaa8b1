"""`penstock cp`: what was in a topic is in its copy, byte for byte."""

import json
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka import Consumer, Message, TopicPartition
from confluent_kafka.admin import AdminClient
from hypothesis import given
from hypothesis import strategies as st

from penstock.cli.records.cp import Place, place_of
from penstock.cli.records.record_json import BadRecord, TopicRecord, record_as_json, record_from_json
from penstock.testing import InProcessBroker
from tests.cli.running import PENSTOCK, Cli, Terminal, without_escapes
from tests.support.times import RECENTLY_MS
from tests.support.topic_records import abort_records

pytestmark = pytest.mark.processes

Produce = Callable[..., None]
Contents = dict[int, list[tuple[object, ...]]]

AWKWARD = [
    (None, None),
    (b"", b""),
    (b"key", "grüße ☃".encode()),
    (b"\xff\x00", bytes(range(256))),
    (None, b"two\nlines\r\n"),
    (b"k", b'{"a": "b\\n"}'),
]


@pytest.fixture
def copy_name(penstock_topic: str, penstock_broker: InProcessBroker) -> Iterator[str]:
    name = f"{penstock_topic}-copy"
    yield name
    if name in penstock_broker.broker.image.topics:
        penstock_broker.delete_topic(name)


def contents(bootstrap_servers: str, topic: str) -> Contents:
    """All records by partition: key, value, headers, timestamp."""
    consumer = Consumer(
        {"bootstrap.servers": bootstrap_servers, "group.id": "none", "enable.partition.eof": True}
    )
    count = len(
        AdminClient({"bootstrap.servers": bootstrap_servers}).list_topics(topic, 30).topics[topic].partitions
    )
    consumer.assign([TopicPartition(topic, partition, 0) for partition in range(count)])
    found: Contents = {partition: [] for partition in range(count)}
    ended: set[int] = set()
    while len(ended) < count:
        for message in consumer.consume(1000, 1):
            if message.error() is not None:
                ended.add(message.partition())
            else:
                found[message.partition()].append(record_of(message))
    consumer.close()
    return found


def record_of(message: Message) -> tuple[object, ...]:
    return message.key(), message.value(), message.headers(), message.timestamp()


@pytest.fixture
def filled(penstock_topic: str, produce: Produce) -> str:
    for number, record in enumerate(AWKWARD):
        headers = [("a", b"1"), ("a", b"\xfe"), ("none", None)] if number % 2 else None
        produce(
            penstock_topic,
            record,
            partition=number % 2,
            headers=headers,
            timestamp=RECENTLY_MS + number,
        )
    return penstock_topic


@pytest.mark.penstock_topic(partitions=2)
def test_to_a_file_and_back(cli: Cli, filled: str, copy_name: str) -> None:
    done = cli.run("cp", filled, "out.jsonl")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.splitlines()[-1] == "6 records copied"
    assert len((cli.directory / "out.jsonl").read_text().splitlines()) == 6
    cli.output("cp", "out.jsonl", copy_name, "--create", "2")
    original = contents(cli.bootstrap_servers, filled)
    assert contents(cli.bootstrap_servers, copy_name) == original
    assert sum(map(len, original.values())) == len(AWKWARD)


def test_what_was_aborted_is_not_copied(
    cli: Cli, penstock_topic: str, copy_name: str, produce: Produce
) -> None:
    produce(penstock_topic, b"before")
    abort_records(cli.bootstrap_servers, penstock_topic, "never", "nor this")
    produce(penstock_topic, b"behind")
    cli.output("cp", penstock_topic, copy_name)
    assert [record[1] for record in contents(cli.bootstrap_servers, copy_name)[0]] == [b"before", b"behind"]


@pytest.mark.penstock_topic(partitions=2)
def test_through_a_pipe(cli: Cli, filled: str, copy_name: str) -> None:
    lines = cli.output("cp", filled, "-")
    assert {json.loads(line)["topic"] for line in lines.splitlines()} == {filled}
    cli.output("cp", "-", copy_name, "--create=2", stdin=lines)
    assert contents(cli.bootstrap_servers, copy_name) == contents(cli.bootstrap_servers, filled)


@pytest.mark.penstock_topic(partitions=2, configs={"retention.ms": -1, "max.message.bytes": 5000})
def test_to_a_topic_that_is_made_alike(cli: Cli, filled: str, copy_name: str) -> None:
    cli.output("cp", filled, copy_name)
    assert contents(cli.bootstrap_servers, copy_name) == contents(cli.bootstrap_servers, filled)
    (described,) = cli.json("topics", "--describe", "--topic", copy_name)
    assert described["configs"] == {"retention.ms": "-1", "max.message.bytes": "5000"}


@pytest.mark.penstock_topic(partitions=2)
def test_to_fewer_partitions(cli: Cli, filled: str, copy_name: str, penstock_broker: InProcessBroker) -> None:
    penstock_broker.create_topic(copy_name, 1)
    done = cli.run("cp", filled, copy_name)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"a record of partition 1 does not fit into {copy_name}, which has 1; --repartition has keys decide"
    )
    cli.output("cp", filled, copy_name, "--repartition")
    values = [record[1] for record in contents(cli.bootstrap_servers, copy_name)[0]]
    assert {value for _, value in AWKWARD} <= set(values)


def test_raw_values(cli: Cli, penstock_topic: str, copy_name: str, produce: Produce) -> None:
    produce(penstock_topic, b"one", b"", b"\xff\r")
    cli.output("cp", penstock_topic, "values.raw", "--format", "raw")
    assert (cli.directory / "values.raw").read_bytes() == b"one\n\n\xff\r\n"
    cli.output("cp", "values.raw", copy_name, "--format", "raw", "--create", "1")
    assert [record[1] for record in contents(cli.bootstrap_servers, copy_name)[0]] == [b"one", b"", b"\xff\r"]
    produce(penstock_topic, b"two\nlines")
    done = cli.run("cp", penstock_topic, "-", "--format", "raw")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"the value of {penstock_topic}-0 at offset 3 has line breaks, which --format raw can't hold; "
        "--format jsonl can"
    )


def test_what_people_write_by_hand(cli: Cli, copy_name: str) -> None:
    lines = '{"value": "only a value"}\n\n{"key": "k", "value": {"a": [1, null]}}\n'
    cli.output("cp", "-", copy_name, "--create", "1", stdin=lines)
    found = [record[:2] for record in contents(cli.bootstrap_servers, copy_name)[0]]
    assert found == [(None, b"only a value"), (b"k", b'{"a": [1, null]}')]


def test_many_records_with_a_bar(cli: Cli, penstock_topic: str, copy_name: str, produce: Produce) -> None:
    produce(penstock_topic, *(b"%06d" % number for number in range(50_000)))
    words = [*PENSTOCK, "cp", penstock_topic, copy_name]
    with Terminal(words, cli.environment(COLUMNS="120"), cli.directory) as terminal:
        shown = terminal.read_to_end()
    assert terminal.process.returncode == 0
    assert "copying records  [" in shown
    assert without_escapes(shown).endswith("50000 records copied\n")
    copied = [record[1] for record in contents(cli.bootstrap_servers, copy_name)[0]]
    assert copied == [b"%06d" % number for number in range(50_000)]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["nowhere", "-"],
            "there is no topic 'nowhere'; `penstock topics --list` shows those that there are",
        ),
        (["TOPIC", "TOPIC"], "TOPIC is both source and target; the copy would never end"),
        (["a.jsonl", "./b"], "a.jsonl and ./b are both files; one must be a topic, or topic:NAME"),
        (["missing.jsonl", "TOPIC"], "penstock cp: [Errno 2] No such file or directory: 'missing.jsonl'"),
        (["lines.jsonl", "nowhere"], "topic nowhere does not exist; --create N makes it with N partitions"),
        (
            ["lines.jsonl", "TOPIC"],
            "lines.jsonl: line 2 is not JSON: Expecting value: line 1 column 1 (char 0)",
        ),
    ],
)
def test_refused(cli: Cli, penstock_topic: str, words: list[str], says: str) -> None:
    (cli.directory / "lines.jsonl").write_text('{"value": "good"}\nbad\n')
    done = cli.run("cp", *(word.replace("TOPIC", penstock_topic) for word in words))
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == says.replace("TOPIC", penstock_topic)


@pytest.mark.penstock_topic(partitions=2)
def test_an_error_of_the_broker_is_told(
    cli: Cli, filled: str, copy_name: str, penstock_intercept: object, penstock_broker: InProcessBroker
) -> None:
    penstock_broker.create_topic(copy_name, 1)
    penstock_broker.interceptor.answer("Produce", "TOPIC_AUTHORIZATION_FAILED", topic=copy_name)
    done = cli.run("cp", filled, copy_name, "--repartition")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"writing {copy_name}: ")
    assert "uthoriz" in done.stderr


def test_files_and_topics() -> None:
    assert place_of("orders") == Place("orders", False)
    assert place_of("orders.v1") == Place("orders.v1", False)
    assert place_of("-") == Place("-", True)
    assert place_of("./orders") == Place("./orders", True)
    assert place_of("orders.jsonl") == Place("orders.jsonl", True)
    assert place_of("topic:orders.jsonl") == Place("orders.jsonl", False)
    assert place_of("file:orders") == Place("orders", True)


RECORDS = st.builds(
    TopicRecord,
    st.text(max_size=5),
    st.integers(0, 2**31 - 1),
    st.integers(0, 2**63 - 1),
    st.none() | st.integers(0, 2**63 - 1),
    st.none() | st.binary(max_size=20),
    st.none() | st.binary(max_size=20),
    st.lists(st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=10)), max_size=3).map(tuple),
)


@given(RECORDS)
def test_json_holds_all_of_a_record(record: TopicRecord) -> None:
    line = record_as_json(record)
    assert "\n" not in line
    assert record_from_json(line) == record


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("[]", "is not a JSON object"),
        ('{"partition": "0"}', "partition: got '0'; takes a number"),
        ('{"timestamp": true}', "timestamp: got True; takes a number"),
        ('{"value_base64": "!"}', "value_base64: got '!'; takes base64"),
        ('{"headers": {}, "value": ""}', None),
        ('{"headers": {"a": "b"}}', "headers: got {'a': 'b'}; takes a list"),
        ('{"headers": [["a", "b"]]}', "headers: got ['a', 'b']; takes {\"name\": ..., \"value\": ...}"),
    ],
)
def test_bad_lines(line: str, says: str | None) -> None:
    if says is None:
        assert record_from_json(line).headers == ()
        return
    with pytest.raises(BadRecord) as raised:
        record_from_json(line)
    assert str(raised.value) == says


@pytest.mark.penstock_topic(partitions=2)
def test_a_full_disk_is_told(cli: Cli, filled: str) -> None:
    full = cli.run("cp", filled, "/dev/full")
    assert full.returncode == 1
    assert full.stderr.splitlines()[-1] == "penstock cp: [Errno 28] No space left on device"
