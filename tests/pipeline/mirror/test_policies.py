"""Names of copies, and what is told from them."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from penstock.errors import ConfigError
from penstock.pipeline.mirror.configs import offset_syncs_topic, replication_policy

WEST = {"source.cluster.alias": "west"}
IDENTITY = {**WEST, "replication.policy.class": "org.apache.kafka.connect.mirror.IdentityReplicationPolicy"}


def test_the_default_policy() -> None:
    policy = replication_policy(WEST)
    assert policy.remote_topic("west", "orders") == "west.orders"
    assert policy.topic_source("west.orders") == "west"
    assert policy.topic_source("orders") is None
    assert policy.topic_source("orders.") is None
    assert policy.upstream_topic("east.west.orders") == "west.orders"
    assert policy.original_topic("east.west.orders") == "orders"
    assert policy.offset_syncs_topic("east") == "mm2-offset-syncs.east.internal"
    assert policy.checkpoints_topic("west") == "west.checkpoints.internal"


@pytest.mark.parametrize(
    ("topic", "is_cycle"),
    [("orders", False), ("west.orders", False), ("east.orders", True), ("west.east.orders", True)],
)
def test_cycles(topic: str, is_cycle: bool) -> None:
    assert replication_policy(WEST).is_cycle(topic, "east") is is_cycle


def test_another_separator() -> None:
    policy = replication_policy({**WEST, "replication.policy.separator": "--"})
    assert policy.remote_topic("west", "a.b") == "west--a.b"
    assert policy.topic_source("west--a.b") == "west"
    assert policy.checkpoints_topic("west") == "west--checkpoints--internal"
    assert policy.is_internal_topic("mm2-offsets--internal")
    given = {
        **WEST,
        "replication.policy.separator": "--",
        "replication.policy.internal.topic.separator.enabled": "false",
    }
    assert replication_policy(given).checkpoints_topic("west") == "west.checkpoints.internal"


def test_the_identity_policy() -> None:
    policy = replication_policy(IDENTITY)
    assert policy.remote_topic("west", "orders") == "orders"
    assert policy.topic_source("orders") == "west"
    assert policy.upstream_topic("orders") == "orders"
    assert policy.original_topic("orders") == "orders"
    assert policy.remote_topic("west", "heartbeats") == "west.heartbeats"
    assert policy.is_heartbeats_topic("west.heartbeats")
    assert not policy.is_cycle("orders", "east")


@pytest.mark.parametrize(
    "topic", ["__consumer_offsets", "mm2-configs.west.internal", "west.checkpoints.internal"]
)
def test_internal_topics(topic: str) -> None:
    assert replication_policy(WEST).is_internal_topic(topic)
    assert not replication_policy(WEST).is_internal_topic(f"a{topic}x")


def test_offset_syncs_have_the_other_clusters_alias() -> None:
    both = {**WEST, "target.cluster.alias": "east"}
    assert offset_syncs_topic(both) == ("source", "mm2-offset-syncs.east.internal")
    assert offset_syncs_topic({**both, "offset-syncs.topic.location": "target"}) == (
        "target",
        "mm2-offset-syncs.west.internal",
    )


@pytest.mark.parametrize("name", ["mine", "tidepolicy:Mine", "tidepolicy.Mine"])
def test_a_policy_in_python(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    (tmp_path / "tidepolicy.py").write_text(
        "from penstock.pipeline.mirror.policies import IdentityReplicationPolicy as Mine\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "tidepolicy", raising=False)
    given = {**WEST, "replication.policy.class": name}
    with pytest.raises(ConfigError, match="could not be found"):
        replication_policy(given)
    assert "tidepolicy" not in sys.modules
    info = tmp_path / "tides-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tides\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[penstock.connect]\nmine = tidepolicy:Mine\n")
    importlib.invalidate_caches()
    assert replication_policy(given).remote_topic("west", "orders") == "orders"


def test_a_policy_that_is_not_there() -> None:
    with pytest.raises(
        ConfigError, match=r"replication.policy.class: Class com.example.Mine could not be found"
    ):
        replication_policy({**WEST, "replication.policy.class": "com.example.Mine"})
