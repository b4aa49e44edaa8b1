"""Columns of a source arrive as its records would: the same values, offsets and errors, over a real broker."""

from __future__ import annotations

import json
import multiprocessing
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from penstock.pipeline.connect.data import SourceColumns
from penstock.pipeline.connect.plugins import Plugins
from penstock.pipeline.connect.tasks.clock import TickClock
from penstock.pipeline.connect.tasks.error_policy import ErrorPolicy
from penstock.pipeline.connect.tasks.run import run_task
from penstock.pipeline.connect.tasks.source_encoding import SourceEncoder
from penstock.pipeline.connect.tasks.source_run import TaskTransactions
from penstock.pipeline.connect.tasks.source_writer import BACKLOG_SECONDS, SHARED_SECONDS, due_after_poll
from penstock.pipeline.connect.tasks.stages import make_stages
from penstock.pipeline.connect.tasks.tally import Tally
from penstock.pipeline.connect.tasks.work import TaskWork
from tests.pipeline.connect.tasks.works import JSON, Place
from tests.support.cluster_fixture import KafkaServer

LINES = "penstock.pipeline.connect.connectors.file.source:FileStreamSourceTask"
RECORDS = "tests.pipeline.connect.tasks.some_tasks:LinesAsRecords"
LONG = "org.apache.kafka.connect.converters.LongConverter"
LATIN = {"value.converter.converter.encoding": "ISO-8859-1"}
AS_JSON = {"value.converter": JSON}
PLAIN_JSON = {**AS_JSON, "value.converter.schemas.enable": "false"}


@pytest.fixture
def place(kafka: KafkaServer) -> Place:
    return Place(kafka)


def lines_of(place: Place, file: Path, task: str = LINES, **configs: str) -> TaskWork:
    return replace(place.source("", 0, file=str(file), **configs), task_class=task)


def asked_numbers(place: Place, tmp_path: Path, **configs: str) -> list[str]:
    """The offsets that a tick of `AskedColumns` asks for."""
    asked = tmp_path / "asked"
    run_task(place.source("AskedColumns", 20, asked=str(asked), **configs))
    return asked.read_text().split()


CONTENTS = {
    "lines": b"one\ntwo\n\nthree\n" * 7,
    "returns": b"one\r\ntwo\rthree\n\r\n",
    "no text": b"\xff\xfe\n\xe2\x82\nfine\n",
    "quotes": '"quoted" \\ \t and \u2028 \u00fc \U0001f600\n'.encode() * 3,
    "open": b"one\ntwo\nnot yet",
}


def carried(
    place: Place, directory: Path, task: str, contents: Sequence[str], configs: dict[str, str]
) -> Any:
    """What the task counts, what arrives, and where it would go on, in a file of each content."""
    counts = []
    for content in contents:
        file = directory / content
        file.write_bytes(CONTENTS[content])
        report = run_task(lines_of(place, file, task, **{"batch.size": "3"}, **configs))
        assert report.topics == {place.topic}
        counts.append((report.state, report.error_message, report.polled, report.records, report.bytes))
    arrived = [(each.value, each.key, each.headers) for each in place.records()]
    return counts, arrived, place.stored()


@pytest.mark.parametrize(
    ("configs", "contents"),
    [({}, list(CONTENTS)), (AS_JSON, ["quotes"]), (PLAIN_JSON, ["quotes", "no text"]), (LATIN, ["quotes"])],
    ids=["text", "json", "plain", "latin"],
)
def test_lines_arrive_as_records_would(
    kafka: KafkaServer, tmp_path: Path, configs: dict[str, str], contents: list[str]
) -> None:
    columns = carried(Place(kafka), tmp_path, LINES, contents, configs)
    assert columns == carried(Place(kafka), tmp_path, RECORDS, contents, configs)
    counts, arrived, _ = columns
    assert {count[:2] for count in counts} == {("RUNNING", None)}
    assert sum(len(value) for value, _, _ in arrived) == sum(count[-1] for count in counts) > 0


def test_a_file_that_grows_from_tick_to_tick(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "in"
    for piece in (b"one\ntw", b"o\r", b"\nthree\nfo", b"", b"ur\n"):
        with file.open("ab") as stream:
            stream.write(piece)
        assert run_task(lines_of(place, file, **{"batch.size": "1"})).state == "RUNNING"
    assert place.values() == ["one", "two", "three", "four"]
    assert list(place.stored().values()) == [{"position": file.stat().st_size}]


@pytest.mark.processes
def test_a_killed_attempt_is_repeated_from_where_it_began(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "in"
    lines = [f"line {number}" for number in range(100)]
    file.write_text("".join(f"{line}\n" for line in lines[:30]))
    assert run_task(lines_of(place, file)).records == 30
    file.write_text("".join(f"{line}\n" for line in lines))
    configs = {"transaction.boundary": "interval", "transaction.boundary.interval.ms": "600000"}
    dying = "tests.pipeline.connect.tasks.some_tasks:DyingLines"
    work = replace(lines_of(place, file, dying, **{"batch.size": "10"}, **configs), run_ms=20_000)
    process = multiprocessing.get_context("spawn").Process(target=run_task, args=(work,))
    process.start()
    process.join(60)
    assert process.exitcode == -9
    assert run_task(lines_of(place, file)).records == 70
    assert place.values() == lines


def test_only_the_last_offset_counts(place: Place, tmp_path: Path) -> None:
    assert asked_numbers(place, tmp_path, at_once="7") == ["7", "14", "20"]
    assert place.stored() == {'{"counter":1}': {"number": 20}}
    assert place.values() == [str(number) for number in range(1, 21)]


HOISTED = {
    "transforms": "hoist",
    "transforms.hoist.type": "org.apache.kafka.connect.transforms.HoistField$Value",
    "transforms.hoist.field": "number",
}


@pytest.mark.parametrize(
    ("configs", "last"),
    [
        ({"errors.tolerance": "all"}, (None, b"20")),
        ({"key.converter": "tests.pipeline.connect.tasks.some_tasks.NoneAsText"}, (b"nothing", b"20")),
        (HOISTED, (None, b"{number=20}")),
    ],
    ids=["tolerant", "keys", "transforms"],
)
def test_records_are_made_where_they_are_needed(
    place: Place, tmp_path: Path, configs: dict[str, str], last: tuple[bytes | None, bytes]
) -> None:
    assert asked_numbers(place, tmp_path, **configs) == [str(number) for number in range(1, 21)]
    records = place.records()
    assert (len(records), records[-1].key, records[-1].value) == (20, *last)


def test_a_line_that_cannot_be_converted(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "in"
    file.write_text("one\ntwo\n")
    report = run_task(lines_of(place, file, **{"value.converter": LONG}))
    assert report.state == "FAILED"
    assert "VALUE_CONVERTER" in (report.error_message or "")
    assert "at offset {'position': 4}" in (report.error_message or "")
    report = run_task(lines_of(place, file, **{"value.converter": LONG, "errors.tolerance": "all"}))
    assert (report.state, report.skipped, report.records) == ("RUNNING", 2, 0)
    assert list(place.stored().values()) == [{"position": 8}]


def test_a_line_that_the_producer_refuses(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "in"
    file.write_text(f"before\n{'x' * 5000}\nbehind\n")
    small = {"producer.override.max.request.size": "2000"}
    report = run_task(lines_of(place, file, **small))
    assert report.state == "FAILED"
    assert "at offset {'position': 5008}" in (report.error_message or "")
    assert place.values() == []
    report = run_task(lines_of(place, file, **small, **{"errors.tolerance": "all"}))
    assert (report.state, report.skipped, report.records) == ("RUNNING", 1, 2)
    assert place.values() == ["before", "behind"]


@pytest.mark.parametrize("support", ["enabled", "disabled"])
def test_who_wants_to_hear_of_each_record(place: Place, tmp_path: Path, support: str) -> None:
    file, heard = tmp_path / "in", tmp_path / "heard"
    file.write_text("one\ntwo\n")
    work = lines_of(place, file, "tests.pipeline.connect.tasks.some_tasks:ToldLines", heard=str(heard))
    configs = {**work.worker_configs, "exactly.once.source.support": support}
    report = run_task(replace(work, worker_configs=configs))
    assert (report.state, report.records, report.bytes) == ("RUNNING", 2, 6)
    assert heard.read_text().splitlines() == [
        f"one {{'position': 4}} {place.topic} 0",
        f"two {{'position': 8}} {place.topic} 1",
    ]
    assert place.values() == ["one", "two"]


def test_transforms_find_the_time_of_a_line(place: Place, tmp_path: Path) -> None:
    file = tmp_path / "in"
    file.write_text("one\n")
    before = int(file.stat().st_mtime * 1000)
    configs = {
        **HOISTED,
        "transforms": "hoist,time",
        "transforms.time.type": "org.apache.kafka.connect.transforms.InsertField$Value",
        "transforms.time.timestamp.field": "at",
    }
    assert run_task(lines_of(place, file, **PLAIN_JSON, **configs)).state == "RUNNING"
    [record] = place.records()
    found = json.loads(record.value)
    assert found["number"] == "one"
    assert before <= found["at"] == record.timestamp_ms


def test_columns_stay_columns(place: Place) -> None:
    """From the poll to the producer, if nobody needs records."""
    columns = SourceColumns({}, lambda index: {"at": index}, "t", ["a", "b"], None)
    [(divided, commits)] = TaskTransactions().divided(columns)
    assert (divided, commits) == (columns, None)
    work = place.source("CountingSource", 1)
    stages = make_stages(work, Plugins(""))
    encoder = SourceEncoder(stages, ErrorPolicy(work.name, {}, Tally(), TickClock(0)))
    encoded = encoder.encode(columns)
    stages.close()
    assert encoded.records is encoded.passed is encoded.originals is columns
    assert (encoded.keys, encoded.values, encoded.topics) == (None, ["a", "b"], {"t"})
    assert [record.source_offset for record in encoded.positions] == [{"at": 1}]


def test_only_a_backlog_has_long_transactions() -> None:
    assert due_after_poll(0.5, 1_000_000) == 0.0
    assert due_after_poll(0.0, 1) == SHARED_SECONDS
    assert due_after_poll(0.0, 1_000_000) == BACKLOG_SECONDS > SHARED_SECONDS
