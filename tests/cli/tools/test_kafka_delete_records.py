from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.tools.both_tools import BothTools
from tests.cli.tools.masks import TIMEOUT
from tests.foreign_clients.drivers.model import Client
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records

pytestmark = pytest.mark.processes

TOOL = "kafka-delete-records"


def offset(topic: str, partition: int, before: int) -> dict[str, Any]:
    return {"topic": topic, "partition": partition, "offset": before}


@pytest.fixture
def stage(both: BothTools, client: Client) -> None:
    def prepare(topic: str) -> None:
        client.create_topic(topic, partitions=4, configs=KEEP_FOR_EVER)
        client.produce(topic, numbered_records(20))

    both.each(prepare)


def files(both: BothTools, tmp_path: Path, wanted: dict[str, Any]) -> str:
    """One for each name; the word `{name}` in its path tells which."""
    for name in (both.kafka_name, both.our_name):
        (tmp_path / f"{name}.json").write_text(json.dumps(wanted).replace("{name}", name))
    return str(tmp_path / "{name}.json")


def test_records_are_deleted(both: BothTools, client: Client, stage: None, tmp_path: Path) -> None:
    partitions = [offset("{name}", 0, 7), *(offset("{name}", partition, 0) for partition in (3, 1, 2))]
    file = files(both, tmp_path, {"version": 1, "partitions": partitions})
    words = ("--bootstrap-server", both.bootstrap, "--offset-json-file", file)
    # In Kafka's, the order of partitions differs from run to run.
    assert "low_watermark: 7" in both(TOOL, *words, mutating=True, sort_lines=True).stdout
    assert both.each(lambda topic: client.offsets(topic).beginning) == (7, 7)


def test_all_records(both: BothTools, stage: None, tmp_path: Path) -> None:
    file = files(both, tmp_path, {"partitions": [offset("{name}", 0, -1)]})
    words = ("--bootstrap-server", both.bootstrap, "--offset-json-file", file)
    assert "low_watermark: 20" in both(TOOL, *words, mutating=True).stdout


def test_offsets_beyond_the_end(both: BothTools, client: Client, topic: str, tmp_path: Path) -> None:
    client.create_topic(topic, partitions=9)
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps({"partitions": [offset(topic, partition, 1000) for partition in range(9)]}))
    done = both(TOOL, "--bootstrap-server", both.bootstrap, "--offset-json-file", str(file), sort_lines=True)
    assert done.stdout.count("OffsetOutOfRangeException") == 9


def test_a_topic_that_is_not_there(both: BothTools, hasty: Path, tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps({"partitions": [offset("no-such-topic", 0, 1)]}))
    words = ("--bootstrap-server", both.bootstrap, "--command-config", str(hasty))
    done = both(TOOL, *words, "--offset-json-file", str(file), masks=[TIMEOUT])
    assert done.returncode == 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no json",
        "[]",
        "3",
        '{"version": 2, "partitions": []}',
        '{"version": "1", "partitions": []}',
        '{"version": 1}',
        '{"partitions": {}}',
        '{"partitions": []}',
        ' {"partitions": []} and more',
        '{"partitions": [{"partition": 0, "offset": 1}]}',
        '{"partitions": [{"topic": 5, "partition": 0}]}',
        '{"partitions": [{"topic": "a", "partition": 1.5, "offset": 1}]}',
        '{"partitions": [{"topic": "a", "partition": 3000000000, "offset": 1}]}',
        '{"partitions": [{"topic": "a", "partition": 0}]}',
        '{"partitions": [{"topic": "a", "partition": 0, "offset": null}]}',
        '{"partitions": [{"topic": "a", "partition": 0, "offset": 1}, {"topic": "a", "partition": 0, "offset": 2}]}',
    ],
)
def test_files(both: BothTools, text: str, tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"
    file.write_text(text)
    both(TOOL, "--bootstrap-server", both.bootstrap, "--offset-json-file", str(file))


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--offset-json-file", "x"),
        ("--bootstrap-server", "127.0.0.1:9"),
        ("--bootstrap-server",),
        ("--no-such-flag",),
    ],
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words)


def test_a_file_that_is_not_there(both: BothTools) -> None:
    words = ("--bootstrap-server", both.bootstrap, "--offset-json-file", "no-such-file")
    assert both(TOOL, *words, stderr="first words").returncode == 1


def test_an_unreachable_broker(both: BothTools, hasty: Path, tmp_path: Path) -> None:
    file = tmp_path / "offsets.json"
    file.write_text(json.dumps({"partitions": [offset("a", 0, 1)]}))
    words = ("--bootstrap-server", "127.0.0.1:9", "--command-config", str(hasty))
    both(TOOL, *words, "--offset-json-file", str(file), masks=[TIMEOUT])
