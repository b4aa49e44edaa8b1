"""`penstock TOOL`: Kafka's tools under one roof, their text in a pipe, tables on a terminal, JSON for programs."""

import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest
from confluent_kafka import Producer

from penstock.cli.bootstrap_default import with_bootstrap
from penstock.cli.commands import COMMANDS, TOOLS
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from penstock.wire.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from tests.broker.streams_members import StreamsMember, plain, settle
from tests.cli.running import Cli, without_escapes
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = pytest.mark.processes

Produce = Callable[..., None]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_module(name: str) -> None:
    command = COMMANDS[name]
    assert callable(import_module(command.module).main)
    if command.view is not None:
        assert callable(import_module(command.view).view)


def test_every_tool_is_installed_under_its_kafka_name() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    installed = {target.partition(":")[0] for target in project["scripts"].values()}
    assert {command.module for command in TOOLS.values()} <= installed


def test_help_and_version(cli: Cli) -> None:
    listed = cli.output("--help")
    assert all(f"\n  {name} " in listed for name in COMMANDS)
    assert cli.output("--version") == cli.output("version")
    nothing = cli.run()
    assert (nothing.returncode, nothing.stdout) == (2, listed)


def test_a_wrong_command_gets_the_nearest_one(cli: Cli) -> None:
    assert cli.refused("topcs") == (
        "penstock: 'topcs' is not a command: is 'topics' meant?; `penstock --help` lists them"
    )
    assert "is 'consumer-groups' meant?" in cli.refused("kafka-consumer-groups.sh")


def test_a_tool_prints_what_it_prints_by_its_own_name(cli: Cli, penstock_topic: str) -> None:
    for words in (["--list"], ["--describe", "--topic", penstock_topic], ["--frobnicate"], []):
        ours = cli.run("topics", *words)
        server = ["--bootstrap-server", cli.bootstrap_servers] if words else []
        alone = [sys.executable, "-m", "penstock.cli.tools.kafka_topics", *server, *words]
        its_own = subprocess.run(alone, capture_output=True, text=True, timeout=60, check=False)
        assert (ours.returncode, ours.stdout, ours.stderr) == (
            its_own.returncode,
            its_own.stdout,
            its_own.stderr,
        )


def test_the_server_is_filled_in_where_none_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    def words(command: str, *given: str) -> list[str]:
        return with_bootstrap(TOOLS[command], given)

    monkeypatch.delenv("PENSTOCK_BOOTSTRAP_SERVERS", raising=False)
    default = ["--bootstrap-server", "localhost:9092"]
    assert words("topics", "--list") == [*default, "--list"]
    assert words("cluster", "cluster-id") == ["cluster-id", *default]
    assert words("topics") == []
    for given in (
        ("--bootstrap-server", "a:1", "--list"),
        ("--bootstrap-server=a:1", "--list"),
        ("-bootstrap-server", "a:1", "--list"),
        ("--bootstrap-controller", "a:1", "--list"),
        ("--help",),
    ):
        assert words("topics", *given) == list(given)
    assert words("console-producer", "--broker-list", "a:1") == ["--broker-list", "a:1"]
    brokers = ["--describe", "--broker-list", "0,1"]
    assert words("log-dirs", *brokers) == [*default, *brokers]
    properties = ["--producer-props", "bootstrap.servers=a:1", "acks=1"]
    assert words("producer-perf-test", *properties) == properties
    assert words("dump-log", "--files", "a.log") == ["--files", "a.log"]
    monkeypatch.setenv("PENSTOCK_BOOTSTRAP_SERVERS", "b:2")
    assert words("topics", "--list")[:2] == ["--bootstrap-server", "b:2"]


def test_an_unreachable_broker_is_named(cli: Cli) -> None:
    properties = cli.directory / "client.properties"
    properties.write_text("default.api.timeout.ms=300\n")
    place = ("--bootstrap-server", "127.0.0.1:1", "--command-config", str(properties))
    done = cli.run("topics", "--list", "--output", "json", *place)
    assert done.returncode == 1
    assert "127.0.0.1:1" in done.stderr.splitlines()[-1]


# what --output shows


@pytest.mark.penstock_topic(configs={"retention.ms": 1000})
def test_topics(cli: Cli, penstock_topic: str) -> None:
    (topic,) = cli.json("topics", "--list", "--topic", penstock_topic)
    assert topic["name"] == penstock_topic
    assert (topic["partition_count"], topic["replication_factor"], topic["internal"]) == (1, 1, False)
    (described,) = cli.json("topics", "--describe", "--topic", penstock_topic)
    assert described["configs"] == {"retention.ms": "1000"}
    assert described["partitions"] == [{"partition": 0, "leader": 0, "replicas": [0], "isr": [0]}]
    table = cli.output("topics", "--describe", "--topic", penstock_topic, "--output=table").splitlines()
    assert table[0].split() == ["TOPIC", "PARTITION", "LEADER", "REPLICAS", "ISR", "HEALTH"]
    assert table[1].split() == [penstock_topic, "0", "0", "0", "0", "ok"]


@pytest.mark.penstock_topic(configs={"retention.ms": 1000})
def test_topics_that_are_reported(cli: Cli, penstock_topic: str) -> None:
    def reported(*flags: str) -> list[str]:
        return [
            topic["name"] for topic in cli.json("topics", "--describe", "--topic", penstock_topic, *flags)
        ]

    assert reported("--topics-with-overrides") == [penstock_topic]
    assert reported("--at-min-isr-partitions") == [penstock_topic]
    assert reported("--under-min-isr-partitions", "--unavailable-partitions") == []
    assert reported("--under-replicated-partitions") == []


@pytest.mark.penstock_topic(configs={"retention.ms": 1000})
def test_configs(cli: Cli, penstock_topic: str) -> None:
    (own,) = cli.json("configs", "--describe", "--topic", penstock_topic)
    assert (own["entity_type"], own["entity_name"]) == ("topics", penstock_topic)
    assert [(entry["name"], entry["value"]) for entry in own["configs"]] == [("retention.ms", "1000")]
    (every,) = cli.json(
        "configs", "--describe", "--all", "--entity-type", "topics", "--entity-name", penstock_topic
    )
    assert len(every["configs"]) > 20
    brokers = cli.json("configs", "--describe", "--entity-type", "brokers", "--all")
    assert "num.partitions" in {entry["name"] for entry in brokers[0]["configs"]}


def test_groups_and_lag(cli: Cli, penstock_topic: str, group: str, produce: Produce) -> None:
    produce(penstock_topic, b"one", b"two", b"three")
    for command in ("groups", "consumer-groups"):
        listed = {each["group"]: each for each in cli.json(command, "--list")}
        assert listed[group] == {"group": group, "type": "Classic", "protocol": "consumer", "state": "Stable"}
    assert group in {each["group"] for each in cli.json("groups", "--list", "--consumer")}
    assert group not in {each["group"] for each in cli.json("groups", "--list", "--share")}
    assert group in {each["group"] for each in cli.json("consumer-groups", "--list", "--state", "Stable")}
    assert cli.json("consumer-groups", "--list", "--type", "consumer", "--state") == []
    assert "--type" not in cli.refused("consumer-groups", "--list", "--state", "Odd", "--output", "json")
    (described,) = cli.json("consumer-groups", "--describe", "--group", group)
    assert (described["state"], described["member_count"]) == ("Stable", 1)
    (offset,) = described["offsets"]
    assert (offset["topic"], offset["current_offset"], offset["log_end_offset"]) == (penstock_topic, 1, 3)
    assert offset["lag"] == 2
    (of_members,) = cli.json("consumer-groups", "--describe", "--group", group, "--members")
    assert of_members["members"][0]["assignment"] == [f"{penstock_topic}-0"]
    (state,) = cli.json("consumer-groups", "--describe", "--group", group, "--state")
    assert state["coordinator"] == cli.bootstrap_servers


def test_offsets_and_sizes(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    produce(penstock_topic, b"one", b"two")
    offsets = {(each["topic"], each["partition"]): each["offset"] for each in cli.json("get-offsets")}
    assert offsets[penstock_topic, 0] == 2
    (replica,) = cli.json("log-dirs", "--describe", "--topic-list", penstock_topic)
    assert (replica["topic"], replica["partition"]) == (penstock_topic, 0)
    assert replica["size_bytes"] > 0


def test_the_cluster(cli: Cli) -> None:
    (cluster,) = cli.json("cluster", "cluster-id")
    assert cluster["brokers"] == 1
    assert cluster["cluster_id"] in cli.output("cluster", "cluster-id")
    (endpoint,) = cli.json("cluster", "list-endpoints")
    assert f"{endpoint['host']}:{endpoint['port']}" == cli.bootstrap_servers
    versions = {each["api"]: each for each in cli.json("broker-api-versions")}
    assert versions["PRODUCE"]["max_version"] >= 12
    features = {each["feature"]: each for each in cli.json("features", "describe")}
    assert features["transaction.version"]["finalized_level"] >= 0


def test_transactions(cli: Cli, penstock_topic: str) -> None:
    producer = Producer({"bootstrap.servers": cli.bootstrap_servers, "transactional.id": penstock_topic})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce(penstock_topic, b"value")
    producer.flush(30)
    listed = {each["transactional_id"]: each for each in cli.json("transactions", "list")}
    assert listed[penstock_topic]["state"] == "Ongoing"
    (described,) = cli.json("transactions", "describe", "--transactional-id", penstock_topic)
    assert described["partitions"] == [f"{penstock_topic}-0"]
    (writer,) = cli.json("transactions", "describe-producers", "--topic", penstock_topic, "--partition", "0")
    assert writer["producer_id"] == listed[penstock_topic]["producer_id"] == described["producer_id"]
    producer.abort_transaction(30)
    missing = cli.refused("transactions", "describe", "--transactional-id", "nobody", "--output", "json")
    assert "nobody" in missing


def test_acls_say_what_the_broker_says(cli: Cli) -> None:
    assert cli.refused("acls", "--list", "--output", "json") == "No Authorizer is configured."


def test_share_groups(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    group = f"{penstock_topic}-shared"
    with WireClient(cli.bootstrap_servers) as client:
        joining = ShareGroupHeartbeatRequest(group, "m" * 22, 0, subscribed_topic_names=[penstock_topic])
        find = FindCoordinatorRequest(coordinator_keys=[group])
        wait_for(lambda: client.send(find).coordinators[0].error_code == 0)
        wait_for(lambda: client.send(joining).error_code == 0)
        listed = {each["group"]: each for each in cli.json("share-groups", "--list")}
        assert listed[group]["type"] == "Share"
        (state,) = cli.json("share-groups", "--describe", "--group", group, "--state")
        assert (state["state"], state["member_count"]) == ("Stable", 1)
        (of_members,) = cli.json("share-groups", "--describe", "--group", group, "--members")
        assert [each["consumer_id"] for each in of_members["members"]] == ["m" * 22]
        (of_offsets,) = cli.json("share-groups", "--describe", "--group", group)
        assert [each["topic"] for each in of_offsets["offsets"]] in ([], [penstock_topic])
    unknown = cli.refused("share-groups", "--describe", "--group", "nobody", "--output", "json")
    assert "nobody" in unknown


def test_streams_groups(cli: Cli, penstock_topic: str, produce: Produce) -> None:
    group = f"{penstock_topic}-streams"
    with StreamsMember(cli.bootstrap_servers, group, plain(penstock_topic), member_id="m") as member:
        find = FindCoordinatorRequest(coordinator_keys=[group])
        wait_for(lambda: member.client.send(find).coordinators[0].error_code == 0)
        wait_for(lambda: member.join().error_code == 0)
        settle(member)
        listed = {each["group"]: each for each in cli.json("streams-groups", "--list")}
        assert listed[group]["type"] == "Streams"
        (state,) = cli.json("streams-groups", "--describe", "--group", group, "--state")
        assert (state["state"], state["member_count"]) == ("Stable", 1)
        (of_members,) = cli.json("streams-groups", "--describe", "--group", group, "--members")
        ((told,),) = [of_members["members"]]
        assert (told["member_id"], told["active_tasks"][0], told["standby_tasks"]) == ("m", "0_0", [])
        (of_offsets,) = cli.json("streams-groups", "--describe", "--group", group)
        assert of_offsets["offsets"][0]["topic"] == penstock_topic
    unknown = cli.refused("streams-groups", "--describe", "--group", "nobody", "--output", "json")
    assert "nobody" in unknown


def test_what_has_no_such_form_says_so(cli: Cli, penstock_topic: str) -> None:
    assert cli.refused("topics", "--delete", "--topic", penstock_topic, "--output", "json") == (
        "penstock topics: this can't be shown as json; without --output it is Kafka's text"
    )
    assert cli.refused("topics", "--list", "--output", "yaml") == (
        "penstock topics: --output: got 'yaml'; takes table, json, text"
    )
    missing = cli.refused("topics", "--describe", "--topic", "nowhere", "--output", "json")
    assert missing == "penstock topics: Topic 'nowhere' does not exist as expected"
    wrong = cli.run("topics", "--list", "--frobnicate", "--output", "json")
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (1, "frobnicate is not a recognized option")


def test_waiting_goes_with_executing(cli: Cli) -> None:
    assert cli.refused("reassign-partitions", "--list", "--wait") == (
        "penstock reassign-partitions: --wait goes with --execute"
    )


# terminals


def test_on_a_terminal_lists_are_tables_in_colour(cli: Cli, penstock_topic: str) -> None:
    shown = cli.on_terminal("topics", "--describe", "--topic", penstock_topic)
    assert "\x1b[1m" in shown
    assert "\x1b[32mok\x1b[0m" in shown
    assert without_escapes(shown) == cli.output(
        "topics", "--describe", "--topic", penstock_topic, "--output=table"
    )


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_without_colour(cli: Cli, penstock_topic: str, environment: dict[str, str]) -> None:
    shown = cli.on_terminal("topics", "--describe", "--topic", penstock_topic, **environment)
    assert shown == cli.output("topics", "--describe", "--topic", penstock_topic, "--output=table")


def test_text_as_kafka_prints_it_can_be_had_on_a_terminal(cli: Cli, penstock_topic: str) -> None:
    shown = cli.on_terminal("topics", "--describe", "--topic", penstock_topic, "--output", "text")
    assert shown == cli.output("topics", "--describe", "--topic", penstock_topic)
