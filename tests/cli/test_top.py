"""`penstock top`: numbers once or for good, for people and for programs."""

import json
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator

import pytest

from penstock.cli.top.sample import GroupSample, Sample, group_rows, topic_rows
from penstock.cli.top.screen import cut
from penstock.types import TopicPartition
from tests.cli.running import PENSTOCK, Cli, Terminal, without_escapes

pytestmark = pytest.mark.processes

Produce = Callable[..., None]
A0, A1, B0 = TopicPartition("a", 0), TopicPartition("a", 1), TopicPartition("b", 0)


def test_rates_lie_between_two_looks() -> None:
    def sample(taken_at: float, a0: int, b0: int, at: int, size: int) -> Sample:
        groups = {"g": GroupSample("Stable", 1, {A0: at, TopicPartition("gone", 0): 9})}
        return Sample(taken_at, "c", 1, {A0: 5, A1: 0, B0: 0}, {A0: a0, A1: 0, B0: b0}, {A0: size}, groups)

    before, now = sample(10, 10, 50, 6, 1000), sample(12, 20, 40, 16, 3000)
    a, b = topic_rows(now, before)
    assert a == {
        "topic": "a",
        "partitions": 2,
        "records": 15,
        "bytes": 3000,
        "in_per_s": 5.0,
        "in_bytes_per_s": 1000.0,
        "out_per_s": 5.0,
    }
    assert (b["topic"], b["records"], b["in_per_s"]) == (
        "b",
        40,
        0.0,
    )  # records were deleted: not a negative rate
    (group,) = group_rows(now, before)
    assert (group["lag"], group["out_per_s"], group["topics"]) == (4, 5.0, ["a", "gone"])
    assert topic_rows(now, None)[0]["in_per_s"] is None


@pytest.fixture
def traffic(penstock_topic: str, produce: Produce) -> Iterator[None]:
    """Somebody sends records all the time."""
    enough = threading.Event()

    def send() -> None:
        while not enough.is_set():
            produce(penstock_topic, b"x" * 100)

    sender = threading.Thread(target=send)
    sender.start()
    yield
    enough.set()
    sender.join()


def test_once_as_json(cli: Cli, penstock_topic: str, group: str, traffic: None) -> None:
    (line,) = cli.output("top", "--once", "--interval", "0.5", "--output", "json").splitlines()
    seen = json.loads(line)
    topic = next(each for each in seen["topics"] if each["topic"] == penstock_topic)
    assert topic["in_per_s"] > 0
    assert topic["in_bytes_per_s"] > topic["in_per_s"]
    assert topic["bytes"] > topic["records"] > 0
    of_group = next(each for each in seen["groups"] if each["group"] == group)
    assert (of_group["state"], of_group["members"], of_group["topics"]) == ("Stable", 1, [penstock_topic])
    assert of_group["lag"] > 0
    assert not any(each["topic"].startswith("__") for each in seen["topics"])
    (line,) = cli.output("top", "--once", "--interval", "0.1", "--output", "json", "--internal").splitlines()
    assert "__consumer_offsets" in {each["topic"] for each in json.loads(line)["topics"]}


def test_once_for_people(cli: Cli, penstock_topic: str, group: str) -> None:
    shown = cli.output("top", "--once", "--interval", "0.1")
    title, nothing, headings, *rest = shown.splitlines()
    assert title.startswith("cluster ")
    assert nothing == ""
    assert headings.split("  ")[0] == "TOPIC"
    assert any(line.startswith(penstock_topic) for line in rest)
    assert any(line.startswith(group) and "Stable" in line for line in rest)


def test_for_good_in_a_pipe(cli: Cli, penstock_topic: str) -> None:
    process = subprocess.Popen(
        [*PENSTOCK, "top", "--interval", "0.1", "--output", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=cli.environment(),
    )
    assert process.stdout is not None
    looks = [json.loads(process.stdout.readline()) for _ in range(3)]
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert all(penstock_topic in {each["topic"] for each in look["topics"]} for look in looks)
    assert (process.returncode, errors) == (130, "")


def test_a_screen_that_q_ends(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    words = [*PENSTOCK, "top", "--interval", "0.2"]
    with Terminal(words, cli.environment(COLUMNS="200", LINES="50"), cli.directory) as terminal:
        terminal.read_until(penstock_topic)
        produce(penstock_topic, *(b"x" for _ in range(777)))
        terminal.read_until(" 777 ")
        terminal.type("x")
        terminal.read_until(penstock_topic)
        terminal.type("q")
        rest = terminal.read_to_end()
    assert terminal.process.returncode == 0
    assert rest.endswith("\x1b[?25h\x1b[?1049l")
    assert "Traceback" not in without_escapes(rest)


def test_ctrl_c_leaves_the_terminal_as_it_was(cli: Cli) -> None:
    with Terminal([*PENSTOCK, "top"], cli.environment(), cli.directory) as terminal:
        terminal.read_until("cluster ")
        terminal.type("\x03")
        rest = terminal.read_to_end()
    assert terminal.process.returncode == 130
    assert "\x1b[?25h\x1b[?1049l" in rest


def test_refused(cli: Cli) -> None:
    done = cli.run("top", "--interval", "soon")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("argument --interval: got 'soon'; takes seconds from 0.1")
    file = cli.directory / "client.properties"
    file.write_text("default.api.timeout.ms=200\n")
    away = cli.refused("top", "--once", "--bootstrap-server", "127.0.0.1:1", "--command-config", str(file))
    assert "127.0.0.1:1" in away


def test_lines_are_cut_where_the_terminal_ends() -> None:
    assert cut("abcdef", 4) == "abcd"
    assert cut("\x1b[1mabc\x1b[0mdef", 4) == "\x1b[1mabc\x1b[0md\x1b[0m"
