"""kafka-configs sets, shows and refuses the configs of groups."""

from __future__ import annotations

import re

import pytest

from tests.java_tools.conftest import Tool

pytestmark = pytest.mark.processes

DEFAULTS = (
    "consumer.heartbeat.interval.ms=5000",
    "consumer.session.timeout.ms=45000",
    "share.delivery.count.limit=5",
    "share.heartbeat.interval.ms=5000",
    "share.partition.max.record.locks=2000",
    "share.record.lock.duration.ms=30000",
    "share.session.timeout.ms=45000",
)


def test_group_configs(tool: Tool, topic: str) -> None:
    changes = ("--add-config", "share.auto.offset.reset=earliest,share.record.lock.duration.ms=20000")
    by_type = ("--entity-type", "groups", "--entity-name", topic)
    altered = tool("kafka-configs", "--alter", *by_type, *changes)
    assert altered.stdout == f"Completed updating config for group {topic}.\n"
    reset = (
        "  share.auto.offset.reset=earliest sensitive=false synonyms={DYNAMIC_GROUP_CONFIG:"
        "share.auto.offset.reset=earliest, DEFAULT_CONFIG:share.auto.offset.reset=latest}"
    )
    lock = (
        "  share.record.lock.duration.ms=20000 sensitive=false synonyms={DYNAMIC_GROUP_CONFIG:"
        "share.record.lock.duration.ms=20000, DEFAULT_CONFIG:group.share.record.lock.duration.ms=30000}"
    )
    described = tool("kafka-configs", "--describe", *by_type).stdout.splitlines()
    assert described == [f"Dynamic configs for group {topic} are:", reset, lock]
    tool("kafka-configs", "--alter", "--group", topic, "--delete-config", "share.record.lock.duration.ms")
    described = tool("kafka-configs", "--describe", "--group", topic).stdout.splitlines()
    assert described == [f"Dynamic configs for group {topic} are:", reset]
    of_all_groups = tool("kafka-configs", "--describe", "--entity-type", "groups").stdout
    assert f"Dynamic configs for group {topic} are:\n{reset}\n" in of_all_groups
    everything = tool("kafka-configs", "--describe", "--group", topic, "--all").stdout.splitlines()
    assert reset in everything
    for line in DEFAULTS:
        name, _, default = line.partition("=")
        assert f"  {line} sensitive=false synonyms={{DEFAULT_CONFIG:group.{name}={default}}}" in everything


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            "share.auto.offset.reset=sometimes",
            r"(?=.*share\.auto\.offset\.reset)(?=.*sometimes)(?=.*earliest)",
        ),
        ("no.such.config=1", r"Unknown group config name: no\.such\.config"),
        (
            "consumer.session.timeout.ms=1",
            r"consumer\.session\.timeout\.ms must be greater than or equal to "
            r"group\.consumer\.min\.session\.timeout\.ms",
        ),
    ],
    ids=["value", "name", "range"],
)
def test_bad_group_configs(tool: Tool, topic: str, change: str, reason: str) -> None:
    refused = tool("kafka-configs", "--alter", "--group", topic, "--add-config", change, code=1)
    assert re.search(f"InvalidConfigurationException: {reason}", refused.stderr)
