from __future__ import annotations

import signal
from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.console_records import LOG, RunningTool
from tests.cli.tools.masks import mask
from tests.foreign_clients.drivers.model import Client

pytestmark = pytest.mark.processes

TOOL = "kafka-producer-perf-test"
RATES = mask(
    r"(?<= sent, )[\d.]+ records/sec \([\d.]+ MB/sec\), [\d.]+ ms avg latency, [\d.]+ ms max", "<rates>"
)
PERCENTILES = mask(r"\d+ ms (50|95|99|99\.9)th", r"<ms> \1th")


@pytest.mark.parametrize(
    "words",
    [
        ("--record-size", "50", "--throughput", "-1"),
        ("--payload-monotonic", "--throughput", "100000", "--warmup-records", "100"),
        ("--record-size", "10", "--throughput", "-1", "--transactional-id", "perf-tests"),
        ("--payload-monotonic", "--throughput", "-1", "--transaction-duration-ms", "50"),
        ("--record-size", "5", "--throughput", "-1", "--producer-props", "acks=1", "linger.ms=1"),
        ("--record-size", "5", "--throughput", "-1", "--command-property", "compression.type=lz4"),
    ],
    ids=" ".join,
)
def test_runs(both: BothTools, client: Client, words: tuple[str, ...]) -> None:
    both.each(client.create_topic)
    where = ("--bootstrap-server", both.bootstrap, "--topic", "{name}", "--num-records", "300")
    both(TOOL, *where, *words, mutating=True, masks=[RATES, PERCENTILES])
    assert client.offsets(both.our_name).end == client.offsets(both.kafka_name).end >= 300


def test_payloads_of_a_file(both: BothTools, client: Client, tmp_path: Path) -> None:
    both.each(client.create_topic)
    file = tmp_path / "payloads"
    file.write_text("one;two;three;")
    where = ("--bootstrap-server", both.bootstrap, "--topic", "{name}", "--num-records", "50")
    payload = ("--payload-file", str(file), "--payload-delimiter", ";", "--throughput", "-1")
    done = both(TOOL, *where, *payload, mutating=True, masks=[RATES, PERCENTILES])
    assert "Number of records read: 3" in done.stdout
    sent = {each.record.value for each in client.consume(both.our_name, 50)}
    assert sent == {b"one", b"two", b"three"}


def test_reports_on_the_way(both: BothTools, client: Client, topic: str) -> None:
    client.create_topic(topic)
    where = ("--bootstrap-server", both.bootstrap, "--topic", topic, "--num-records", "40")
    pace = ("--record-size", "10", "--throughput", "50", "--reporting-interval", "200")
    done = run_our_tool(TOOL, *where, *pace)
    lines = done.stdout.splitlines()
    assert len(lines) > 1
    assert all(" records sent, " in line for line in lines)
    assert lines[-1].startswith("40 records sent, ")
    assert sum(int(line.split()[0]) for line in lines[:-1]) <= 40


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--nonsense",),
        ("--topic", "t"),
        ("--topic", "t", "--num-records", "1", "--throughput", "-1"),
        ("--topic", "t", "--num-records", "1", "--throughput", "-1", "--record-size", "1"),
        ("--topic", "t", "--num-records", "1", "--throughput", "fast", "--record-size", "1"),
        (
            "--topic",
            "t",
            "--num-records",
            "1",
            "--throughput",
            "-1",
            "--record-size",
            "1",
            "--payload-monotonic",
        ),
    ],
    ids=" ".join,
)
def test_command_lines(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words)


@pytest.mark.parametrize(
    "words",
    [
        ("--num-records", "0"),
        ("--num-records", "5", "--warmup-records", "5"),
        ("--num-records", "5", "--record-size", "0"),
        ("--num-records", "5", "--transaction-duration-ms", "0"),
        ("--num-records", "5", "--reporting-interval", "0"),
        ("--num-records", "5", "--command-property", "a=b", "--producer-props", "a=b"),
        ("--num-records", "5", "--command-config", "a", "--producer.config", "a"),
    ],
    ids=" ".join,
)
def test_what_is_refused(both: BothTools, words: tuple[str, ...]) -> None:
    size = () if "--record-size" in words else ("--record-size", "1")
    both(TOOL, "--bootstrap-server", "x:1", "--topic", "t", "--throughput", "-1", *size, *words)


def test_nobody_listens(both: BothTools) -> None:
    where = ("--bootstrap-server", "127.0.0.1:9", "--topic", "t", "--num-records", "1", "--record-size", "1")
    hasty = ("--throughput", "-1", "--command-property", "max.block.ms=500")
    done = both(TOOL, *where, *hasty, masks=[LOG, RATES])
    assert done.stderr == (
        "org.apache.kafka.common.errors.TimeoutException: Topic t not present in metadata after 500 ms.\n"
    )


def test_a_signal_ends_it_with_its_summary(both: BothTools, topic: str) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--topic", topic, "--num-records", "1000000")
    pace = ("--record-size", "10", "--throughput", "100", "--reporting-interval", "100")
    with RunningTool(TOOL, *where, *pace) as tool:
        assert " records sent, " in tool.read_line()
        tool.signal(signal.SIGINT)
        done = tool.end()
        assert done.returncode == 130
        assert "99.9th." in done.stdout.splitlines()[-1]


def test_metrics(both: BothTools, client: Client, topic: str) -> None:
    """Those of librdkafka, in Kafka's layout."""
    client.create_topic(topic)
    where = (
        "--bootstrap-server",
        both.bootstrap,
        "--topic",
        topic,
        "--num-records",
        "10",
        "--record-size",
        "1",
    )
    lines = run_our_tool(TOOL, *where, "--throughput", "-1", "--print-metrics").stdout.splitlines()
    heading = next(line for line in lines if line.startswith("Metric Name"))
    assert heading.endswith(" Value")
    assert any(line.startswith("producer-metrics:txmsgs:{client-id=perf-producer-client}") for line in lines)
