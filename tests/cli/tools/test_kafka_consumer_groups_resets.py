"""kafka-consumer-groups --reset-offsets beside Kafka's: every scenario, planned, exported and carried out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.foreign_clients.drivers.model import Client, Record
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.java_tools.members import PROTOCOLS, commit_alone, committed, member
from tests.support.cluster_fixture import KafkaServer

pytestmark = pytest.mark.processes

TOOL = "kafka-consumer-groups"
RESET, OTHER, LONG_NAME = "reset", "other", "a-topic-with-a-name-of-more-than-24-letters"
COMMITTED = {(RESET, 0): 5, (RESET, 1): 3, (OTHER, 0): 1}


@pytest.fixture(scope="module", autouse=True)
def topics(client: Client) -> None:
    """Ten records in partition 0 of `reset`, six in 1, none in 2, two in `other`, a second apart from 12:26:40 on."""
    client.create_topic(RESET, partitions=3, configs=KEEP_FOR_EVER)
    client.create_topic(OTHER, configs=KEEP_FOR_EVER)
    client.create_topic(LONG_NAME, partitions=20, configs=KEEP_FOR_EVER)
    client.produce(RESET, numbered_records(10))
    client.produce(
        RESET, [Record(each.value, timestamp=each.timestamp, partition=1) for each in numbered_records(6)]
    )
    client.produce(OTHER, numbered_records(2))


def reset(both: BothTools, *words: str, **how: object) -> str:
    asked = ("--bootstrap-server", both.bootstrap, "--reset-offsets", "--group", "{name}", *words)
    return both(TOOL, *asked, mutating=True, **how).stdout  # type: ignore[arg-type]


def same_offsets(both: BothTools, kafka: KafkaServer) -> dict[tuple[str, int], int]:
    theirs, ours = both.each(lambda name: committed(kafka.bootstrap, name))
    assert ours == theirs
    return ours


@pytest.mark.parametrize(
    "scenario",
    [
        ("--to-earliest",),
        ("--to-latest",),
        ("--to-current",),
        ("--to-offset", "4"),
        ("--to-datetime", "2020-09-13T12:26:42.000Z"),
        ("--to-datetime", "2020-09-13T12:26:47.500"),
        ("--to-datetime", "2020-09-13T14:26:42.000+02:00"),
        ("--to-datetime", "2020-09-13T14:26:42.0+02"),
        ("--by-duration", "P0D"),
        ("--by-duration", "P20000DT1H2M3.5S"),
    ],
    ids=" ".join,
)
def test_scenarios(both: BothTools, kafka: KafkaServer, scenario: tuple[str, ...]) -> None:
    both.each(lambda name: commit_alone(kafka.bootstrap, name, COMMITTED))
    scope = ("--topic", RESET, "--topic", f"{OTHER}:0")
    planned = reset(both, *scope, *scenario, "--dry-run", stderr="ignore")
    assert same_offsets(both, kafka) == COMMITTED
    assert reset(both, *scope, *scenario, "--execute", stderr="ignore") == planned
    assert same_offsets(both, kafka).keys() > COMMITTED.keys()


@pytest.mark.parametrize(
    ("scenario", "warning"),
    [
        (("--to-offset", "8"), "New offset (8) is higher than latest offset for topic partition reset-1."),
        (("--shift-by", "2"), None),
        (("--shift-by", "-4"), "New offset (-1) is lower than earliest offset for topic partition reset-1."),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_offsets_stay_within_the_log(
    both: BothTools, kafka: KafkaServer, scenario: tuple[str, ...], warning: str | None
) -> None:
    """The warning is logged, in the form in which Kafka's tools log."""
    both.each(lambda name: commit_alone(kafka.bootstrap, name, COMMITTED))
    reset(both, "--topic", f"{RESET}:0,1", *scenario, "--execute", stderr="ignore")
    same_offsets(both, kafka)
    where = ("--bootstrap-server", both.bootstrap, "--group", both.our_name, "--topic", f"{RESET}:0,1")
    commit_alone(kafka.bootstrap, both.our_name, COMMITTED)
    ours = run_our_tool(TOOL, "--reset-offsets", *where, *scenario, "--dry-run")
    assert (warning or "") in ours.stderr
    assert ("WARN" in ours.stderr) == (warning is not None)


def test_all_topics_and_the_default_of_a_dry_run(both: BothTools, kafka: KafkaServer) -> None:
    both.each(lambda name: commit_alone(kafka.bootstrap, name, COMMITTED))
    assert "NEW-OFFSET" in reset(both, "--all-topics", "--to-latest")
    assert same_offsets(both, kafka) == COMMITTED


def test_many_partitions(both: BothTools) -> None:
    """Of a group that is not there yet, in the order of Java's maps."""
    reset(both, "--topic", LONG_NAME, "--topic", RESET, "--to-earliest", "--dry-run")
    reset(both, "--topic", LONG_NAME, "--topic", RESET, "--to-latest", "--execute", "--export")


def test_a_plan_is_exported_and_carried_out(both: BothTools, kafka: KafkaServer, tmp_path: Path) -> None:
    both.each(lambda name: commit_alone(kafka.bootstrap, name, COMMITTED))
    exported = reset(
        both, "--topic", RESET, "--topic", LONG_NAME, "--to-offset", "0", "--dry-run", "--export"
    )
    plan = tmp_path / "plan.csv"
    plan.write_text(exported.strip().replace("reset,0,0", "reset,0,7"))
    reset(both, "--from-file", str(plan), "--execute")
    assert same_offsets(both, kafka)[RESET, 0] == 7


def test_a_plan_for_several_groups(both: BothTools, kafka: KafkaServer, tmp_path: Path) -> None:
    for name in ("plan a", "plan-b"):
        commit_alone(kafka.bootstrap, name, COMMITTED)
    asked = (
        "--bootstrap-server",
        both.bootstrap,
        "--reset-offsets",
        "--group",
        "plan a",
        "--group",
        "plan-b",
    )
    exported = both(TOOL, *asked, "--all-topics", "--to-earliest", "--dry-run", "--export").stdout
    assert '"plan a",' in exported
    plan = tmp_path / "plan.csv"
    plan.write_text(exported.strip())
    both(TOOL, *asked, "--all-topics", "--from-file", str(plan), "--dry-run")
    plan.write_text("plan-b,reset,1,2")
    both(TOOL, *asked, "--from-file", str(plan), "--dry-run")


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_group_that_is_alive(both: BothTools, kafka: KafkaServer, protocol: str) -> None:
    group = f"reset-alive-{protocol}"
    with member(kafka.bootstrap, group, [RESET], partitions=3, group_protocol=protocol):
        asked = ("--reset-offsets", "--group", group, "--topic", RESET, "--to-latest", "--execute")
        said = both(TOOL, "--bootstrap-server", both.bootstrap, *asked)
    assert f"only be reset if the group '{group}' is inactive, but the current state is Stable" in said.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("--topic", "no-such-topic", "--to-earliest"),
        ("--topic", "no-such-topic:0", "--to-earliest"),
        ("--topic", f"{RESET}:0,7,9", "--to-earliest"),
        ("--topic", f"{RESET}:2", "--shift-by", "1"),
        ("--from-file", "no-such-file.csv"),
        ("--topic", RESET, "--from-file", "no-such-file.csv"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_reset(both: BothTools, kafka: KafkaServer, words: tuple[str, ...]) -> None:
    both.each(lambda name: commit_alone(kafka.bootstrap, name, COMMITTED))
    reset(both, *words, "--execute", stderr="ignore")
    assert same_offsets(both, kafka) == COMMITTED


@pytest.mark.parametrize(
    "plan",
    [
        "reset",
        "reset,0",
        "reset,zero,1",
        "reset,0,one",
        "g,reset,0,1,2",
        "",
        '"reset,0,1',
        "reset,0,1\n\nreset",
    ],
)
def test_a_plan_that_is_none(both: BothTools, kafka: KafkaServer, tmp_path: Path, plan: str) -> None:
    """Names the file and the line; nothing is committed. (Kafka's takes what is missing for 0.)"""
    path = tmp_path / "plan.csv"
    path.write_text(plan)
    commit_alone(kafka.bootstrap, both.our_name, COMMITTED)
    asked = ("--bootstrap-server", both.bootstrap, "--reset-offsets", "--group", both.our_name)
    done = run_our_tool(TOOL, *asked, "--from-file", str(path), "--execute")
    assert done.stdout.startswith(f"\nError: Executing consumer group command failed due to {path}: ")
    assert (done.stdout.count("\n"), done.stderr, done.returncode) == (2, "", 0)
    assert committed(kafka.bootstrap, both.our_name) == COMMITTED
