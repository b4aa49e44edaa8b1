"""Whatever ends in the middle and whoever else writes, a Delta table has every record once."""

from __future__ import annotations

import os
import random
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import deltalake
import pytest
from deltalake.exceptions import CommitFailedError

from penstock.pipeline.connect.connectors.lake.delta_tables import DeltaPlace
from penstock.pipeline.connect.connectors.lake.sink import LakeSinkConnector, LakeSinkTask
from penstock.pipeline.connect.data import SchemaBuilder, SinkRecord, Struct
from penstock.pipeline.connect.data.schema import INT32, INT64
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError
from tests.pipeline.connect.connectors.lake.delta import (
    APPLICATION,
    delta_rows,
    delta_task,
    has_table,
    ids,
    table,
)
from tests.pipeline.connect.connectors.lake.faults import Fuse, Step, killed_and_finished, refused_then_done
from tests.pipeline.connect.connectors.lake.lake import ORDERS, order, written

Place = Path | dict[str, str]
STEPS: list[Step] = [
    (DeltaPlace, "opened"),
    (DeltaPlace, "create"),
    (deltalake.DeltaTable, "update_incremental"),
    (deltalake, "write_deltalake"),
]


def orders(start: int, end: int) -> list[SinkRecord]:
    return [order(offset) for offset in range(start, end)]


def seen(place: Path) -> list[int]:
    return ids(place) if has_table(place) else []


@pytest.mark.parametrize("behind", [False, True], ids=["before", "behind"])
@pytest.mark.parametrize("begun", [False, True], ids=["no table", "a table"])
def test_a_task_that_is_replaced_at_any_step(tmp_path: Path, behind: bool, begun: bool) -> None:
    step = 0
    while True:
        step += 1
        place = tmp_path / str(step)
        safe = written(delta_task(place), *orders(0, 4))[ORDERS] if begun else 0
        with pytest.MonkeyPatch.context() as patch:
            fuse = Fuse(patch, STEPS, OSError, step, behind)
            try:
                written(delta_task(place), *orders(safe, 9))
            except (RetriableConnectError, OSError):
                assert seen(place) in (list(range(safe)), list(range(9)))
            if not fuse.has_blown:
                break
        assert written(delta_task(place), *orders(safe, 12))[ORDERS] == 12
        assert ids(place) == list(range(12)), f"step {step}"
    assert step > 3


@pytest.mark.parametrize("behind", [False, True], ids=["before", "behind"])
def test_a_task_that_tries_again_after_any_step(tmp_path: Path, behind: bool) -> None:
    step = 0
    while True:
        step += 1
        place = tmp_path / str(step)
        task = delta_task(place, flush_size="4")
        with pytest.MonkeyPatch.context() as patch:
            fuse = Fuse(patch, STEPS, OSError, step, behind)
            for records in (orders(0, 5), orders(5, 6), orders(6, 10)):
                try:
                    task.put(records)
                except (RetriableConnectError, OSError):
                    task.put(records)
            has_blown = fuse.has_blown
        assert task.pre_commit({ORDERS: 10}) == {ORDERS: 10}
        assert ids(place) == list(range(10)), f"step {step}"
        if not has_blown:
            break
    assert step > 6


def test_a_commit_whose_answer_is_lost_is_no_conflict(tmp_path: Path) -> None:
    """As with a store's put that is sent again and then meets itself."""
    task = delta_task(tmp_path)
    written(task, *orders(0, 2))
    really = deltalake.write_deltalake

    def meets_itself(*arguments: Any, **more: Any) -> None:
        really(*arguments, **more)
        raise CommitFailedError("Concurrent transaction failed.")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deltalake, "write_deltalake", meets_itself)
        assert written(task, *orders(2, 5)) == {ORDERS: 5}
    assert written(task, *orders(5, 6)) == {ORDERS: 6}
    assert ids(tmp_path) == list(range(6))


LATE = {"rotate_interval_ms": str(10**15)}
"""Only full chunks are written."""


def test_a_task_that_was_cut_off_writes_nothing_any_more(place: Place) -> None:
    old, new = delta_task(place, flush_size="2", **LATE), delta_task(place, flush_size="3", **LATE)
    old.put(orders(0, 3))
    new.put(orders(2, 5))
    old.put(orders(3, 4))
    assert ids(place) == list(range(5)), "the second chunk of the old one is there already"
    old.put(orders(5, 6))
    new.put(orders(5, 8))
    with pytest.raises(ConnectError, match="another task has taken over penstock/to-lake/orders-0"):
        old.put([order(8)])
    assert ids(place) == list(range(8))
    assert written(delta_task(place), *orders(5, 9)) == {ORDERS: 9}
    assert ids(place) == list(range(9))


def test_the_same_chunk_of_two_tasks_is_there_once(place: Place) -> None:
    """What the second one has not seen yet got in between its look and its commit."""
    first, second = delta_task(place, flush_size="2"), delta_task(place, flush_size="2")
    first.put(orders(0, 1))
    second.put(orders(0, 1))
    really = deltalake.write_deltalake

    def late(*arguments: Any, **more: Any) -> None:
        patch.undo()
        first.put(orders(1, 2))
        really(*arguments, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(deltalake, "write_deltalake", late)
        second.put(orders(1, 2))
    assert ids(place) == [0, 1]
    second.put(orders(2, 4))
    with pytest.raises(ConnectError, match="another task has taken over"):
        first.put([order(2), order(4)])
    assert ids(place) == [0, 1, 2, 3]


def test_tasks_that_race_for_one_partition(place: Place) -> None:
    """All of them think that it is theirs; those that lose are started anew."""
    rounds = 8 if isinstance(place, Path) else 3

    def run(chunk: int) -> None:
        done = 0
        while done < rounds * 6:
            task = delta_task(place, flush_size=str(chunk))
            try:
                done = written(task, *orders(0, rounds * 6))[ORDERS]
            except ConnectError as error:
                if not re.search("another task has taken over|in the table already", str(error)):
                    raise

    in_threads(run, 2, 3, 4)
    assert ids(place) == list(range(rounds * 6))


def test_partitions_and_new_columns_at_the_same_time(place: Place) -> None:
    """Four tasks begin with no table, each with columns of its own."""
    chunks = 6 if isinstance(place, Path) else 3

    def run(partition: int) -> None:
        task = delta_task(place, flush_size="5")
        for chunk in range(chunks):
            records = [_of(partition, chunk, offset) for offset in range(chunk * 5, chunk * 5 + 5)]
            _until_done(task, records)

    in_threads(run, 0, 1, 2, 3)
    rows = delta_rows(place)
    expected = sorted(p * 1000 + offset for p in range(4) for offset in range(chunks * 5))
    assert sorted(row["id"] for row in rows) == expected
    assert set(rows[0]) == {"id", *(f"p{p}_{chunk}" for p in range(4) for chunk in range(chunks))}
    assert all(row[_name(row)] == row["id"] for row in rows)


def _name(row: dict[str, Any]) -> str:
    return f"p{row['id'] // 1000}_{row['id'] % 1000 // 5}"


def _of(partition: int, chunk: int, offset: int) -> SinkRecord:
    number = partition * 1000 + offset
    schema = SchemaBuilder.struct().field("id", INT64).field(f"p{partition}_{chunk}", INT32).build()
    return SinkRecord("orders", partition, offset, Struct.of(schema, [number, number]), schema, timestamp=1)


def _until_done(task: LakeSinkTask, records: list[SinkRecord]) -> None:
    """As a worker does: what is put is put again as long as the task says so."""
    for _ in range(50):
        try:
            return task.put(records)
        except RetriableConnectError:
            continue
    raise AssertionError("never got through")


def in_threads(run: Callable[[int], None], *arguments: int) -> None:
    errors: list[BaseException] = []

    def caught(argument: int) -> None:
        try:
            run(argument)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=caught, args=(each,)) for each in arguments]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    if errors:
        raise errors[0]


@pytest.mark.parametrize("offset", [2, None, 0])
def test_records_that_are_read_again_are_written_again(place: Place, offset: int | None) -> None:
    old = delta_task(place)
    written(old, *orders(0, 5))
    where = place if isinstance(place, dict) else {"store.path": str(place)}
    configs = {"name": "to-lake", "format.class": "delta", **where}
    assert LakeSinkConnector().alter_offsets(configs, {ORDERS: offset, ("orders", 7): 3, ("other", 0): None})
    with pytest.raises(ConnectError, match="another task has taken over"):
        written(old, *orders(5, 6))
    assert written(delta_task(place), *orders(offset or 0, 6)) == {ORDERS: 6}
    assert ids(place) == sorted([*range(5), *range(offset or 0, 6)])


def test_offsets_that_are_set_before_there_is_a_table(tmp_path: Path) -> None:
    configs = {"name": "to-lake", "format.class": "delta", "store.path": str(tmp_path)}
    assert LakeSinkConnector().alter_offsets(configs, {ORDERS: 3})
    assert written(delta_task(tmp_path), *orders(3, 5)) == {ORDERS: 5}
    assert ids(tmp_path) == [3, 4]


def test_two_connectors_have_positions_of_their_own(tmp_path: Path) -> None:
    written(delta_task(tmp_path), *orders(0, 2))
    other = delta_task(tmp_path)
    other.start({"name": "other", "store.path": str(tmp_path), "format.class": "delta"})
    written(other, *orders(0, 2))
    assert ids(tmp_path) == [0, 0, 1, 1]


def test_positions_outlast_the_log_and_the_files(tmp_path: Path) -> None:
    """Others compact the table, and its log becomes a checkpoint, while a task writes."""
    task = delta_task(tmp_path)
    written(task, *orders(0, 2))
    written(task, *orders(2, 4))
    other = table(tmp_path)
    other.optimize.compact()
    other.vacuum(0, dry_run=False, enforce_retention_duration=False)
    other.create_checkpoint()
    log = tmp_path / "topics/orders/_delta_log"
    for each in log.glob("*.json"):
        if int(each.stem) < other.version():
            each.unlink()
    assert written(task, *orders(4, 5)) == {ORDERS: 5}
    assert table(tmp_path).transaction_version(APPLICATION) == 5
    assert written(delta_task(tmp_path), *orders(0, 6)) == {ORDERS: 6}
    assert ids(tmp_path) == list(range(6))


def test_a_position_is_told_when_its_commit_is_on_the_disk(tmp_path: Path) -> None:
    flushed: set[str] = set()
    really = os.fsync

    def watched(opened: int) -> None:
        flushed.add(os.path.relpath(os.readlink(f"/proc/self/fd/{opened}"), tmp_path / "topics"))
        really(opened)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", watched)
        by_item = {"partitioner_class": "FieldPartitioner", "partition_field_name": "item"}
        written(delta_task(tmp_path, **by_item), order(0), order(1, "a b/ü"))
    below = [each for each in (tmp_path / "topics/orders").rglob("*") if not each.name.startswith("_last")]
    assert flushed == {".", "orders", *(str(each.relative_to(tmp_path / "topics")) for each in below)}
    assert sum(name.endswith(".parquet") for name in flushed) == 2


WRITER = """
import sys
from pathlib import Path
from tests.pipeline.connect.connectors.lake.delta import delta_task
from tests.pipeline.connect.connectors.lake.lake import ORDERS
from tests.pipeline.connect.connectors.lake.test_delta_chunks import orders

place, start, end = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
task = delta_task(place, flush_size="7")
for number in range(start, end, 5):
    task.put(orders(number, min(number + 5, end)))
    print(task.pre_commit({ORDERS: min(number + 5, end)})[ORDERS], flush=True)
"""


@pytest.mark.processes
def test_a_killed_process_loses_and_repeats_nothing(tmp_path: Path) -> None:
    """Its positions are those that it said last, as a worker would have committed them."""
    end = killed_and_finished(WRITER, tmp_path, random.Random(12))
    assert ids(tmp_path) == list(range(end))


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
from penstock.pipeline.connect.errors import RetriableConnectError
from tests.pipeline.connect.connectors.lake.delta import delta_task
from tests.pipeline.connect.connectors.lake.lake import ORDERS, written
from tests.pipeline.connect.connectors.lake.test_delta_chunks import orders

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
task = delta_task(Path(sys.argv[1]))
written(task, *orders(0, 10))
task.put(orders(10, 200))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), hard))
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
    refused_then_done(FULL_DISK, str(tmp_path), "300", refusal="cannot write to the table")
    assert ids(tmp_path) == list(range(200))
