"""From and to Apache Kafka, and Apache's own tools on what was written."""

from __future__ import annotations

import subprocess

import pytest

from penstock import KafkaAdmin, TopicPartition
from penstock.client.admin.acls import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    AclResourceType,
    ResourcePattern,
)
from tests.pipeline.mirror.flows import Flow
from tests.support import apache_connect, apache_kafka
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for

pytestmark = pytest.mark.processes

CONSOLE_CONSUMER = "org.apache.kafka.tools.consumer.ConsoleConsumer"
FORMATTERS = "org.apache.kafka.connect.mirror.formatters"


def formatted(bootstrap: str, topic: str, formatter: str) -> list[str]:
    """What Kafka's console consumer makes of the first record, with MirrorMaker's own formatter."""
    lib = apache_connect.JARS.classpath().removesuffix("*")
    mirror = [
        f"{lib}{name}-{apache_kafka.VERSION}.jar" for name in ("connect-mirror", "connect-mirror-client")
    ]
    classpath = ":".join((apache_kafka.JARS.classpath(), *mirror))
    words = ["--bootstrap-server", bootstrap, "--topic", topic, "--from-beginning", "--max-messages", "1"]
    done = subprocess.run(
        [
            *("java", *apache_kafka.TOOL_JVM_FLAGS, "-cp", classpath, CONSOLE_CONSUMER, *words),
            *("--formatter", f"{FORMATTERS}.{formatter}", "--timeout-ms", "30000"),
        ],
        capture_output=True,
        text=True,
        timeout=90,
    )
    return done.stdout.splitlines()


def mirror_and_check(flow: Flow) -> None:
    flow.create(flow.source, flow.topic, retention_ms="7654321")
    flow.produce("1", "2", "3")
    flow.tick()
    flow.produce("4")
    flow.tick()
    assert flow.values() == ["1", "2", "3", "4"]
    with KafkaAdmin(bootstrap_servers=flow.source) as admin:
        admin.alter_group_offsets(flow.group, {TopicPartition(flow.topic, 0): 3})
    flow.tick("checkpoint", run_ms=2500, **{"sync.group.offsets.enabled": "true"})
    with KafkaAdmin(bootstrap_servers=flow.target) as admin:
        found = admin.committed_offsets(flow.group)[TopicPartition(flow.copy, 0)]
        assert admin.describe_configs("topic", flow.copy)["retention.ms"].value == "7654321"
    rest = [record.value for record in flow.records(flow.target, flow.copy) if record.offset >= found.offset]
    assert rest == [b"4"]


def test_from_apache(apache: KafkaServer, other_kafka: KafkaServer) -> None:
    with Flow(apache, other_kafka) as flow:
        mirror_and_check(flow)
        syncs = f"mm2-offset-syncs.{flow.target_alias}.internal"
        (line,) = formatted(flow.source, syncs, "OffsetSyncFormatter")
        assert line == (f"OffsetSync{{topicPartition={flow.topic}-0, upstreamOffset=0, downstreamOffset=0}}")


def test_to_apache(kafka: KafkaServer, apache: KafkaServer) -> None:
    with Flow(kafka, apache) as flow:
        mirror_and_check(flow)
        (line,) = formatted(flow.target, f"{flow.source_alias}.checkpoints.internal", "CheckpointFormatter")
        assert line.startswith(
            f"Checkpoint{{consumerGroupId={flow.group}, topicPartition={flow.copy}-0, upstreamOffset=3, "
        )
        flow.tick("heartbeat")
        (line,) = formatted(flow.target, "heartbeats", "HeartbeatFormatter")
        assert line.startswith(
            f"Heartbeat{{sourceClusterAlias={flow.source_alias}, targetClusterAlias={flow.target_alias}, "
        )


def acl(topic: str, operation: AclOperation, who: str = "ann") -> AclBinding:
    entry = AccessControlEntry(f"User:{who}", "*", operation, AclPermissionType.ALLOW)
    return AclBinding(ResourcePattern(AclResourceType.TOPIC, topic), entry)


def test_acls_but_for_the_right_to_write(apache: KafkaServer) -> None:
    """Within one cluster, which is its own copy's, as far as a flow is concerned."""
    with Flow(apache, apache) as flow:
        flow.create(flow.source, flow.topic)
        with KafkaAdmin(bootstrap_servers=flow.source) as admin:
            admin.create_acls(
                [
                    acl(flow.topic, AclOperation.READ),
                    acl(flow.topic, AclOperation.WRITE),
                    acl(flow.topic, AclOperation.ALL, "bob"),
                    acl(f"not-{flow.topic}", AclOperation.READ),
                ]
            )
            flow.connector()
            wanted = {acl(flow.copy, AclOperation.READ), acl(flow.copy, AclOperation.READ, "bob")}
            wait_for(
                lambda: {each for each in admin.list_acls() if each.pattern.name == flow.copy} == wanted,
                30,
                "the ACLs",
            )
            others = f"{flow.source_alias}.not-"
            assert not [each for each in admin.list_acls() if str(each.pattern.name).startswith(others)]
