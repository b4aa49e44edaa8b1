from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.masks import TOPIC_ID, mask
from tests.foreign_clients.drivers.model import Client

pytestmark = pytest.mark.processes

TOOL = "kafka-topics"
# Where the cluster chooses the replicas, it does so for each topic anew: here of partitions 4 and 5, and in twos.
CHOSEN_REPLICAS = [
    mask(r"(?<=Partition: [45]\t)Leader: .*(?=\tElr)", "<chosen>"),
    mask(r"Leader: \d\tReplicas: \d,\d\tIsr: \d,\d(?=\t)", "<chosen>"),
]


@pytest.fixture(scope="module", autouse=True)
def topics(client: Client) -> None:
    for name, partitions in (("fruit", 3), ("fruit.late", 1), ("nuts", 12), ("seeds", 2)):
        client.create_topic(name, partitions=partitions)
    configs = {"cleanup.policy": "compact", "segment.bytes": "1048576", "retention.ms": "-1"}
    client.create_topic("jam", partitions=1, configs=configs)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--exclude-internal",),
        ("--topic", "fruit"),
        ("--topic", "fruit.*"),
        ("--topic", "fruit, nuts"),
        ("--topic", "'seeds'"),
        ("--topic", "no-such-topic"),
        ("--topic", "fruit["),
        ("--topic", ""),
    ],
)
def test_list(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--list", *words)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--exclude-internal",),
        ("--topic", "fruit"),
        ("--topic", "fruit|nuts|seeds|jam"),
        ("--topic", "nuts", "--partition-size-limit-per-response", "5"),
        ("--topics-with-overrides",),
        ("--under-replicated-partitions",),
        ("--unavailable-partitions",),
        ("--under-min-isr-partitions",),
        ("--at-min-isr-partitions", "--topic", "fruit"),
        ("--topic", "no-such-topic"),
        ("--topic", "no-such-topic", "--if-exists"),
        ("--topic-id", "AAAAAAAAAAAAAAAAAAAAAA", "--topic", "fruit"),
        ("--topic-id", "AAAAAAAAAAAAAAAAAAAAAB"),
        ("--topic-id", "AAAAAAAAAAAAAAAAAAAAAQ"),
        ("--topic-id", "AAAAAAAAAAAAAAAAAAAAAQ", "--if-exists"),
        ("--topic-id", "AAAAAAAAAAAAAAAAAAAAAQ", "--topic", "fruit", "--if-exists"),
        ("--topic-id", "short"),
        ("--topic-id", "sh?rt"),
        ("--topic-id", "much-longer-than-an-id-is-allowed-to-be"),
    ],
)
def test_describe(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--describe", *words)


def test_describe_by_id(both: BothTools) -> None:
    described = both(TOOL, "--bootstrap-server", both.bootstrap, "--describe", "--topic", "fruit").stdout
    topic_id = described.partition("TopicId: ")[2].partition("\t")[0]
    by_id = both(TOOL, "--bootstrap-server", both.bootstrap, "--describe", "--topic-id", topic_id)
    assert by_id.stdout.splitlines()[0] == described.splitlines()[0]


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--partitions", "4", "--replication-factor", "1"),
        ("--config", "retention.ms=1000", "--config", "cleanup.policy = compact"),
        ("--replica-assignment", "{broker},{broker}"),
    ],
)
def test_create_alter_and_delete(both: BothTools, words: tuple[str, ...]) -> None:
    def mutate(*more: str) -> None:
        both(
            TOOL,
            "--bootstrap-server",
            both.bootstrap,
            "--topic",
            "{name}",
            *more,
            mutating=True,
        )

    mutate("--create", *words)
    mutate("--create", *words)
    mutate("--create", *words, "--if-not-exists")
    both(
        *(TOOL, "--bootstrap-server", both.bootstrap, "--describe", "--topic", "{name}"),
        mutating=True,
        masks=[TOPIC_ID],
    )
    mutate("--alter", "--partitions", "6")
    mutate("--alter", "--partitions", "6")
    mutate("--alter", "--partitions", "7", "--replica-assignment", ",".join(["{broker}"] * 7))
    mutate("--alter", "--partitions", "8", "--replica-assignment", "{broker},17")
    mutate("--delete")
    mutate("--delete")
    mutate("--delete", "--if-exists")


NAMES = ("under_{name}", "dotted.{name}", "not/{name}", "{name}" + "x" * 250, "..", "")


@pytest.mark.parametrize("name", NAMES)
def test_names_of_new_topics(both: BothTools, name: str) -> None:
    both(TOOL, "--bootstrap-server", both.bootstrap, "--create", "--topic", name, mutating="{name}" in name)


@pytest.mark.parametrize(
    "words",
    [
        ("--partitions", "0"),
        ("--partitions", "-1"),
        ("--partitions", "three"),
        ("--replication-factor", "0"),
        ("--replication-factor", "32768"),
        ("--config", "retention.ms"),
        ("--config", "retention.ms=1=2"),
        ("--config", "no.such.config=1"),
        ("--replica-assignment", "one"),
        ("--replica-assignment", "0:1,0"),
        ("--replica-assignment", "1:1:0:0"),
        ("--partitions", "1", "--partitions", "2"),
    ],
)
def test_wrong_values_of_new_topics(both: BothTools, words: tuple[str, ...]) -> None:
    done = both(
        *(TOOL, "--bootstrap-server", both.bootstrap, "--create", "--topic", "refused", *words),
        stderr="ignore",
    )
    assert done.returncode == 1


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--list", "--version"),
        ("--list", "--create"),
        ("--topic", "fruit"),
        ("--create",),
        ("--delete",),
        ("--alter", "--topic", "fruit"),
        ("--describe", "--if-exists"),
        ("--describe", "--config", "a=b"),
        ("--describe", "--partitions", "1"),
        ("--alter", "--topic", "fruit", "--partitions", "1", "--replication-factor", "1"),
        ("--create", "--topic", "new", "--replica-assignment", "1", "--partitions", "1"),
        ("--list", "--under-replicated-partitions"),
        ("--describe", "--topics-with-overrides", "--unavailable-partitions"),
        ("--create", "--topic", "new", "--if-exists"),
        ("--delete", "--topic", "new", "--if-not-exists"),
        ("--delete", "--topic", "new", "--exclude-internal"),
        ("--list", "--delete-config", "a"),
        ("--list", "--no-such-flag"),
        ("--list", "--topic"),
        ("--lis",),
        ("-list",),
    ],
)
def test_words(both: BothTools, words: tuple[str, ...]) -> None:
    server = ("--bootstrap-server", both.bootstrap) if words else ()
    both(TOOL, *server, *words)


def test_configs_are_not_altered_here(both: BothTools) -> None:
    words = ("--bootstrap-server", both.bootstrap, "--alter", "--topic", "fruit", "--config", "a=b")
    one, other = map(re.escape, ("[[bootstrap-server], [config]]", "[[config], [bootstrap-server]]"))
    assert both(TOOL, *words, masks=[mask(f"{one}|{other}", "<both>")]).returncode == 1


def test_without_a_server(both: BothTools) -> None:
    both(TOOL, "--list")
    for server in ("", "localhost", "localhost:9092,other"):
        assert both(TOOL, "--list", "--bootstrap-server", server, stderr="first words").returncode == 1


def test_an_unreachable_broker(both: BothTools, hasty: Path) -> None:
    words = ("--bootstrap-server", "127.0.0.1:9", "--command-config", str(hasty))
    both(TOOL, "--list", *words, masks=[mask("(?<=topic command : ).*", "<why>")])
    assert "127.0.0.1:9" in run_our_tool(TOOL, "--list", *words).stdout


def test_a_command_config_that_is_not_there(both: BothTools) -> None:
    words = ("--bootstrap-server", both.bootstrap, "--command-config", "no-such-file")
    assert both(TOOL, "--list", *words, stderr="first words").returncode == 1


# --- several brokers


def test_replicas(both_cluster: BothTools) -> None:
    def changed(*words: str) -> str:
        server = ("--bootstrap-server", both_cluster.bootstrap)
        masks = [TOPIC_ID, *CHOSEN_REPLICAS]
        return both_cluster(TOOL, *server, "--topic", "{name}", *words, mutating=True, masks=masks).stdout

    changed("--create", "--replica-assignment", "1:2:3,2:3:1,3:1:2", "--config", "min.insync.replicas=3")
    changed("--describe")
    assert changed("--describe", "--at-min-isr-partitions").count("\n") == 3
    for report in ("--under-min-isr-partitions", "--under-replicated-partitions", "--unavailable-partitions"):
        assert changed("--describe", report) == ""
    changed("--alter", "--partitions", "4", "--replica-assignment", "1:2:3,2:3:1,3:1:2,1:3:2")
    changed("--alter", "--partitions", "5", "--replica-assignment", "1:2:3,2:3:1,3:1:2,1:3:2,1:7:2")
    changed("--alter", "--partitions", "6")
    changed("--describe", "--exclude-internal")
    changed("--delete")
    changed("--create", "--replication-factor", "4")
    changed("--create", "--replication-factor", "2", "--partitions", "3", "--config", "min.insync.replicas=3")
    assert changed("--describe", "--under-min-isr-partitions").count("\n") == 3
