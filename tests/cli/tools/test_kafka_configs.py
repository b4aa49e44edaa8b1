from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools
from tests.foreign_clients.drivers.model import Client
from tests.support.java_tools import ToolRun

pytestmark = pytest.mark.processes

TOOL = "kafka-configs"


@pytest.fixture(scope="module", autouse=True)
def topics(client: Client) -> None:
    client.create_topic("grain", configs={"retention.ms": "60000", "cleanup.policy": "compact,delete"})
    client.create_topic("hay")


def describe(both: BothTools, *words: str, **how: object) -> ToolRun:
    return both(TOOL, "--bootstrap-server", both.bootstrap, "--describe", *words, **how)


def alter(both: BothTools, *words: str, **how: object) -> ToolRun:
    mutating = any("{name}" in word for word in words)
    return both(TOOL, "--bootstrap-server", both.bootstrap, "--alter", *words, mutating=mutating, **how)


# --- resources


@pytest.mark.parametrize(
    "words",
    [
        ("--entity-type", "topics"),
        ("--entity-type", "topics", "--entity-name", "grain"),
        ("--topic", "grain", "--all"),
        ("--topic", "hay"),
        ("--topic", "no-such-topic"),
        ("--entity-type", "brokers"),
        ("--entity-type", "brokers", "--entity-name", "{broker}"),
        ("--broker", "{broker}", "--all"),
        ("--broker", "17"),
        ("--broker-defaults",),
        ("--entity-type", "brokers", "--entity-default", "--all"),
        ("--broker-logger", "17"),
        ("--entity-type", "groups"),
        ("--group", "no-such-group"),
        ("--group", "no-such-group", "--all"),
        ("--entity-type", "client-metrics"),
        ("--client-metrics", "no-such-subscription"),
    ],
)
def test_describe(both: BothTools, words: tuple[str, ...]) -> None:
    describe(both, *words)


@pytest.mark.parametrize(
    "words",
    [
        ("--topic", "not/allowed"),
        ("--topic", ""),
        ("--topic", "no-such-topic", "--all"),
    ],
)
def test_describe_what_cannot_be(both: BothTools, words: tuple[str, ...]) -> None:
    assert describe(both, *words, stderr="first line").returncode == 1


@pytest.mark.parametrize(
    "words",
    [
        ("--describe", "--broker-logger", "{broker}"),
        ("--describe", "--entity-type", "users"),
        ("--describe", "--entity-type", "clients"),
        ("--describe", "--entity-type", "ips"),
        ("--alter", "--user", "ann", "--add-config", "SCRAM-SHA-256=[password=secret]"),
        ("--alter", "--user", "ann", "--add-config", "producer_byte_rate=1024"),
        ("--alter", "--ip", "127.0.0.1", "--add-config", "connection_creation_rate=10"),
    ],
)
def test_what_only_apache_kafka_has(both: BothTools, words: tuple[str, ...]) -> None:
    done = both(TOOL, "--bootstrap-server", both.bootstrap, *words, stderr="first line")
    assert done.returncode == (0 if both.server.is_apache else 1)


def test_alter_a_topic(both: BothTools, client: Client) -> None:
    both.each(client.create_topic)
    name = ("--entity-type", "topics", "--entity-name", "{name}")
    alter(
        both,
        *name,
        "--add-config",
        "retention.ms=1000,cleanup.policy=[compact,delete],min.insync.replicas = 1",
    )
    describe(both, *name, mutating=True)
    alter(
        both,
        *name,
        "--delete-config",
        "retention.ms, min.insync.replicas",
        "--add-config",
        "segment.ms=60000",
    )
    described = describe(both, *name, "--all", mutating=True)
    assert (
        "  segment.ms=60000 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:segment.ms=60000"
        in described.stdout
    )


def test_alter_from_a_file(both: BothTools, client: Client, tmp_path: Path) -> None:
    both.each(client.create_topic)
    file = tmp_path / "added.properties"
    file.write_text("retention.ms=5000\n# a comment\nretention.bytes: 1000\n")
    alter(both, "--topic", "{name}", "--add-config-file", str(file))
    assert "retention.bytes=1000" in describe(both, "--topic", "{name}", mutating=True).stdout


def test_alter_a_broker(both: BothTools) -> None:
    for which in (
        ("--broker", "{broker}"),
        ("--broker-defaults",),
        ("--entity-type", "brokers", "--entity-default"),
    ):
        alter(both, *which, "--add-config", "log.cleaner.threads=2")
        assert "log.cleaner.threads=2" in describe(both, *which).stdout
        alter(both, *which, "--delete-config", "log.cleaner.threads")
        describe(both, *which)


def test_alter_a_group(both: BothTools) -> None:
    alter(both, "--group", "{name}", "--add-config", "consumer.session.timeout.ms=50000")
    assert "50000" in describe(both, "--group", "{name}", mutating=True).stdout
    for number in range(3):
        alter(both, "--group", f"{{name}}-{number}", "--add-config", "share.auto.offset.reset=earliest")
    describe(both, "--entity-type", "groups")
    alter(both, "--group", "{name}", "--delete-config", "consumer.session.timeout.ms")


@pytest.mark.parametrize(
    "words",
    [
        ("--topic", "grain", "--add-config", "no.such.config=1"),
        ("--topic", "grain", "--add-config", "retention.ms=soon"),
        ("--topic", "no-such-topic", "--add-config", "retention.ms=1000"),
        ("--broker", "{broker}", "--add-config", "broker.id=7"),
        ("--broker-defaults", "--add-config", "listeners=PLAINTEXT://:9"),
        ("--group", "some", "--add-config", "consumer.session.timeout.ms=1"),
        ("--client-metrics", "some", "--add-config", "interval.ms=1"),
    ],
)
def test_changes_that_are_refused(both: BothTools, words: tuple[str, ...]) -> None:
    assert alter(both, *words, stderr="first line").returncode == 1


# --- words


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--describe", "--alter", "--topic", "grain"),
        ("--topic", "grain"),
        ("--describe",),
        ("--describe", "--topic", "grain", "--add-config", "a=b"),
        ("--describe", "--topic", "grain", "--delete-config", "a"),
        ("--describe", "--entity-type", "topics", "--entity-type", "topics"),
        ("--describe", "--entity-type", "tables"),
        ("--describe", "--entity-type", "topics", "--entity-type", "brokers"),
        ("--describe", "--topic", "grain", "--entity-type", "topics"),
        ("--describe", "--entity-type", "topics", "--entity-default"),
        ("--describe", "--entity-type", "brokers", "--entity-name", "one"),
        ("--describe", "--broker", "one"),
        ("--describe", "--entity-type", "broker-loggers"),
        ("--describe", "--topic", "grain", "--topic", "hay"),
        ("--alter", "--topic", "grain"),
        ("--alter", "--entity-type", "topics", "--add-config", "a=b"),
        ("--alter", "--entity-type", "users", "--add-config", "a=b"),
        (
            "--alter",
            "--entity-type",
            "users",
            "--entity-type",
            "clients",
            "--entity-name",
            "a",
            "--add-config",
            "a=b",
        ),
        ("--alter", "--topic", "grain", "--add-config", "a=b", "--add-config-file", "file"),
        ("--alter", "--topic", "grain", "--add-config", "a"),
        ("--alter", "--topic", "grain", "--add-config", "a=b=c"),
        ("--alter", "--topic", "grain", "--add-config", "a b=c"),
        ("--alter", "--topic", "grain", "--add-config", ""),
        ("--alter", "--user", "ann", "--add-config", "no_such_quota=1"),
        ("--alter", "--user", "ann", "--add-config", "one=1,two=2,request_percentage=3,four=4,five=5,six=6"),
        ("--alter", "--client", "c", "--add-config", "one=1,two=2,request_percentage=3,SCRAM-SHA-256=4"),
        ("--alter", "--client", "c", "--delete-config", "one,SCRAM-SHA-256,request_percentage"),
        ("--alter", "--user", "ann", "--delete-config", "no_such_quota,other"),
        ("--alter", "--client", "c", "--add-config", "SCRAM-SHA-256=[password=secret]"),
        ("--alter", "--user", "ann", "--client", "c", "--delete-config", "SCRAM-SHA-256"),
        ("--alter", "--user-defaults", "--add-config", "SCRAM-SHA-256=[password=secret]"),
        ("--alter", "--user", "ann", "--add-config", "SCRAM-SHA-256=[password=secret],request_percentage=1"),
        ("--alter", "--user", "ann", "--add-config", "SCRAM-SHA-256=secret"),
        ("--alter", "--user", "ann", "--add-config", "SCRAM-SHA-256=[iterations=10,password=secret]"),
        ("--alter", "--ip", "127.0.0.1", "--add-config", "request_percentage=1"),
        ("--describe", "--no-such-flag"),
        ("--describe", "--topic"),
    ],
)
def test_words(both: BothTools, words: tuple[str, ...]) -> None:
    server = ("--bootstrap-server", both.bootstrap) if words else ()
    both(TOOL, *server, *words)


@pytest.mark.parametrize(
    "words",
    [
        ("--describe", "--topic", "grain"),
        ("--describe", "--topic", "grain", "--bootstrap-server", "a:1", "--bootstrap-controller", "b:1"),
    ],
)
def test_without_a_server(both: BothTools, words: tuple[str, ...]) -> None:
    assert both(TOOL, *words).returncode == 1


def test_an_address_of_no_server(both: BothTools) -> None:
    words = ("--describe", "--topic", "grain", "--bootstrap-server", "localhost")
    assert "localhost" in both(TOOL, *words, stderr="first line").stderr


def test_an_unreachable_broker(both: BothTools, hasty: Path) -> None:
    words = ("--bootstrap-server", "127.0.0.1:9", "--command-config", str(hasty))
    done = both(TOOL, "--describe", "--topic", "grain", *words, stderr="first line")
    assert "127.0.0.1:9" in done.stderr.partition("\n")[2]


# --- what Apache Kafka has: quotas, credentials, loggers, client metrics, controllers


def test_quotas(both_apache: BothTools) -> None:
    both = both_apache
    changes = "producer_byte_rate=1024,consumer_byte_rate=20000000,request_percentage=0.5"
    for whom in (
        ("--user", "{name}"),
        ("--entity-type", "clients", "--entity-name", "{name}"),
        ("--entity-type", "users", "--entity-name", "{name}", "--entity-type", "clients", "--entity-default"),
    ):
        alter(both, *whom, "--add-config", changes)
        assert "producer_byte_rate=1024.0" in describe(both, *whom, mutating=True).stdout
        alter(both, *whom, "--delete-config", "producer_byte_rate,request_percentage")
        assert "producer_byte_rate" not in describe(both, *whom, mutating=True).stdout
        alter(both, *whom, "--delete-config", "producer_byte_rate")
    for whom in (("--user-defaults",), ("--client-defaults",), ("--ip-defaults",), ("--ip", "127.0.0.2")):
        key = "connection_creation_rate" if "--ip" in whom[0] else "controller_mutation_rate"
        alter(both, *whom, "--add-config", f"{key}=10")
        describe(both, *whom)
    for entity_type in ("users", "clients", "ips"):
        describe(both, "--entity-type", entity_type)
    describe(both, "--entity-type", "users", "--entity-type", "clients")


def test_credentials(both_apache: BothTools) -> None:
    both, user = both_apache, ("--entity-type", "users", "--entity-name", "{name}")
    describe(both, *user, mutating=True)
    alter(both, *user, "--add-config", "SCRAM-SHA-256=[iterations=8192,password=secret]")
    alter(both, *user, "--add-config", "SCRAM-SHA-512=[password=other]")
    two = "SCRAM-SHA-256=[password=one],SCRAM-SHA-512=[password=two]"
    assert alter(both, *user, "--add-config", two, stderr="first line").returncode == 1
    assert "SCRAM-SHA-256=iterations=8192" in describe(both, *user, mutating=True).stdout
    alter(both, *user, "--delete-config", "SCRAM-SHA-256")
    describe(both, *user, mutating=True)
    alter(both, *user, "--delete-config", "SCRAM-SHA-256", stderr="first line")
    alter(both, *user, "--add-config", "SCRAM-SHA-256=[iterations=100000,password=x]", stderr="first line")
    alter(both, *user, "--add-config", "SCRAM-SHA-256=[password=]", stderr="first line")


def test_loggers(both_apache: BothTools) -> None:
    both, logger = both_apache, ("--broker-logger", "1")
    alter(both, *logger, "--add-config", "kafka.server.KafkaApis=DEBUG")
    assert "kafka.server.KafkaApis=DEBUG" in describe(both, *logger, "--all").stdout
    alter(both, *logger, "--delete-config", "kafka.server.KafkaApis")
    alter(both, *logger, "--add-config", "no.such.Logger=DEBUG")
    alter(both, *logger, "--add-config", "kafka.server.KafkaApis=LOUD", stderr="first line")


def test_client_metrics(both_apache: BothTools) -> None:
    both = both_apache
    alter(both, "--client-metrics", "{name}", "--add-config", "metrics=[a,b],interval.ms=1000")
    describe(both, "--client-metrics", "{name}", mutating=True)
    describe(both, "--entity-type", "client-metrics", sort_lines=True)
    alter(both, "--client-metrics", "{name}", "--delete-config", "metrics,interval.ms")


def test_controllers(both_apache: BothTools, apache_controller: str) -> None:
    for words in (
        ("--describe", "--entity-type", "brokers"),
        ("--describe", "--broker", "1"),
        ("--alter", "--broker", "1", "--add-config", "log.cleaner.threads=3"),
        ("--alter", "--broker-defaults", "--add-config", "log.cleaner.threads=2"),
        ("--describe", "--broker-defaults"),
        ("--alter", "--broker", "1", "--delete-config", "log.cleaner.threads"),
    ):
        both_apache(TOOL, "--bootstrap-controller", apache_controller, *words)
