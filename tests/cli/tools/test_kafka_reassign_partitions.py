"""kafka-reassign-partitions beside Kafka's, on three brokers."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Producer

from tests.cli.tools.apache_cluster import only_of_apache
from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.masks import mask
from tests.foreign_clients.drivers.model import Client
from tests.support.apache_cluster import create_topic, log_dirs, wait_until_shown
from tests.support.cluster_fixture import PEER, KafkaServer
from tests.support.java_tools import run_java_tool
from tests.support.processes import free_port, wait_for

pytestmark = pytest.mark.processes

TOOL = "kafka-reassign-partitions"
LOG_DIR = mask(r'"[^"]*/broker-(\d)-[ab]"', r'"<directory of \1>"')
CHOSEN_REPLICAS = mask(r'"replicas":\[\d(,\d)*\],"log_dirs":\["any"(,"any")*\]', "<replicas>")
SLOW = "1024"  # bytes a second; the partitions that are to be slow hold a hundred times that
CONFIGS = "kafka-configs"

WriteJson = Callable[[str, Any], str]


@pytest.fixture
def write_json(both_cluster: BothTools, tmp_path: Path) -> WriteJson:
    """Writes a file for both, with the topic that each has for `{name}`; the path has `{name}` in it."""

    def write(kind: str, content: Any) -> str:
        for name in (both_cluster.kafka_name, both_cluster.our_name):
            (tmp_path / f"{kind}-{name}.json").write_text(json.dumps(content).replace("{name}", name))
        return str(tmp_path / f"{kind}-{{name}}.json")

    return write


def plan_of(replicas: dict[int, list[int]], **more: Any) -> dict[str, Any]:
    partitions = [{"topic": "{name}", "partition": each, "replicas": ids} for each, ids in replicas.items()]
    return {"version": 1, "partitions": partitions, **more}


@pytest.fixture
def reassign(both_cluster: BothTools) -> Callable[..., str]:
    def run(*words: str, **how: Any) -> str:
        asked = ("--bootstrap-server", both_cluster.bootstrap, *words)
        return both_cluster(TOOL, *asked, mutating=True, masks=[LOG_DIR], **how).stdout

    return run


@pytest.fixture
def topics(both_cluster: BothTools, three_brokers: KafkaServer) -> None:
    both_cluster.each(lambda topic: create_topic(three_brokers, topic, [[1, 2], [2, 3], [3, 1]]))


@pytest.fixture
def full_topics(three_brokers: KafkaServer, both_cluster: BothTools, topics: None) -> None:
    """With so much in partition 0 that it takes its time where it is throttled."""
    producer = Producer({"bootstrap.servers": three_brokers.bootstrap, "batch.size": 4096, "linger.ms": 0})
    for topic in (both_cluster.kafka_name, both_cluster.our_name):
        for _ in range(100):
            producer.produce(topic, b"x" * 1024, partition=0)
    assert producer.flush(30) == 0


def none_under_way(server: KafkaServer) -> bool:
    listed = run_our_tool(TOOL, "--bootstrap-server", server.bootstrap, "--list")
    return listed.stdout == "No partition reassignments found.\n"


@pytest.fixture(autouse=True)
def at_rest(request: pytest.FixtureRequest) -> Iterator[None]:
    """Nothing moves when a test ends, so that the next one begins afresh."""
    both = request.getfixturevalue("both_cluster") if "both_cluster" in request.fixturenames else None
    yield
    if both is not None:
        wait_for(lambda: none_under_way(both.server), timeout=10, what="all moves to end", interval=0.2)


# --- from generate to verify


@pytest.mark.parametrize("brokers", ["1", "1,2", "1,2,3"])
def test_generate(
    both_cluster: BothTools, three_brokers: KafkaServer, write_json: WriteJson, brokers: str
) -> None:
    both_cluster.each(lambda topic: create_topic(three_brokers, topic, [[3], [2], [1]]))
    file = write_json("topics", {"version": 1, "topics": [{"topic": "{name}"}]})
    asked = ("--bootstrap-server", both_cluster.bootstrap, "--generate", "--topics-to-move-json-file", file)
    masks = [LOG_DIR, *([CHOSEN_REPLICAS] if brokers != "1" else [])]
    rackless = ["--disable-rack-aware"] if "3" in brokers else []
    both_cluster(TOOL, *asked, "--broker-list", brokers, *rackless, mutating=True, masks=masks)


def test_what_is_generated_can_be_executed_and_verified(
    both_cluster: BothTools, topics: None, write_json: WriteJson, reassign: Callable[..., str]
) -> None:
    file = write_json("topics", {"topics": [{"topic": "{name}"}]})
    where = ("--bootstrap-server", both_cluster.bootstrap)
    generated = run_our_tool(
        *(TOOL, *where, "--generate", "--broker-list", "1,2", "--topics-to-move-json-file"),
        file.replace("{name}", both_cluster.our_name),
    ).stdout
    proposed = json.loads(generated.splitlines()[-1].replace(both_cluster.our_name, "{name}"))
    assert {tuple(sorted(each["replicas"])) for each in proposed["partitions"]} == {(1, 2)}
    plan = write_json("plan", proposed)
    reassign("--execute", "--additional", "--reassignment-json-file", plan)
    wait_for(lambda: none_under_way(both_cluster.server), what="the end", interval=0.2)
    moved = {each["partition"]: each["replicas"] for each in proposed["partitions"]}
    both_cluster.each(lambda topic: wait_until_shown(both_cluster.server, topic, moved))
    said = reassign("--verify", "--reassignment-json-file", plan)
    assert said.count("is completed.") == 3
    assert said.endswith(
        "Clearing broker-level throttles on brokers 1,2,3\nClearing topic-level throttles on topic {name}\n"
    )


def test_verify_what_has_not_been_done(
    topics: None, write_json: WriteJson, reassign: Callable[..., str]
) -> None:
    plan = write_json("plan", plan_of({0: [3, 2], 1: [2, 3], 9: [1]}))
    said = reassign("--verify", "--preserve-throttles", "--reassignment-json-file", plan)
    assert "but replica set is 1,2 rather than 3,2." in said
    assert "partition {name}-1 is completed." in said


# --- throttles, and the end before the end


def test_a_throttled_reassignment(
    both_cluster: BothTools, full_topics: None, write_json: WriteJson, reassign: Callable[..., str]
) -> None:
    where = ("--bootstrap-server", both_cluster.bootstrap)
    plan = write_json("plan", plan_of({0: [3, 2]}))
    execute = ("--execute", "--additional", "--reassignment-json-file", plan)
    said = reassign(*execute, "--throttle", SLOW)
    assert f"The inter-broker throttle limit was set to {SLOW} B/s" in said
    describe = (*where, "--describe", "--entity-type")
    throttled = [
        sorted(
            run_java_tool(CONFIGS, *describe, "topics", "--entity-name", name)
            .stdout.replace(name, "")
            .split()
        )
        for name in (both_cluster.kafka_name, both_cluster.our_name)
    ]
    assert throttled[0] == throttled[1]
    assert any(word.startswith("leader.replication.throttled.replicas=0:1,0:2") for word in throttled[1])
    both_cluster(TOOL, *where, "--list")
    assert "{name}-0 is still in progress." in reassign("--verify", "--reassignment-json-file", plan)
    reassign(*execute, "--throttle", "2048", "--replica-alter-log-dirs-throttle", "4096")
    other = write_json("other", plan_of({2: [1, 3]}))
    assert reassign("--execute", "--reassignment-json-file", other).startswith(
        "Cannot execute because there is"
    )
    cancel = ("--cancel", "--reassignment-json-file", plan)
    no_moves = "None of the specified partition moves are active."
    # With the throttles gone after the first of the two, the second would have nothing left to cancel.
    assert reassign(*cancel, "--preserve-throttles") == (
        f"Successfully cancelled partition reassignment for: {{name}}-0\n{no_moves}"
    )
    assert reassign(*cancel).startswith(
        f"None of the specified partition reassignments are active.\n{no_moves}Clearing broker-level throttles"
    )


def test_a_replication_factor_that_must_stay(
    topics: None, write_json: WriteJson, reassign: Callable[..., str]
) -> None:
    plan = write_json("plan", plan_of({0: [1, 2, 3], 1: [2]}))
    asked = ("--execute", "--additional", "--reassignment-json-file", plan)
    said = reassign(*asked, "--disallow-replication-factor-change")
    assert "Error reassigning partition(s):\n{name}-0: " in said


# --- directories


def test_moves_between_directories(
    both_cluster: BothTools,
    three_brokers: KafkaServer,
    topics: None,
    write_json: WriteJson,
    reassign: Callable[..., str],
) -> None:
    there = [str(log_dirs(three_brokers.log_dir, broker)[1]) for broker in (1, 2)]
    entry = {"topic": "{name}", "partition": 0, "replicas": [1, 2], "log_dirs": there}
    plan = write_json("plan", {"partitions": [entry]})
    verify = ("--verify", "--reassignment-json-file", plan)
    slow = ("--replica-alter-log-dirs-throttle", "1000000")
    said = reassign("--execute", "--additional", "--reassignment-json-file", plan, *slow)
    assert (
        f"Successfully started moving log directory to {there[1]} for replica {{name}}-0 with broker 2 \n"
        in said
    )

    def moved(name: str) -> bool:
        words = [word.replace("{name}", name) for word in verify]
        verified = run_our_tool(TOOL, "--bootstrap-server", both_cluster.bootstrap, *words).stdout
        return verified.count("completed successfully.") == 2

    for name in (both_cluster.kafka_name, both_cluster.our_name):
        wait_for(lambda name=name: moved(name), what="the replicas to have moved", interval=0.2)
    assert reassign(*verify).count("completed successfully.") == 2
    entry["log_dirs"] = ["any", str(log_dirs(three_brokers.log_dir, 2)[0])]
    elsewhere = write_json("elsewhere", {"partitions": [entry]})
    assert "is not being moved from log dir" in reassign("--verify", "--reassignment-json-file", elsewhere)


def test_a_directory_that_is_not_there(both_cluster: BothTools, topics: None, write_json: WriteJson) -> None:
    entry = {"topic": "{name}", "partition": 0, "replicas": [1, 2], "log_dirs": ["any", "/no/such/directory"]}
    nowhere = write_json("nowhere", {"partitions": [entry]})
    where = ("--bootstrap-server", both_cluster.bootstrap)
    asked = (*where, "--execute", "--additional", "--reassignment-json-file")
    ours = run_our_tool(TOOL, *asked, nowhere.replace("{name}", both_cluster.our_name))
    assert ours.stdout.endswith(f"\nError: Failed to alter dir for {both_cluster.our_name}-0-2\n")
    assert ours.returncode == 1


# --- bad input

WHERE = ("--bootstrap-server", "localhost:9092")
PLAN = ("--reassignment-json-file", "plan.json")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        WHERE,
        (*WHERE, "--list", "--execute"),
        ("--list",),
        (*WHERE, "--list", "--bootstrap-controller", "localhost:9093"),
        (*WHERE, "--execute"),
        (*WHERE, "--verify"),
        (*WHERE, "--cancel"),
        (*WHERE, "--generate", "--broker-list", "1"),
        (*WHERE, "--generate", "--topics-to-move-json-file", "topics.json"),
        (*WHERE, "--list", "--throttle", "1"),
        (*WHERE, "--verify", *PLAN, "--additional"),
        (*WHERE, "--execute", *PLAN, "--preserve-throttles"),
        ("--bootstrap-controller", "localhost:9093", "--execute", *PLAN),
    ],
    ids=" ".join,
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    said = both(TOOL, *words)
    assert said.returncode == (0 if words == ("--version",) else 1)


def first_lines(both: BothTools, *words: str) -> str:
    """What both say first; Kafka's goes on with where it was thrown."""
    asked = ("--bootstrap-server", both.bootstrap, *words)
    theirs, ours = run_java_tool(TOOL, *asked), run_our_tool(TOOL, *asked)
    assert ours.stdout.splitlines() == theirs.stdout.splitlines()[:1], (theirs, ours)
    assert ours.stderr == ""
    assert ours.returncode == theirs.returncode == 1
    return ours.stdout


@pytest.mark.parametrize(
    "written",
    [
        "[]",
        "{}",
        '{"version": 2}',
        '{"version": "1"}',
        '{"partitions": 1}',
        '{"partitions": [7]}',
        '{"partitions": [{"topic": "t", "partition": 0}]}',
        '{"partitions": [{"topic": "t", "partition": 0, "replicas": 1}]}',
        '{"partitions": [{"topic": "t", "partition": 0, "replicas": ["1"]}]}',
        '{"partitions": [{"topic": "t", "partition": 0, "replicas": []}]}',
        '{"partitions": [{"topic": "t", "partition": 0, "replicas": [1, 1]}]}',
        '{"partitions": [{"topic": "t", "partition": 0, "replicas": [1], "log_dirs": []}]}',
        json.dumps({"partitions": [{"topic": "t", "partition": 0, "replicas": [each]} for each in (1, 2)]}),
        '{"partitions": [{"topic": "no-such-topic", "partition": 0, "replicas": [1]}]}',
        '{"partitions": [{"topic": "no-such-topic", "partition": 0, "replicas": [77, 1]}]}',
    ],
)
def test_plans_that_are_none(both_cluster: BothTools, tmp_path: Path, written: str) -> None:
    file = tmp_path / "plan.json"
    file.write_text(written)
    first_lines(both_cluster, "--execute", "--additional", "--reassignment-json-file", str(file))


def test_a_plan_for_a_partition_that_is_not_there(
    both_cluster: BothTools, three_brokers: KafkaServer, tmp_path: Path
) -> None:
    topic = both_cluster.our_name
    create_topic(three_brokers, topic, [[1]])
    partitions = [{"topic": topic, "partition": each, "replicas": [1]} for each in (0, 5)]
    file = tmp_path / "plan.json"
    file.write_text(json.dumps({"partitions": partitions}))
    said = first_lines(both_cluster, "--execute", "--additional", "--reassignment-json-file", str(file))
    assert said.endswith(f"Unable to find partition: {topic}-5\n")


@pytest.mark.parametrize("written", ["", "{", "{'partitions': []}"])
def test_files_that_are_no_json(both_cluster: BothTools, tmp_path: Path, written: str) -> None:
    """Kafka's shows what its parser says, in its words; ours shows what ours says."""
    file = tmp_path / "plan.json"
    file.write_text(written)
    asked = ("--bootstrap-server", both_cluster.bootstrap, "--verify", "--reassignment-json-file", str(file))
    theirs, ours = run_java_tool(TOOL, *asked), run_our_tool(TOOL, *asked)
    assert theirs.stdout.startswith("Error: ")
    assert ours.stdout.startswith("Error: ")
    assert (ours.stdout.count("\n"), ours.stderr) == (1, "")
    assert ours.returncode == theirs.returncode == 1


@pytest.mark.parametrize(
    ("written", "brokers"),
    [
        ('{"topics": [{"topic": "no-such-topic"}]}', "1"),
        ('{"topics": [{"topic": "no-such-topic"}]}', "1,x"),
        ('{"topics": [{"topic": "no-such-topic"}]}', "1,2,1"),
        ('{"topics": [{"topic": "t"}, {"topic": "t"}]}', "1"),
        ('{"topics": [{"name": "t"}]}', "1"),
        ('{"topics": {}}', "1"),
        ('{"version": 3}', "1"),
        ("{", "1"),
        ('{"topics": [{"topic": "{name}"}]}', "1"),  # too few
        ('{"topics": [{"topic": "{name}"}]}', "8"),  # none
    ],
)
def test_what_cannot_be_generated(
    both_cluster: BothTools, three_brokers: KafkaServer, tmp_path: Path, written: str, brokers: str
) -> None:
    if "{name}" in written:
        create_topic(three_brokers, both_cluster.our_name, [[1, 2]])
    file = tmp_path / "topics.json"
    file.write_text(written.replace("{name}", both_cluster.our_name))
    first_lines(both_cluster, "--generate", "--topics-to-move-json-file", str(file), "--broker-list", brokers)


@only_of_apache
def test_racks_that_only_some_have(both_apache_cluster: BothTools, tmp_path: Path) -> None:
    create_topic(both_apache_cluster.server, both_apache_cluster.our_name, [[1, 2]])
    file = tmp_path / "topics.json"
    file.write_text(json.dumps({"topics": [{"topic": both_apache_cluster.our_name}]}))
    asked = ("--generate", "--topics-to-move-json-file", str(file), "--broker-list", "1,3")
    first_lines(both_apache_cluster, *asked)


def test_a_file_that_is_not_there(both_cluster: BothTools) -> None:
    said = first_lines(both_cluster, "--verify", "--reassignment-json-file", "no-such-file.json")
    assert said == "Error: Unable to read file no-such-file.json\n"


@only_of_apache
def test_a_controller_can_be_asked_directly(both_apache_cluster: BothTools) -> None:
    """Where it is no broker."""
    settings = (both_apache_cluster.server.log_dir / "broker-1.properties").read_text()
    controller = settings.partition("controller.quorum.voters=1@")[2].partition("\n")[0]
    both_apache_cluster(TOOL, "--bootstrap-controller", controller, "--list")


@pytest.mark.skipif(PEER == "apache", reason="Apache Kafka's broker has another number")
def test_on_one_broker(both: BothTools, client: Client, tmp_path: Path) -> None:
    """Nothing moves."""
    both(TOOL, "--bootstrap-server", both.bootstrap, "--list")
    client.create_topic(both.our_name)
    file = tmp_path / "plan.json"
    entry = {"topic": both.our_name, "partition": 0, "replicas": [0]}
    file.write_text(json.dumps({"partitions": [entry]}))
    asked = ("--bootstrap-server", both.bootstrap, "--reassignment-json-file", str(file))
    both(TOOL, *asked, "--verify", "--preserve-throttles")
    said = both(TOOL, *asked, "--execute")
    assert said.stdout.endswith(f"\nSuccessfully started partition reassignment for {both.our_name}-0\n")


def test_a_broker_that_is_not_there(tmp_path: Path) -> None:
    config = tmp_path / "admin.properties"
    config.write_text("default.api.timeout.ms=300\nrequest.timeout.ms=300\n")
    address = f"127.0.0.1:{free_port()}"
    asked = ("--bootstrap-server", address, "--list", "--command-config", str(config))
    theirs, ours = run_java_tool(TOOL, *asked), run_our_tool(TOOL, *asked)
    said = "Error: org.apache.kafka.common.errors.TimeoutException: "
    assert theirs.stdout.startswith(said)
    assert ours.stdout.startswith(said)
    assert address in ours.stdout
    assert ours.returncode == theirs.returncode == 1
