from __future__ import annotations

import pytest

from tests.cli.tools.both_tools import BothTools
from tests.cli.tools.masks import DATE_TIME, mask
from tests.foreign_clients.drivers.model import Client
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records

pytestmark = pytest.mark.processes

TOOL = "kafka-consumer-perf-test"
TOPIC = "perf-tests"
# MB, MB/s, then a count that must be the same, then all the times and rates
TOTALS = mask(
    r"^(<time>, <time>, [\d.]+), [\d.]+, (\d+), [\d.]+, \d+, -?\d+, [-\d.]+, [-\d.]+$", r"\1, \2, <rates>"
)
INTERVALS = mask(r"^(<time>, 0), .*\n(?:<time>, 0, .*\n)*", r"\1, <rates>\n")


@pytest.fixture(scope="module", autouse=True)
def topics(client: Client) -> None:
    client.create_topic(TOPIC, configs=KEEP_FOR_EVER)
    client.produce(TOPIC, numbered_records(300))


@pytest.mark.parametrize(
    "words",
    [
        ("--topic", TOPIC, "--num-records", "300"),
        ("--include", "perf-test[s]", "--messages", "300", "--hide-header", "--group", "perf-tests"),
        ("--topic", TOPIC, "--num-records", "301", "--timeout", "600"),
        ("--topic", TOPIC, "--num-records", "300", "--command-property", "group.protocol=consumer"),
        ("--topic", TOPIC, "--num-records", "5", "--from-latest", "--timeout", "600"),
    ],
    ids=" ".join,
)
def test_runs(both: BothTools, words: tuple[str, ...]) -> None:
    if "--group" in words:
        words = tuple("{name}" if word == "perf-tests" else word for word in words)
    both(
        *(TOOL, "--bootstrap-server", both.bootstrap, *words),
        mutating="{name}" in words,
        masks=[DATE_TIME, TOTALS],
    )


def test_details(both: BothTools) -> None:
    details = ("--show-detailed-stats", "--reporting-interval", "1")
    where = ("--bootstrap-server", both.bootstrap, "--topic", TOPIC, "--num-records", "300")
    both(TOOL, *where, *details, masks=[DATE_TIME, INTERVALS])


def test_dates(both: BothTools) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--topic", TOPIC, "--num-records", "300", "--hide-header")
    done = both(TOOL, *where, "--date-format", "'at' yyyy EEE MMM", masks=[mask(r", [-\d.]+", ",")])
    assert done.stdout.startswith("at 20")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--nonsense",),
        ("--topic", "t"),
        ("--bootstrap-server", "x:1"),
        ("--bootstrap-server", "x:1", "--topic", "t"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--include", "t", "--num-records", "1"),
        ("--bootstrap-server", "x:1", "--topic", "t", "--messages", "1", "--num-records", "1"),
        (
            *("--bootstrap-server", "x:1", "--topic", "t", "--num-records", "1"),
            *("--consumer.config", "a", "--command-config", "b"),
        ),
    ],
    ids=" ".join,
)
def test_command_lines(both: BothTools, words: tuple[str, ...]) -> None:
    group = mask(r"perf-consumer-\s*\d+", "<group>")
    both(TOOL, *words, masks=[group, mask(r"\s+", " ")])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--num-records", "many"), "Cannot parse argument 'many' of option num-records"),
        (("--num-records", "1", "--reporting-interval", "0"), "Reporting interval must be greater than 0."),
        (("--num-records", "1", "--date-format", "b"), "Illegal pattern character 'b'"),
        (("--num-records", "1", "--command-config", "/no/file"), "/no/file"),
    ],
)
def test_what_is_refused(both: BothTools, words: tuple[str, ...], said: str) -> None:
    where = ("--bootstrap-server", both.bootstrap, "--topic", TOPIC)
    done = both(TOOL, *where, *words, stderr="ignore")
    assert done.returncode == 1
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
