"""Whatever ends in the middle, files have every record once, and readers see nothing half done."""

from __future__ import annotations

import os
import random
import subprocess
from pathlib import Path

import pytest

from penstock.pipeline.connect.connectors.lake import file_systems
from penstock.pipeline.connect.connectors.lake.commits import DataFile, PartitionCommits
from penstock.pipeline.connect.connectors.lake.file_systems import Files, files_of
from penstock.pipeline.connect.connectors.lake.lake_config import SINK_KEYS
from penstock.pipeline.connect.data import SinkRecord
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from tests.pipeline.connect.connectors.lake.faults import Fuse, Step, killed_and_finished, refused_then_done
from tests.pipeline.connect.connectors.lake.lake import (
    ORDERS,
    files,
    leftovers,
    order,
    rows,
    sink_task,
    written,
)
from tests.support.examples import SHARE
from tests.support.processes import wait_for

NAMES = ("_store", "_rename", "_make_parent", "create", "move", "delete", "read", "sizes", "exists")
STEPS: list[Step] = [
    (kind, name)
    for kind in (file_systems.Files, file_systems.LocalFiles)
    for name in NAMES
    if name in vars(kind)
]
FEW = {"partitioner_class": "FieldPartitioner", "partition_field_name": "item"}
"""Three items make three files of each chunk."""


def some_orders(start: int, end: int) -> list[SinkRecord]:
    return [order(number, ("cup", "plate", "bowl")[number % 3]) for number in range(start, end)]


def seen(place: Path) -> list[int]:
    return [row[0] for row in rows(place, "id")] if files(place) else []


@pytest.mark.parametrize("behind", [False, True], ids=["before", "behind"])
def test_a_task_that_is_replaced_at_any_step(tmp_path: Path, behind: bool) -> None:
    """The second one knows only what lies there, and the position that was committed before."""
    step = 0
    while True:
        step += SHARE
        place = tmp_path / str(step)
        safe = written(sink_task(place, **FEW), *some_orders(0, 4))[ORDERS]
        with pytest.MonkeyPatch.context() as patch:
            fuse = Fuse(patch, STEPS, RetriableConnectError, step, behind)
            try:
                written(sink_task(place, **FEW), *some_orders(safe, 9))
            except RetriableConnectError:
                _require_nothing_twice(seen(place))
            if not fuse.has_blown:
                break
        assert written(sink_task(place, **FEW), *some_orders(safe, 12))[ORDERS] == 12
        assert seen(place) == list(range(12)), f"step {step}"
        assert leftovers(place) == []
    assert step > 20


def _require_nothing_twice(found: list[int]) -> None:
    """Files are moved one by one: what was there before, and any whole files of the rest."""
    assert len(set(found)) == len(found)
    assert set(range(4)) <= set(found) <= set(range(9))


@pytest.mark.parametrize("behind", [False, True], ids=["before", "behind"])
def test_a_task_that_tries_again_after_any_step(tmp_path: Path, behind: bool) -> None:
    """The same task is given the same records again, and more of them."""
    step = 0
    while True:
        step += SHARE
        place = tmp_path / str(step)
        task = sink_task(place, flush_size="4", **FEW)
        with pytest.MonkeyPatch.context() as patch:
            fuse = Fuse(patch, STEPS, RetriableConnectError, step, behind)
            for records in (some_orders(0, 5), some_orders(5, 6), some_orders(6, 10)):
                try:
                    task.put(records)
                except RetriableConnectError:
                    task.put(records)
            has_blown = fuse.has_blown
        assert task.pre_commit({ORDERS: 10}) == {ORDERS: 10}
        assert seen(place) == list(range(10)), f"step {step}"
        assert leftovers(place) == []
        if not has_blown:
            break
    assert step > 30


def store(place: Path | dict[str, str]) -> Files:
    where = place if isinstance(place, dict) else {"store.path": str(place)}
    return files_of(SINK_KEYS.parse(where))


def test_a_task_that_was_cut_off_writes_nothing_any_more(place: Path | dict[str, str]) -> None:
    lake = store(place)
    old, new = PartitionCommits(lake, "c", "orders", 0), PartitionCommits(lake, "c", "orders", 0)
    old.recover()
    old.commit(0, 2, [DataFile("topics/a", b"a")])
    new.recover()
    with pytest.raises(ConnectError, match="another task has taken over"):
        old.commit(2, 3, [DataFile("topics/b", b"old")])
    new.commit(2, 4, [DataFile("topics/b", b"new")])
    assert lake.sizes("topics") == {"topics/a": 1, "topics/b": 3}
    assert lake.read("topics/b") == b"new"
    last = PartitionCommits(lake, "c", "orders", 0)
    last.recover()
    assert last.next_offset == 4
    assert [name for name in lake.sizes("_penstock") if not name.endswith(".manifest")] == []


def test_a_chunk_behind_what_is_committed_is_refused(tmp_path: Path) -> None:
    commits = PartitionCommits(store(tmp_path), "c", "orders", 0)
    commits.recover()
    commits.commit(0, 5, [])
    with pytest.raises(ConnectError, match="offset 4 is in a file already, up to 5"):
        commits.commit(4, 6, [])


def test_files_that_somebody_took_away_are_not_missed(tmp_path: Path) -> None:
    written(sink_task(tmp_path), order(0))
    for name in files(tmp_path):
        (tmp_path / "topics" / name).unlink()
    assert written(sink_task(tmp_path), order(1)) == {ORDERS: 2}
    assert seen(tmp_path) == [1]


WRITER = """
import sys
from pathlib import Path
from tests.pipeline.connect.connectors.lake.lake import ORDERS, sink_task
from tests.pipeline.connect.connectors.lake.test_commits import FEW, some_orders

place, start, end = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
task = sink_task(place, flush_size="7", **FEW)
for number in range(start, end, 5):
    task.put(some_orders(number, min(number + 5, end)))
    safe = task.pre_commit({ORDERS: min(number + 5, end)})[ORDERS]
    print(safe, flush=True)
"""


@pytest.mark.processes
def test_a_killed_process_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """Its positions are those that it said last, as a worker would have committed them."""
    end = killed_and_finished(WRITER, tmp_path, random.Random(11))
    assert seen(tmp_path) == list(range(end))
    assert leftovers(tmp_path) == []


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from penstock.pipeline.connect.errors import RetriableConnectError
from tests.pipeline.connect.connectors.lake.lake import ORDERS, sink_task
from tests.pipeline.connect.connectors.lake.test_commits import some_orders

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
task = sink_task(Path(sys.argv[1]), format_class="json")
task.put(some_orders(0, 200))
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
for _ in range(2):
    try:
        task.pre_commit({ORDERS: 200})
    except RetriableConnectError as error:
        print(error, flush=True)
resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
print(task.pre_commit({ORDERS: 200}))
"""


@pytest.mark.processes
def test_a_full_disk_is_waited_for(tmp_path: Path) -> None:
    refused_then_done(FULL_DISK, str(tmp_path), refusal="cannot write")
    assert [row[0] for row in rows(tmp_path, "id", "json")] == list(range(200))
    assert leftovers(tmp_path) == []


@pytest.mark.processes
@pytest.mark.skipif(os.geteuid() != 0, reason="mounts a small file system")
def test_a_file_system_without_room(tmp_path: Path) -> None:
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "lake", str(tmp_path)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("cannot mount here")
    try:
        task = sink_task(tmp_path, format_class="json")
        ballast = tmp_path / "ballast"
        task.put([order(0, "x" * 30_000)])
        ballast.write_bytes(b"x" * 40_000)
        with pytest.raises(RetriableConnectError, match="No space left"):
            task.pre_commit({ORDERS: 1})
        ballast.unlink()
        wait_for(lambda: task.pre_commit({ORDERS: 1}) == {ORDERS: 1}, what="room")
        assert len(files(tmp_path)) == 1
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)
