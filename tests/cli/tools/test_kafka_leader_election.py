"""kafka-leader-election beside Kafka's, on three brokers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.masks import mask
from tests.support.apache_cluster import create_topic
from tests.support.cluster_fixture import KafkaServer
from tests.support.java_tools import run_java_tool
from tests.support.processes import free_port
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

TOOL = "kafka-leader-election"
PREFERRED = ("--election-type", "preferred")
REASSIGN = "kafka-reassign-partitions"
IN_ANOTHER_ORDER = mask("{name}-1, {name}-0", "{name}-0, {name}-1")  # that of hashes of the name


@pytest.fixture
@starts_processes
def led_by_another(both_cluster: BothTools, three_brokers: KafkaServer, tmp_path: Path) -> None:
    """Topics whose partitions 0 and 1 are led by broker 1, though 2 is to lead them; 2 is led as it should be."""

    def prepare(topic: str) -> None:
        create_topic(three_brokers, topic, [[1, 2], [1, 2], [3, 1]])
        moved = [{"topic": topic, "partition": each, "replicas": [2, 1]} for each in (0, 1)]
        plan = tmp_path / f"{topic}.json"
        plan.write_text(json.dumps({"partitions": moved}))
        asked = ("--bootstrap-server", three_brokers.bootstrap, "--reassignment-json-file", str(plan))
        assert run_our_tool(REASSIGN, *asked, "--execute", "--additional").returncode == 0

    both_cluster.each(prepare)


def test_of_one_partition(both_cluster: BothTools, led_by_another: None) -> None:
    asked = ("--bootstrap-server", both_cluster.bootstrap, *PREFERRED, "--topic", "{name}", "--partition")
    said = both_cluster(TOOL, *asked, "0", mutating=True)
    assert said.stdout == "Successfully completed leader election (PREFERRED) for partitions {name}-0\n"
    said = both_cluster(TOOL, *asked, "0", mutating=True)
    assert said.stdout == "Valid replica already elected for partitions {name}-0\n"
    said = both_cluster(TOOL, *asked, "9", mutating=True)
    assert said.stdout.startswith(
        "Error completing leader election (PREFERRED) for partition: {name}-9: org.apache."
    )
    assert (said.stderr, said.returncode) == ("1 replica(s) could not be elected\n", 1)


def test_of_partitions_in_a_file(both_cluster: BothTools, led_by_another: None, tmp_path: Path) -> None:
    def write(topic: str) -> None:
        partitions = [{"topic": topic, "partition": each} for each in (0, 1, 2, 7)]
        (tmp_path / f"{topic}-election.json").write_text(json.dumps({"partitions": partitions}))

    both_cluster.each(write)
    file = str(tmp_path / "{name}-election.json")
    where = ("--bootstrap-server", both_cluster.bootstrap)
    asked = (*where, *PREFERRED, "--path-to-json-file", file)
    said = both_cluster(TOOL, *asked, mutating=True, sort_lines=True, masks=[IN_ANOTHER_ORDER])
    assert "(PREFERRED) for partitions {name}-0, {name}-1\n" in said.stdout
    assert "Valid replica already elected for partitions {name}-2\n" in said.stdout
    assert said.stdout.startswith("Error completing leader election (PREFERRED) for partition: {name}-7: ")
    assert said.returncode == 1


def test_of_all_partitions(both_cluster: BothTools, led_by_another: None, tmp_path: Path) -> None:
    """The first call elects all, so the second has nothing to elect."""
    asked = (
        "--bootstrap-server",
        both_cluster.bootstrap,
        "--election-type",
        "PREFERRED",
        "--all-topic-partitions",
    )
    ours = run_our_tool(TOOL, *asked)
    assert ours.returncode == 0
    assert ours.stdout.startswith("Successfully completed leader election (PREFERRED) for partitions ")
    assert all(f"{both_cluster.our_name}-{each}" in ours.stdout for each in (0, 1))
    assert f"{both_cluster.our_name}-2" not in ours.stdout
    both_cluster(TOOL, *asked)


def test_of_unclean_leaders(both_cluster: BothTools, three_brokers: KafkaServer) -> None:
    both_cluster.each(lambda topic: create_topic(three_brokers, topic, [[1]]))
    asked = ("--bootstrap-server", both_cluster.bootstrap, "--election-type", "Unclean")
    said = both_cluster(TOOL, *asked, "--topic", "{name}", "--partition", "0", mutating=True)
    assert said.stdout == "Valid replica already elected for partitions {name}-0\n"
    both_cluster(TOOL, *asked, "--all-topic-partitions")


# --- bad input

WHERE = ("--bootstrap-server", "localhost:9092")


@pytest.mark.parametrize("words", [(), ("--help",), ("--version",)], ids=" ".join)
def test_help(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words)


@pytest.mark.parametrize(
    "words",
    [
        (*WHERE,),
        (*PREFERRED, "--all-topic-partitions"),
        (*WHERE, *PREFERRED),
        (*WHERE, *PREFERRED, "--all-topic-partitions", "--topic", "t"),
        (*WHERE, *PREFERRED, "--topic", "t"),
        (*WHERE, *PREFERRED, "--all-topic-partitions", "--partition", "1"),
        (*WHERE, "--election-type", "fair", "--all-topic-partitions"),
        (*WHERE, *PREFERRED, "--topic", "t", "--partition", "one"),
        (*WHERE, *PREFERRED, "--all-topic-partitions", "--admin.config", "a", "--command-config", "b"),
        (*WHERE, *PREFERRED, "--all-topics"),
        (*WHERE, *PREFERRED, "--path-to-json-file", "no-such-file.json"),
    ],
    ids=" ".join,
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    said = both(TOOL, *words, stderr="first line")
    assert said.returncode == 1
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize(
    "written",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"partitions": {}}',
        '{"partitions": [1]}',
        '{"partitions": [{"topic": "t"}]}',
        '{"partitions": [{"partition": 0}]}',
        '{"partitions": [{"topic": 1, "partition": 0}]}',
        '{"partitions": [{"topic": "t", "partition": "0"}]}',
        '{"partitions": [{"topic": "t", "partition": 0}, {"topic": "t", "partition": 0}]}',
    ],
)
def test_files_that_say_nothing(both: BothTools, tmp_path: Path, written: str) -> None:
    file = tmp_path / "election.json"
    file.write_text(written)
    said = both(TOOL, *WHERE, *PREFERRED, "--path-to-json-file", str(file), stderr="first line")
    assert said.returncode == 1
    assert said.stderr.count("\n") == 1


def test_the_deprecated_name_of_the_config(both_cluster: BothTools, tmp_path: Path) -> None:
    config = tmp_path / "admin.properties"
    config.write_text("client.id=elector\n")
    asked = ("--bootstrap-server", both_cluster.bootstrap, *PREFERRED, "--all-topic-partitions")
    said = both_cluster(TOOL, *asked, "--admin.config", str(config))
    assert said.stdout.startswith("Option --admin.config has been deprecated")


def test_a_broker_that_is_not_there(tmp_path: Path) -> None:
    config = tmp_path / "admin.properties"
    config.write_text("default.api.timeout.ms=300\nrequest.timeout.ms=300\n")
    address = f"127.0.0.1:{free_port()}"
    asked = ("--bootstrap-server", address, *PREFERRED, "--all-topic-partitions")
    theirs, ours = (
        run(TOOL, *asked, "--command-config", str(config)) for run in (run_java_tool, run_our_tool)
    )
    assert ours.stdout == theirs.stdout == "Timeout waiting for election results\n"
    assert address in ours.stderr
    assert ours.returncode == theirs.returncode == 1
