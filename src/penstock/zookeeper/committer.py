"""Group commit: batches of the state made durable and then released, one after the other.

Requests are executed while the disk is busy with an earlier batch; all of them share the next write and the next
fsync, which runs in a thread. A batch without transactions needs no disk, but waits its turn.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from penstock.zookeeper.snapshot import Snapshot
from penstock.zookeeper.state import Batch, ServerState
from penstock.zookeeper.storage import Storage

log = logging.getLogger(__name__)


class Committer:
    def __init__(
        self,
        state: ServerState,
        storage: Storage | None,
        release: Callable[[Batch], None],
        on_failure: Callable[[BaseException], None],
        *,
        snap_count: int,
        snap_size_bytes: int,
    ) -> None:
        self._state = state
        self._storage = storage
        self._release = release
        self._on_failure = on_failure
        self._loop = asyncio.get_running_loop()
        self._disk = ThreadPoolExecutor(1, "zookeeper-journal")
        self._snapshots = ThreadPoolExecutor(1, "zookeeper-snapshot")
        self._writing: asyncio.Future[None] | None = None
        self._snapshot: asyncio.Future[None] | None = None
        self._snap_count = snap_count
        self._snap_size_bytes = snap_size_bytes
        self._scheduled = False
        self._failed = False

    def schedule(self) -> None:
        """Commits at the end of this turn of the event loop, or when the disk is free."""
        if not self._scheduled and self._writing is None and not self._failed:
            self._scheduled = True
            self._loop.call_soon(self._commit)

    def _commit(self) -> None:
        self._scheduled = False
        if self._state.batch.is_empty or self._failed or self._writing is not None:
            return
        batch = self._state.take_batch()
        if self._storage is None or not batch.records:
            self._release(batch)
            return
        snapshot = Snapshot.of(self._state.tree) if self._is_snapshot_due(self._storage) else None
        if self._storage.waits_for_disk:
            self._writing = self._loop.run_in_executor(self._disk, self._write, batch, snapshot)
            self._writing.add_done_callback(lambda writing: self._on_written(batch, snapshot, writing))
        else:
            self._write_now(batch, snapshot)

    def _write(self, batch: Batch, snapshot: Snapshot | None) -> None:
        """Runs in the thread of the disk. What follows a snapshot goes to a new journal."""
        assert self._storage is not None
        self._storage.append(batch.records)
        if snapshot is not None:
            self._storage.begin_snapshot(snapshot.last_zxid + 1)

    def _write_now(self, batch: Batch, snapshot: Snapshot | None) -> None:
        try:
            self._write(batch, snapshot)
        except Exception as error:
            self._fail(error)
            return
        self._on_durable(batch, snapshot)

    def _on_written(self, batch: Batch, snapshot: Snapshot | None, writing: "asyncio.Future[None]") -> None:
        self._writing = None
        error = writing.exception()
        if error is not None:
            self._fail(error)
            return
        self._on_durable(batch, snapshot)
        self._commit()

    def _on_durable(self, batch: Batch, snapshot: Snapshot | None) -> None:
        if snapshot is not None and self._storage is not None:
            write = self._storage.write_snapshot
            self._snapshot = self._loop.run_in_executor(self._snapshots, write, snapshot)
            self._snapshot.add_done_callback(self._on_snapshot_written)
        self._release(batch)

    def _is_snapshot_due(self, storage: Storage) -> bool:
        return self._snapshot is None and (
            storage.transactions_since_snapshot >= self._snap_count
            or storage.journal_bytes >= self._snap_size_bytes
        )

    def _on_snapshot_written(self, writing: "asyncio.Future[None]") -> None:
        """A snapshot that fails costs nothing but a longer restart; the next one is tried in its turn."""
        self._snapshot = None
        error = writing.exception()
        if error is not None:
            log.error("a snapshot could not be written, the journals are kept: %s", error)

    def _fail(self, error: BaseException) -> None:
        self._failed = True
        self._on_failure(error)

    async def drain(self) -> None:
        """Waits until all that was executed is durable and released."""
        while not self._failed and (self._writing is not None or not self._state.batch.is_empty):
            if self._writing is None:
                self._commit()
            else:
                await asyncio.wait([self._writing])
                await asyncio.sleep(0)

    async def close(self) -> None:
        await self.drain()
        if self._snapshot is not None:
            await asyncio.wait([self._snapshot])
        self._disk.shutdown()
        self._snapshots.shutdown()
