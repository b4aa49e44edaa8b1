"""The file connectors' tasks, with real files."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import accumulate
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from penstock.pipeline.connect.connectors.file import source
from penstock.pipeline.connect.connectors.file.sink import FileStreamSinkConnector, FileStreamSinkTask
from penstock.pipeline.connect.connectors.file.source import FileStreamSourceConnector, FileStreamSourceTask
from penstock.pipeline.connect.data import SinkRecord
from penstock.pipeline.connect.errors import ConnectError


class Kept:
    """The offsets that a task finds."""

    def __init__(self, position: Any = None) -> None:
        self.position = position

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        return None if self.position is None else {"position": self.position}


class Context:
    transaction = None
    waits_for: str | None = None

    def __init__(self, position: Any = None) -> None:
        self.configs: Mapping[str, str] = {}
        self.offsets = Kept(position)

    def is_stopping(self) -> bool:
        return True


def started(path: Path, position: Any = None, **more: str) -> FileStreamSourceTask:
    task = FileStreamSourceTask()
    task.context = Context(position)
    task.start({"file": str(path), "topic": "lines", **more})
    return task


def polled(task: FileStreamSourceTask) -> list[tuple[str, int]]:
    records = task.poll() or []
    return [(record.value, record.source_offset["position"]) for record in records]


def test_lines_with_every_ending_and_their_offsets(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes("één\r\ntwo\rthree\n\nopen".encode())
    task = started(path)
    assert polled(task) == [("één", 7), ("two", 11), ("three", 17), ("", 18)]
    assert polled(task) == []
    with path.open("ab") as file:
        file.write(b"ed\r")
    assert polled(task) == []
    with path.open("ab") as file:
        file.write(b"\nlast\n")
    assert polled(task) == [("opened", 26), ("last", 31)]
    task.stop()


BYTES = [b"\n", b"\r", b"\r\n", b"a", b"line", "\u00e9\u20ac".encode(), b"\xe2\x82", b"\xff"]
PIECES = some.lists(some.sampled_from(BYTES)).map(b"".join)


@given(appended=some.lists(PIECES), batch_size=some.integers(1, 4))
def test_lines_are_what_each_would_be_by_itself(appended: list[bytes], batch_size: int) -> None:
    with NamedTemporaryFile() as file:
        task, found = started(Path(file.name), **{"batch.size": str(batch_size)}), []
        for piece in [*appended, b"\n"]:
            file.write(piece)
            file.flush()
            while records := polled(task):
                assert len(records) <= batch_size
                found += records
        task.stop()
    lines = (b"".join(appended) + b"\n").splitlines(keepends=True)
    texts = [line.rstrip(b"\r\n").decode("utf-8", "replace") for line in lines]
    assert found == list(zip(texts, accumulate(map(len, lines)), strict=True))


@pytest.mark.parametrize("end", [b"\n", b"\r\n", "\u00fc\n".encode(), b"\xff\n"])
def test_any_position_is_one_to_go_on_from(tmp_path: Path, end: bytes) -> None:
    """More than is read at once, in batches that do not divide it."""
    path = tmp_path / "in"
    path.write_bytes(b"".join(b"%d" % number * 9 + end for number in range(30_000)))
    task, everything = started(path, **{"batch.size": "7001"}), []
    while records := polled(task):
        everything += records
    task.stop()
    assert len(everything) == 30_000
    for number in (0, 6_999, 7_000, 12_345, 29_998):
        task = started(path, everything[number][1], **{"batch.size": "1"})
        assert polled(task) == [everything[number + 1]]
        task.stop()


def test_lines_that_were_read_are_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_bytes(b"line\n" * 3)
    task = started(path, **{"batch.size": "1"})
    assert polled(task) == [("line", 5)]
    path.write_bytes(b"LINE\n" * 3)  # what was read is not read again
    assert [polled(task), polled(task), polled(task)] == [[("line", 10)], [("line", 15)], []]
    task.stop()


def test_a_line_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "LONGEST_LINE_BYTES", 10)
    path = tmp_path / "in"
    path.write_bytes(b"many short ones\n" * 9 + b"0123456789")
    task = started(path)
    assert len(polled(task)) == 9
    assert polled(task) == []
    with path.open("ab") as file:
        file.write(b"x")
    with pytest.raises(ConnectError, match=r"in: a line is longer than 10 bytes"):
        task.poll()
    task.stop()


def test_records_say_when_they_were_read(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("one\ntwo\n")
    task, before = started(path), int(time.time() * 1000)
    columns = task.poll()
    assert columns is not None
    assert all(before <= record.timestamp <= time.time() * 1000 for record in columns)
    task.stop()


def test_goes_on_where_the_offset_says(tmp_path: Path) -> None:
    path = tmp_path / "in"
    path.write_text("one\ntwo\nthree\n")
    task = started(path, 4, **{"batch.size": "1"})
    assert polled(task) == [("two", 8)]
    assert polled(task) == [("three", 14)]
    task.stop()
    with pytest.raises(ConnectError, match="Offset position is the incorrect type"):
        started(path, "4").poll()


def test_waits_for_the_file(tmp_path: Path) -> None:
    task = started(tmp_path / "later")
    assert task.poll() is None
    (tmp_path / "later").write_text("here\n")
    assert polled(task) == [("here", 5)]
    task.stop()
    with pytest.raises(ConnectError, match="Error while trying to open file"):
        started(tmp_path).poll()


@pytest.mark.parametrize(
    ("partition", "offset", "why"),
    [
        ({"filename": "a"}, {"place": 1}, "contain the key 'position'"),
        ({"filename": "a"}, {"position": "1"}, "expected to be a Long value"),
        ({"filename": "a"}, {"position": -1}, "non-negative"),
        ({"name": "a"}, {"position": 1}, "should contain the key 'filename'"),
    ],
)
def test_offsets_that_make_no_sense(partition: Any, offset: Any, why: str) -> None:
    with pytest.raises(ConnectError, match=why):
        FileStreamSourceConnector().alter_offsets({}, [(partition, offset)])


def test_offsets_that_do() -> None:
    assert FileStreamSourceConnector().alter_offsets(
        {}, [({"filename": "a"}, {"position": 0}), ({"x": 1}, None)]
    )


def test_the_sink_appends(tmp_path: Path) -> None:
    path = tmp_path / "out"
    path.write_text("before\n")
    task = FileStreamSinkTask()
    task.start({"file": str(path)})
    task.put([SinkRecord("t", 0, number, value) for number, value in enumerate(["ü", None, True, 3])])
    task.flush({("t", 0): 4})
    assert path.read_text() == "before\nü\nnull\ntrue\n3\n"
    task.stop()
    with pytest.raises(ConnectError, match="Couldn't find or create file"):
        task.start({"file": str(tmp_path / "no" / "such")})


def test_each_task_of_the_sink_gets_all() -> None:
    connector = FileStreamSinkConnector()
    connector.start({"file": "f"})
    assert connector.task_configs(3) == [{"file": "f"}] * 3


def test_a_file_that_is_not_there_is_told_until_it_is(tmp_path: Path) -> None:
    task = started(tmp_path / "late")
    assert task.poll() is None
    assert (
        task.context.waits_for == f"there is no file {tmp_path / 'late'} where the task runs; it waits for it"
    )
    (tmp_path / "late").write_text("a\n")
    assert polled(task) == [("a", 2)]
    assert task.context.waits_for is None
    task.stop()
