"""What Kafka's tools and ours say of three brokers, of which one may be away: topics, settings, brokers, elections."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.broker.asking import batch_of, produced, values_in
from tests.broker.conftest import only_penstock
from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.masks import COLUMN_WIDTHS, TOPIC_ID, mask
from tests.support.java_tools import run_java_tool
from tests.support.penstock_cluster import PenstockCluster
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

pytestmark = [only_penstock, pytest.mark.processes]

TOPICS, CONFIGS, CLUSTER, ELECTION = "kafka-topics", "kafka-configs", "kafka-cluster", "kafka-leader-election"
GONE = 1
EITHER_FIRST = mask(r"Isr: \d,\d", "Isr: <two>")


@pytest.fixture
def both(java: None, penstock_cluster: PenstockCluster, request: pytest.FixtureRequest) -> BothTools:
    return BothTools(penstock_cluster.as_server(), request.node.name)


@pytest.fixture
@starts_processes
def without_one(both: BothTools, penstock_cluster: PenstockCluster) -> Iterator[PenstockCluster]:
    """Each has two topics: of two replicas, and of one; the broker that is away has replicas of both."""
    cluster = penstock_cluster
    both.each(lambda name: cluster.create(name, [[GONE, 2], [3, 2]], min_insync_replicas="2"))
    both.each(lambda name: cluster.create(f"{name}-alone", [[GONE], [3]]))
    cluster.stop(GONE)
    both.each(lambda name: cluster.wait_for_leaders(name, [2, 3]))
    both.each(lambda name: cluster.wait_for_leaders(f"{name}-alone", [-1, 3]))
    yield cluster
    cluster.restore()


def others(cluster: PenstockCluster) -> tuple[str, str]:
    return "--bootstrap-server", f"{cluster.address(2)},{cluster.address(3)}"


def test_topics_while_one_is_away(both: BothTools, without_one: PenstockCluster) -> None:
    def reported(*words: str) -> list[str]:
        asked = (*others(without_one), "--describe", "--topic", "{name}.*", *words)
        said = both(TOPICS, *asked, mutating=True, masks=[TOPIC_ID, EITHER_FIRST]).stdout
        return re.findall(r"Topic: {name}(-alone\tPartition: \d|\tPartition: \d)", said)

    two, alone = ["\tPartition: 0", "\tPartition: 1"], ["-alone\tPartition: 0", "-alone\tPartition: 1"]
    assert reported() == [*two, *alone]
    assert reported("--under-replicated-partitions") == [two[0]]
    assert reported("--under-min-isr-partitions") == [two[0], alone[0]]
    assert reported("--at-min-isr-partitions") == [two[1], *alone]
    assert reported("--unavailable-partitions") == [alone[0]]


def test_a_broker_that_is_away_is_unregistered(both: BothTools, without_one: PenstockCluster) -> None:
    where = others(without_one)

    def listed(*words: str) -> list[str]:
        said = both(CLUSTER, "list-endpoints", *where, *words, masks=[COLUMN_WIDTHS]).stdout
        return re.findall(r"^(\d) .* (\w+) broker", said, re.MULTILINE)

    running = [("2", "unfenced"), ("3", "unfenced")]
    assert listed() == running
    assert both(CLUSTER, "unregister", "--id", "2", *where).returncode == 1, "it runs"
    unregister = (CLUSTER, "unregister", "--id", str(GONE), *where)
    for run in (run_java_tool, run_our_tool):
        assert listed("--include-fenced-brokers") == [(str(GONE), "fenced"), *running]
        done = run(*unregister)
        assert (done.stdout, done.stderr) == (f"Broker {GONE} is no longer registered.\n", "")
        assert listed("--include-fenced-brokers") == running
        assert both(*unregister).returncode == 1, "nobody knows it any more"
        without_one.start(GONE)
        if run is run_java_tool:
            without_one.stop(GONE)


def test_an_unclean_election(both: BothTools, penstock_cluster: PenstockCluster) -> None:
    """Only broker 1 is in sync, and away."""
    cluster = penstock_cluster
    both.each(lambda name: cluster.create(name, [[GONE, 2]]))
    cluster.stop(2)
    with WireClient(cluster.address(GONE)) as client:
        both.each(lambda name: produced(client, name, batch_of(b"only here")))
    cluster.stop(GONE)
    both.each(lambda name: cluster.wait_for_leaders(name, [-1]))
    where = ("--bootstrap-server", cluster.address(3), "--topic", "{name}", "--partition", "0")

    def elect(kind: str) -> str:
        return both(ELECTION, *where, "--election-type", kind, mutating=True, stderr="first line").stdout

    assert "EligibleLeadersNotAvailableException" in elect("unclean")
    cluster.start(2)
    cluster.wait_until_registered(2)
    assert "PreferredLeaderNotAvailableException" in elect("preferred")
    assert elect("unclean") == "Successfully completed leader election (UNCLEAN) for partitions {name}-0\n"
    both.each(lambda name: cluster.wait_for_leaders(name, [2]))
    cluster.start(GONE)
    cluster.wait_until_whole(both.each(lambda name: name))
    with WireClient(cluster.address(2)) as client:
        assert both.each(lambda name: values_in(client, name)) == ([], [])


# --- settings


def test_settings_of_one_broker_and_of_all(both: BothTools, penstock_cluster: PenstockCluster) -> None:
    """Whichever is asked; each tells of itself."""

    def configs(*words: str) -> str:
        return both(CONFIGS, "--bootstrap-server", both.bootstrap, "--entity-type", "brokers", *words).stdout

    def sizes() -> list[list[str]]:
        described = [
            configs("--describe", "--all", "--entity-name", str(number)) for number in penstock_cluster.ports
        ]
        return [re.findall(r"^  message.max.bytes=(\d+)", each, re.MULTILINE) for each in described]

    (kafkas_own,) = {size for each in sizes() for size in each}
    try:
        configs("--alter", "--entity-default", "--add-config", "message.max.bytes=3000")
        configs("--alter", "--entity-name", "2", "--add-config", "message.max.bytes=5000")
        wait_for(lambda: sizes() == [["3000"], ["5000"], ["3000"]], what="all to know")
        assert "message.max.bytes=3000" in configs("--describe", "--entity-default")
        assert "message.max.bytes=5000" in configs("--describe", "--entity-name", "2")
        configs("--describe", "--entity-name", "7")
    finally:
        configs("--alter", "--entity-default", "--delete-config", "message.max.bytes")
        configs("--alter", "--entity-name", "2", "--delete-config", "message.max.bytes")
    wait_for(lambda: sizes() == [[kafkas_own]] * 3, what="all to forget")


def test_settings_of_a_topic(both: BothTools, penstock_cluster: PenstockCluster) -> None:
    both.each(lambda name: penstock_cluster.create(name, [[1, 2], [3, 2]]))
    asked = ("--bootstrap-server", both.bootstrap, "--entity-type", "topics", "--entity-name", "{name}")
    throttled = "leader.replication.throttled.replicas=[0:1,1:3],follower.replication.throttled.replicas=[*]"
    for words in (
        ("--alter", "--add-config", f"retention.ms=60000,min.insync.replicas=2,{throttled}"),
        ("--describe",),
        ("--describe", "--all"),
        ("--alter", "--delete-config", "min.insync.replicas,leader.replication.throttled.replicas"),
        ("--describe",),
    ):
        assert both(CONFIGS, *asked, *words, mutating=True, sort_lines=True).returncode == 0


def test_log_dirs_of_all(both: BothTools, penstock_cluster: PenstockCluster) -> None:
    penstock_cluster.create(both.our_name, [[1, 2], [3, 2]])
    asked = ("--bootstrap-server", both.bootstrap, "--describe", "--topic-list", both.our_name)
    assert both("kafka-log-dirs", *asked).stdout.count(f'"partition":"{both.our_name}-') == 4
