"""kafka-features shows the features that are switched on, and switches them."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from tests.java_tools.conftest import Tool, tool_for
from tests.support.cluster_fixture import KafkaServer, running_kafka
from tests.support.processes import wait_for
from tools.suite.processes import starts_processes

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("features")]

PROTOCOLS = {
    "group.version": ("0", "1", "1"),
    "transaction.version": ("0", "2", "2"),
    "share.version": ("0", "1", "1"),
}
FAILED = "The update failed for all features since the following feature had an error: "


@pytest.fixture(scope="module")
@starts_processes
def kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    with running_kafka(tmp_path_factory.mktemp("features")) as server:
        yield server


@pytest.fixture(scope="module")
def tool(kafka: KafkaServer) -> Tool:
    return tool_for(kafka)


def features(tool: Tool) -> dict[str, tuple[str, str, str]]:
    """The lowest, highest and finalised level of each."""
    said = tool("kafka-features", "describe").stdout
    found = re.findall(
        r"^Feature: (\S+)\s+SupportedMinVersion: (\S+)\s+SupportedMaxVersion: (\S+)\s+"
        r"FinalizedVersionLevel: (\S+)\s+Epoch: \d+",
        said,
        re.MULTILINE,
    )
    return {name: (lowest, highest, level) for name, lowest, highest, level in found}


def test_the_newest_protocols_are_on(tool: Tool) -> None:
    found = features(tool)
    assert {name: found.get(name) for name in PROTOCOLS} == PROTOCOLS
    assert found["metadata.version"][2].startswith("4.")


def test_off_and_on_again(tool: Tool) -> None:
    """A rehearsal changes nothing."""

    def level() -> str:
        return features(tool)["share.version"][2]

    rehearsed = tool("kafka-features", "downgrade", "--feature", "share.version=0", "--dry-run").stdout
    assert rehearsed == "share.version can be downgraded to 0.\n"
    assert level() == "1"
    assert (
        tool("kafka-features", "disable", "--feature", "share.version").stdout
        == "share.version was disabled.\n"
    )
    wait_for(lambda: level() == "0", what="share.version to be off")
    upgraded = tool("kafka-features", "upgrade", "--feature", "share.version=1").stdout
    assert upgraded == "share.version was upgraded to 1.\n"
    wait_for(lambda: level() == "1", what="share.version to be on")


def test_down_and_up_again(tool: Tool) -> None:
    downgraded = tool("kafka-features", "downgrade", "--feature", "transaction.version=1").stdout
    assert downgraded == "transaction.version was downgraded to 1.\n"
    wait_for(lambda: features(tool)["transaction.version"][2] == "1", what="the downgrade")
    tool("kafka-features", "upgrade", "--feature", "transaction.version=2")
    wait_for(lambda: features(tool)["transaction.version"][2] == "2", what="the upgrade")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            ("upgrade", "--feature", "share.version=2"),
            r"Invalid update version 2 for feature share.version\. \w+ \w+ \d+ only supports versions 0-1",
        ),
        (
            ("upgrade", "--feature", "no.such=1"),
            r"Invalid update version 1 for feature no.such\. \w+ \w+ \d+ does not support this feature\.",
        ),
        (
            ("downgrade", "--feature", "group.version=0", "--feature", "share.version=3"),
            r"Invalid update version 3 for feature share.version\.",
        ),
    ],
    ids=["level", "name", "one-of-two"],
)
def test_what_cannot_be_done(tool: Tool, change: tuple[str, ...], reason: str) -> None:
    """All of the changes are made, or none."""
    done = tool("kafka-features", *change, code=1)
    count = change.count("--feature")
    assert f"{count} out of {count} operation(s) failed." in done.stderr
    assert len(re.findall(FAILED + reason, done.stdout)) == count, done.stdout
    assert features(tool)["group.version"][2] == "1"
