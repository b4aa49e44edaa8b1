"""Three brokers whose links, to each other and to ZooKeeper, are cut by a test, and whose disks can be full."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.faults.broker_cluster import PATIENCE_SECONDS, BrokerCluster
from tests.support import small_disk
from tests.support.processes import wait_for

DISK_BYTES = 1 << 30
DISK_FAILED = 74
"""The exit code of a broker that has no log directory left."""
SETTINGS = {"replica.lag.time.max.ms": "2500"}


class CuttableCluster(BrokerCluster):
    def __init__(self, directory: Path, zookeeper_connect: str, small_disks: Iterable[int] = ()) -> None:
        super().__init__(directory, zookeeper_connect, settings=SETTINGS)
        self.disks = {number: directory / f"disk-{number}" for number in small_disks}
        self._mounted = ExitStack()

    def log_dir(self, number: int) -> Path:
        return self.disks.get(number, self.directory) / f"broker-{number}"

    # faults

    def fill_disk(self, number: int) -> None:
        """Returns when the broker has ended by it."""
        small_disk.resize(self.disks[number], small_disk.FULL)
        process = self.processes[number]
        wait_for(
            lambda: not process.alive,
            PATIENCE_SECONDS,
            lambda: f"the end of broker {number}, whose disk is full\n{process.log_tail()}",
        )
        assert process.returncode == DISK_FAILED, process.log_tail()

    def make_room(self, number: int) -> None:
        small_disk.resize(self.disks[number], DISK_BYTES)

    # life

    def __enter__(self) -> Self:
        for disk in self.disks.values():
            disk.parent.mkdir(parents=True, exist_ok=True)
            self._mounted.enter_context(small_disk.mounted(disk, DISK_BYTES))
        return super().__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, traceback)
        self._mounted.close()
