"""`connect-mirror-maker` as a user starts it, on Spark; and what its file says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from penstock import KafkaAdmin
from penstock.errors import ConfigError
from penstock.pipeline.mirror.maker_config import FlowName, MirrorMakerConfig
from penstock.settings.properties import read_properties
from tests.pipeline.mirror.flows import Flow
from tests.support.apache_kafka import ROOT
from tests.support.processes import Process, wait_for
from tests.support.spark import QUICK_JAVA

SECONDS = 150.0
TWO = {
    "clusters": "A, B",
    "A.bootstrap.servers": "a:9092",
    "B.bootstrap.servers": "b:9092",
    "A->B.enabled": "true",
}
A_TO_B, B_TO_A = FlowName("A", "B"), FlowName("B", "A")


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "penstock.cli.tools.connect_mirror_maker", *words]


def test_flows() -> None:
    assert MirrorMakerConfig(TWO, "f").flows() == [A_TO_B, B_TO_A]
    assert MirrorMakerConfig(TWO, "f").flows(["B"]) == [A_TO_B]
    assert MirrorMakerConfig({**TWO, "emit.heartbeats.enabled": "false"}, "f").flows() == [A_TO_B]
    only_one = {**TWO, "B->A.emit.heartbeats.enabled": "false"}
    assert MirrorMakerConfig(only_one, "f").flows() == [A_TO_B]


def test_workers_live_in_the_target() -> None:
    given = {
        **TWO,
        "B.security.protocol": "SASL_PLAINTEXT",
        "offset.storage.replication.factor": "1",
        "spark.master": "local[2]",
        "A->B.tick.ms": "500",
    }
    settings = MirrorMakerConfig(given, "f").worker_settings(A_TO_B)
    assert settings.bootstrap_servers == ("b:9092",)
    assert settings.group_id == "A-mm2"
    assert settings.offset_storage_topic == "mm2-offsets.A.internal"
    assert settings.config_storage_topic == "mm2-configs.A.internal"
    assert settings.status_storage_topic == "mm2-status.A.internal"
    assert settings.offset_storage_replication_factor == 1
    assert settings.client_configs["security.protocol"] == "SASL_PLAINTEXT"
    assert (settings.spark_master, settings.tick_ms) == ("local[2]", 500)


def test_connectors_of_a_flow() -> None:
    given = {
        **TWO,
        "topics": "all.*",
        "A->B.topics": "some.*",
        "tasks.max": "3",
        "A.consumer.max.poll.records": "7",
        "ssl.endpoint.identification.algorithm": "",
    }
    maker = MirrorMakerConfig(given, "f")
    found = dict(maker.connectors(A_TO_B))
    assert list(found) == ["MirrorSourceConnector", "MirrorCheckpointConnector", "MirrorHeartbeatConnector"]
    source = found["MirrorSourceConnector"]
    assert source["connector.class"] == "org.apache.kafka.connect.mirror.MirrorSourceConnector"
    assert (source["topics"], source["tasks.max"]) == ("some.*", "3")
    assert source["source.cluster.bootstrap.servers"] == "a:9092"
    assert source["target.cluster.bootstrap.servers"] == "b:9092"
    assert source["source.consumer.max.poll.records"] == "7"
    assert "source.cluster.ssl.endpoint.identification.algorithm" in source
    assert list(dict(maker.connectors(B_TO_A))) == ["MirrorHeartbeatConnector"]
    without = MirrorMakerConfig({**TWO, "emit.checkpoints.enabled": "false"}, "f")
    assert "MirrorCheckpointConnector" not in dict(without.connectors(A_TO_B))


WRONG = [
    ({"clusters": ""}, 'f: Missing required configuration "clusters"'),
    ({"clusters": "A, B, A"}, "f: clusters: names A more than once"),
    ({"B.bootstrap.servers": ""}, 'f: Missing required configuration "B.bootstrap.servers"'),
    ({"A->C.enabled": "true"}, "f: A->C.enabled: 'C' is no cluster; clusters has A, B"),
    ({"A->B.enabled": "ture"}, "f: A->B.enabled: got 'ture'; takes true or false"),
    ({"A->B.enabled": "false"}, "f: No source->target replication flows"),
]


@pytest.mark.parametrize(("changes", "words"), WRONG)
def test_a_file_that_is_wrong(changes: dict[str, str], words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        MirrorMakerConfig({**TWO, **changes}, "f").flows()
    assert str(raised.value).startswith(words)


def test_the_file_that_comes_along_is_right() -> None:
    file = ROOT / "src/penstock/config/connect-mirror-maker.properties"
    maker = MirrorMakerConfig(read_properties(file), str(file))
    for flow in maker.flows():
        assert maker.worker_settings(flow).data_dir == "/tmp/mirror-maker-data"


@pytest.mark.processes
@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        ("clusters=A\n", [], 'Missing required configuration "A.bootstrap.servers"'),
        (None, [], "can't be read"),
        (
            "clusters=A,B\nA.bootstrap.servers=x\nB.bootstrap.servers=x\n",
            ["--clusters", "C"],
            "'C' is none of A, B",
        ),
        (
            "clusters=A,B\nA.bootstrap.servers=x\nB.bootstrap.servers=x\nA->B.enabled=true\nB.tick.ms=x\n",
            [],
            "tick.ms",
        ),
    ],
)
def test_one_line_for_what_is_wrong(tmp_path: Path, text: str | None, words: list[str], said: str) -> None:
    file = tmp_path / "mm2.properties"
    if text is not None:
        file.write_text(text)
    done = subprocess.run(command(str(file), *words), capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert done.stderr.startswith("connect-mirror-maker: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.processes
def test_two_clusters_mirror_each_other(flow: Flow, tmp_path: Path) -> None:
    """Each gets the other's topics, nothing comes back, a group goes on in the other; a stop is clean."""
    west, east = flow.source_alias, flow.target_alias
    flow.create(flow.source, flow.topic, partitions=2)
    flow.create(flow.target, flow.topic)
    flow.produce("1", "2", "3", partition=1)
    with KafkaAdmin(bootstrap_servers=flow.source) as admin:
        admin.alter_group_offsets(flow.group, {(flow.topic, 1): 2})
    properties = {
        "clusters": f"{west}, {east}",
        f"{west}.bootstrap.servers": flow.source,
        f"{east}.bootstrap.servers": flow.target,
        f"{west}->{east}.enabled": "true",
        f"{east}->{west}.enabled": "true",
        "topics": f".*{flow.topic}",
        "groups": flow.group,
        "sync.group.offsets.enabled": "true",
        "sync.group.offsets.interval.seconds": "1",
        "emit.checkpoints.interval.seconds": "1",
        "refresh.topics.interval.seconds": "2",
        "tasks.max": "2",
        "data.dir": str(tmp_path / "data"),
        "tick.ms": "500",
        "spark.master": "local[8]",
        **{
            f"{each}.replication.factor": "1"
            for each in ("offset.storage", "config.storage", "status.storage", "checkpoints.topic")
        },
        "heartbeats.topic.replication.factor": "1",
        "offset-syncs.topic.replication.factor": "1",
        "replication.factor": "1",
    }
    file = tmp_path / "mm2.properties"
    file.write_text("".join(f"{name}={text}\n" for name, text in properties.items()))
    with Process(command(str(file)), tmp_path / "maker.log", QUICK_JAVA) as maker:
        maker.wait_until(lambda: copied(flow) == ["1", "2", "3"], SECONDS, "the copies")
        maker.wait_until(lambda: group_offset(flow) == 2, SECONDS, "the group's offset")
        flow.produce("4", partition=1)
        maker.wait_until(lambda: copied(flow) == ["1", "2", "3", "4"], SECONDS, "one more")
        os.kill(maker.pid, signal.SIGTERM)
        wait_for(lambda: not maker.alive, SECONDS, "the end")
    assert "Traceback" not in (tmp_path / "maker.log").read_text()
    assert topics(flow.source, flow.topic) == {flow.topic, f"{east}.{flow.topic}"}
    assert topics(flow.target, flow.topic) == {flow.topic, f"{west}.{flow.topic}"}


def topics(bootstrap: str, ending: str) -> set[str]:
    with KafkaAdmin(bootstrap_servers=bootstrap) as admin:
        return {topic.name for topic in admin.list_topics() if topic.name.endswith(ending)}


def copied(flow: Flow) -> list[str]:
    return flow.values(partition=1) if flow.copy in topics(flow.target, flow.topic) else []


def group_offset(flow: Flow) -> int | None:
    with KafkaAdmin(bootstrap_servers=flow.target) as admin:
        found = {str(where): each.offset for where, each in admin.committed_offsets(flow.group).items()}
    return found.get(f"{flow.copy}-1")
