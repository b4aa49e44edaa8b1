"""kafka-streams-application-reset beside Kafka's: offsets of input topics, internal topics, members that are left."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.broker.streams_members import StreamsMember, plain, settle
from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.masks import mask
from tests.foreign_clients.drivers.model import Client, Record
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.java_tools.members import PROTOCOLS, commit_alone, committed, member
from tests.support.java_tools import run_java_tool

pytestmark = pytest.mark.processes

TOOL = "kafka-streams-application-reset"
LINES = "reset-lines"  # six and four records in two partitions, a second apart from 12:26:40 on
MORE = "reset-more"  # two records
COMMITTED = {(LINES, 0): 4, (LINES, 1): 2, (MORE, 0): 1}
INTERNAL = (
    "counts-changelog",
    "words-repartition",
    "join-subscription-registration-topic",
    "join-subscription-response-topic",
    "KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-0000000012-topic",
    "KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-0000000020-topic",
)
NOT_INTERNAL = ("output", "changelog-of-mine", "KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION-x-topic")
# Java's are in an order that differs from run to run.
PARTITIONS_OF_MEMBER = mask(rf"{LINES}-\d,{LINES}-\d", "<both partitions>")
Offsets = Mapping[tuple[str, int], int]


@pytest.fixture(scope="module")
def lines(client: Client) -> None:
    client.create_topic(LINES, partitions=2, configs=KEEP_FOR_EVER)
    client.create_topic(MORE, configs=KEEP_FOR_EVER)
    second = [Record(each.value, timestamp=each.timestamp, partition=1) for each in numbered_records(4)]
    client.produce(LINES, numbered_records(6) + second)
    client.produce(MORE, numbered_records(2))


@pytest.fixture(scope="module")
def idle(client: Client) -> str:
    """An application with topics of its own, and others whose names are nearly such."""
    application = "reset-idle"
    for name in (*INTERNAL, *NOT_INTERNAL):
        client.create_topic(f"{application}-{name}")
    client.create_topic(f"not-{application}-counts-changelog")
    return application


@pytest.fixture
def programs(both: BothTools, client: Client, lines: None) -> None:
    """One for each tool, which has committed and has a changelog."""

    def prepare(application: str) -> None:
        commit_alone(both.bootstrap, application, COMMITTED)
        client.create_topic(f"{application}-counts-changelog")

    both.each(prepare)


def topics_of(both: BothTools, application: str) -> set[str]:
    listed = run_java_tool("kafka-topics", "--bootstrap-server", both.bootstrap, "--list").stdout.split()
    return {topic.removeprefix(f"{application}-") for topic in listed if topic.startswith(f"{application}-")}


def both_committed(both: BothTools) -> Offsets:
    """What both have committed, which is the same."""
    theirs, ours = both.each(lambda application: committed(both.bootstrap, application))
    assert ours == theirs
    return ours


def reset(both: BothTools, application: str, *words: str) -> tuple[str, ...]:
    return ("--bootstrap-server", both.bootstrap, "--application-id", application, *words)


# offsets


@pytest.mark.parametrize(
    ("scenario", "expected"),
    [
        ((), (0, 0)),
        (("--to-earliest",), (0, 0)),
        (("--to-latest",), (6, 4)),
        (("--to-offset", "3"), (3, 3)),
        (("--to-offset", "5"), (5, 4)),
        (("--to-offset", "0"), (0, 0)),
        (("--to-offset", "-7"), (0, 0)),
        (("--shift-by", "1"), (5, 3)),
        (("--shift-by", "-3"), (1, 0)),
        (("--shift-by", "100"), (6, 4)),
        (("--to-datetime", "2020-09-13T12:26:42.000"), (2, 2)),
        (("--to-datetime", "2020-09-13T12:26:44.500"), (5, 4)),
        (("--to-datetime", "2020-09-13T14:26:42.000+02:00"), (2, 2)),
        (("--by-duration", "P1D"), (6, 4)),
        (("--by-duration", "P18000D"), (0, 0)),
    ],
    ids=lambda value: " ".join(value) if value and isinstance(value[0], str) else "",
)
def test_reset(both: BothTools, programs: None, scenario: tuple[str, ...], expected: tuple[int, int]) -> None:
    both(TOOL, *reset(both, "{name}", "--input-topics", LINES, *scenario), mutating=True)
    assert both_committed(both) == {(LINES, 0): expected[0], (LINES, 1): expected[1], (MORE, 0): 1}
    assert both.each(lambda application: topics_of(both, application)) == (set(), set())


def test_a_program_that_has_never_run(both: BothTools, lines: None) -> None:
    both(TOOL, *reset(both, "{name}", "--input-topics", f"{LINES},{MORE}"), mutating=True)
    assert both_committed(both) == {(LINES, 0): 0, (LINES, 1): 0, (MORE, 0): 0}


def test_intermediate_topics_are_skipped(both: BothTools, programs: None) -> None:
    words = ("--input-topics", MORE, "--intermediate-topics", f"{LINES},{MORE}")
    both(TOOL, *reset(both, "{name}", *words), mutating=True)
    assert both_committed(both) == {(LINES, 0): 6, (LINES, 1): 4, (MORE, 0): 0}


def test_intermediate_topics_alone(both: BothTools, programs: None) -> None:
    both(TOOL, *reset(both, "{name}", "--intermediate-topics", MORE), mutating=True)
    assert both_committed(both) == {**COMMITTED, (MORE, 0): 2}


def test_topics_that_are_not_there(both: BothTools, programs: None) -> None:
    words = ("--input-topics", f"no-such,{MORE},nor-this", "--intermediate-topics", "no-such-one")
    done = both(TOOL, *reset(both, "{name}", *words), mutating=True)
    assert done.returncode == 1
    assert both_committed(both) == {**COMMITTED, (MORE, 0): 0}
    assert both.each(lambda application: topics_of(both, application)) == (set(), set())


def test_only_topics_that_are_not_there(both: BothTools, programs: None) -> None:
    assert both(TOOL, *reset(both, "{name}", "--input-topics", "no-such"), mutating=True).returncode == 1
    assert both_committed(both) == COMMITTED


@pytest.mark.parametrize(
    ("settings", "expected"),
    [("", (6, 4)), ("auto.offset.reset=earliest\n", (1, 1)), ("auto.offset.reset=none\n", None)],
)
def test_shifting_what_was_never_committed(
    both: BothTools, lines: None, tmp_path: Path, settings: str, expected: tuple[int, int] | None
) -> None:
    file = tmp_path / "client.properties"
    file.write_text(settings)
    words = ("--input-topics", LINES, "--shift-by", "1", "--command-config", str(file))
    done = both(TOOL, *reset(both, "{name}", *words), mutating=True, stderr="first words")
    wanted = {} if expected is None else {(LINES, 0): expected[0], (LINES, 1): expected[1]}
    assert both_committed(both) == wanted
    assert (done.returncode == 0) is (expected is not None)


# plans from files


def test_a_plan(both: BothTools, programs: None, tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    file.write_text(f"{LINES},0,3\n{LINES},1,9\n{MORE},0,1\n")
    words = ("--input-topics", f"{LINES},{MORE}", "--from-file", str(file))
    both(TOOL, *reset(both, "{name}", *words), mutating=True)
    assert both_committed(both) == {(LINES, 0): 3, (LINES, 1): 4, (MORE, 0): 1}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no plan",
        f"{MORE},0\n",
        f"{MORE},0,1,2\n",
        f"{MORE},0,x\n",
        f"{MORE},zero,1\n",
        f"{MORE},0,\n",
    ],
)
def test_what_is_no_plan(both: BothTools, lines: None, tmp_path: Path, text: str) -> None:
    file = tmp_path / "plan.csv"
    file.write_text(text)
    words = ("--input-topics", MORE, "--from-file", str(file))
    assert both(TOOL, *reset(both, "reset-idle", *words)).returncode == 1


@pytest.mark.parametrize("text", ["\n", f"{LINES},0,3\n", f"{LINES},0,3\n{LINES},1,3\n{MORE},0,1\n"])
def test_a_plan_for_other_partitions(both: BothTools, programs: None, tmp_path: Path, text: str) -> None:
    file = tmp_path / "plan.csv"
    file.write_text(text)
    words = ("--input-topics", LINES, "--from-file", str(file))
    done = both(TOOL, *reset(both, "{name}", *words), mutating=True, stderr="first words")
    assert done.returncode == 1
    assert done.stderr.startswith(f"ERROR: {file}: ")
    assert both_committed(both) == COMMITTED


def test_a_plan_that_is_not_there(both: BothTools, lines: None) -> None:
    words = ("--input-topics", MORE, "--from-file", "no-such-file")
    done = both(TOOL, *reset(both, "reset-idle", *words), stderr="first line")
    assert "no-such-file: No such file or directory" in done.stderr
    assert done.returncode == 1


# topics


def test_dry_run(both: BothTools, programs: None, idle: str) -> None:
    done = both(TOOL, *reset(both, idle, "--input-topics", f"{LINES},{MORE}", "--to-latest", "--dry-run"))
    assert topics_of(both, idle) == {*INTERNAL, *NOT_INTERNAL}
    assert all(f"{idle}-{name}" in done.stdout for name in INTERNAL)
    assert not any(f"{idle}-{name}" in done.stdout for name in NOT_INTERNAL)
    assert committed(both.bootstrap, idle) == {}
    both(TOOL, *reset(both, "{name}", "--input-topics", LINES, "--dry-run"), mutating=True)
    assert both_committed(both) == COMMITTED
    assert both.each(lambda application: topics_of(both, application)) == (
        {"counts-changelog"},
        {"counts-changelog"},
    )


def test_internal_topics_alone(both: BothTools, programs: None) -> None:
    both(TOOL, *reset(both, "{name}"), mutating=True)
    assert both_committed(both) == COMMITTED
    assert both.each(lambda application: topics_of(both, application)) == (set(), set())


def test_nothing_to_do(both: BothTools) -> None:
    both(TOOL, *reset(both, "{name}"), mutating=True)


def test_some_internal_topics(both: BothTools, client: Client) -> None:
    def make_topics(application: str) -> None:
        for each in INTERNAL[:3]:
            client.create_topic(f"{application}-{each}")

    both.each(make_topics)
    chosen = ",".join(f"{{name}}-{each}" for each in INTERNAL[:2])
    both(TOOL, *reset(both, "{name}", "--internal-topics", chosen), mutating=True)
    assert both.each(lambda name: topics_of(both, name)) == ({INTERNAL[2]}, {INTERNAL[2]})


@pytest.mark.parametrize("name", ["reset-idle-output", "no-such", f"reset-idle-counts-changelog,{MORE}"])
def test_what_is_no_internal_topic(both: BothTools, lines: None, idle: str, name: str) -> None:
    assert both(TOOL, *reset(both, idle, "--internal-topics", name)).returncode == 1
    assert topics_of(both, idle) == {*INTERNAL, *NOT_INTERNAL}


def test_an_input_that_is_named_like_an_internal_topic(both: BothTools, client: Client) -> None:
    both.each(lambda name: client.create_topic(f"{name}-mine-changelog"))
    both(TOOL, *reset(both, "{name}", "--input-topics", "{name}-mine-changelog"), mutating=True)
    assert both.each(lambda name: topics_of(both, name)) == ({"mine-changelog"}, {"mine-changelog"})


# members


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("more", [(), ("--dry-run",)], ids=" ".join)
def test_a_program_that_runs(both: BothTools, lines: None, protocol: str, more: tuple[str, ...]) -> None:
    application = f"reset-runs-{protocol}{len(more)}"
    with member(both.bootstrap, application, [LINES], partitions=2, group_protocol=protocol):
        words = reset(both, application, "--input-topics", LINES, *more)
        done = both(TOOL, *words, masks=[PARTITIONS_OF_MEMBER])
    assert done.returncode == 1
    assert "is still active" in done.stderr


def test_members_that_stayed_behind(both: BothTools, programs: None) -> None:
    """Static members do not leave when they end."""

    def leave_one_behind(application: str) -> None:
        with member(both.bootstrap, application, [LINES], partitions=2, group_instance_id="one"):
            pass

    both.each(leave_one_behind)
    words = reset(both, "{name}", "--input-topics", LINES)
    assert both(TOOL, *words, mutating=True, stderr="first words").returncode == 1
    done = both(TOOL, *words, "--force", mutating=True)
    assert done.stdout.startswith("Force deleting all active members in the group: {name}\n")
    assert both_committed(both) == {(LINES, 0): 0, (LINES, 1): 0, (MORE, 0): 1}


def test_a_member_of_the_newer_protocol_that_stayed_behind(both: BothTools, programs: None) -> None:
    def leave_one_behind(application: str) -> None:
        settings = {"group_instance_id": "one", "group_protocol": "consumer"}
        with member(both.bootstrap, application, [LINES], partitions=2, **settings):
            pass

    both.each(leave_one_behind)
    both(TOOL, *reset(both, "{name}", "--input-topics", LINES, "--force"), mutating=True)
    assert both_committed(both) == {(LINES, 0): 0, (LINES, 1): 0, (MORE, 0): 1}


def test_force_without_members(both: BothTools, programs: None) -> None:
    both(TOOL, *reset(both, "{name}", "--input-topics", LINES, "--force"), mutating=True)


def test_a_running_program_of_the_streams_protocol(both: BothTools, lines: None) -> None:
    """Which is no group of consumers, so that only the commit is refused."""
    application = "reset-of-a-streams-group"
    with StreamsMember(both.bootstrap, application, plain(LINES)) as streams_member:
        streams_member.join()
        settle(streams_member)
        done = both(TOOL, *reset(both, application, "--input-topics", LINES), stderr="first words")
    assert done.returncode == 1
    assert "CommitFailedException" in done.stderr


# words


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--application-id",),
        ("--application-id", "a", "--no-such-flag"),
        ("--input-topics", "a"),
        ("--application-id", "a", "--to-offset", "1", "--to-latest"),
        ("--application-id", "a", "--to-latest", "--to-earliest"),
        ("--application-id", "a", "--shift-by", "1", "--from-file", "f", "--by-duration", "PT1H"),
        ("--application-id", "a", "--config-file", "f", "--command-config", "f"),
    ],
    ids=" ".join,
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words)


@pytest.mark.parametrize(
    "words",
    [
        ("--to-offset", "three"),
        ("--shift-by", "1.5"),
        ("--to-datetime", "yesterday"),
        ("--to-datetime", "2020-09-13T12"),
        ("--by-duration", "1 day"),
        ("--by-duration", "P30000D"),
        ("--to-offset", "1", "--to-offset", "2"),
        ("--application-id", "another"),
    ],
    ids=" ".join,
)
def test_wrong_values(both: BothTools, lines: None, words: tuple[str, ...]) -> None:
    masks_of_time = [mask(r"is -\d+\.", "is <before 1970>.")]
    done = both(TOOL, *reset(both, "reset-idle", "--input-topics", MORE, *words), masks=masks_of_time)
    assert done.returncode == 1


@pytest.mark.parametrize("flag", ["--config-file", "--command-config"])
def test_a_file_of_settings(both: BothTools, lines: None, tmp_path: Path, flag: str) -> None:
    file = tmp_path / "client.properties"
    file.write_text("client.id=somebody\nbootstrap.servers=127.0.0.1:9\n")
    both(TOOL, *reset(both, "reset-idle", "--input-topics", MORE, "--dry-run", flag, str(file)))


def test_a_file_of_settings_that_is_not_there(both: BothTools) -> None:
    words = ("--application-id", "a", "--command-config", "no-such-file")
    done = both(TOOL, *words, stderr="first words")
    assert "no-such-file" in done.stderr
    assert done.returncode == 1


def test_an_unreachable_broker(hasty: Path) -> None:
    """Kafka's looks for it for ten seconds, whatever the file says."""
    words = ("--application-id", "a", "--bootstrap-server", "127.0.0.1:9", "--command-config", str(hasty))
    done = run_our_tool(TOOL, *words)
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        "ERROR: java.util.concurrent.ExecutionException: org.apache.kafka.common.errors.Timeout"
        in done.stderr
    )
    assert "127.0.0.1:9" in done.stderr
