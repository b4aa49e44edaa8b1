"""A coordinator and the disk below it: loading that takes its time, and writes that fail."""

import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import ErrorCode, StorageError
from penstock.log.fs import Bytes, RealFile, RealFileSystem
from penstock.testing import InProcessBroker
from tests.broker.asking import new_topic
from tests.broker.classic_members import Member, settle
from tests.broker.committing import commit, committed, fetch_group, find_coordinator, new_group
from tests.broker.conftest import only_penstock
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = only_penstock

INTERNAL = "__consumer_offsets-"


class Disk(RealFileSystem):
    """A real one, on which the coordinator's files can be made slow to read, or impossible to write."""

    def __init__(self) -> None:
        self.may_read = threading.Event()
        self.may_read.set()
        self.is_full = False

    def open_file(self, path: str, *, create: bool = False) -> RealFile:
        plain = super().open_file(path, create=create)
        if INTERNAL not in path or not path.endswith(".log"):
            return plain
        return WatchedFile(plain, self)


class WatchedFile(RealFile):
    def __init__(self, plain: RealFile, disk: Disk) -> None:
        super().__init__(plain.path, os.dup(plain.fileno()))
        plain.close()
        self.disk = disk

    def pread(self, size: int, position: int) -> bytes:
        if threading.current_thread().name.startswith(("asyncio", "uvloop")):  # loading reads in a thread
            assert self.disk.may_read.wait(30)
        return super().pread(size, position)

    def pwrite(self, data: Bytes, position: int) -> None:
        if self.disk.is_full:
            raise StorageError(f"can't write {self.path}: No space left on device")
        super().pwrite(data, position)


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def broker(disk: Disk, tmp_path: Path) -> Iterator[InProcessBroker]:
    with InProcessBroker(log_dirs=[tmp_path / "logs"], file_system=disk) as running:
        yield running
        disk.may_read.set()


def test_who_asks_while_it_loads_is_told_so(broker: InProcessBroker, disk: Disk) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic, group = new_topic(client, "foods"), new_group(client)
        assert commit(client, group, topic, 7) == 0
    broker.stop_broker()
    disk.may_read.clear()
    broker.start_broker()
    with WireClient(broker.bootstrap_servers) as client:
        loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert fetch_group(client, group, None).error_code == loading
        assert commit(client, group, topic, 8) == loading
        with Member(broker.bootstrap_servers, group) as member:
            assert member.join().error_code == loading
        disk.may_read.set()
        find_coordinator(client, group)
        assert committed(client, group, topic) == 7


def test_a_commit_that_can_not_be_written(broker: InProcessBroker, disk: Disk) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic, group = new_topic(client, "foods"), new_group(client)
        assert commit(client, group, topic, 7) == 0
        disk.is_full = True
        assert commit(client, group, topic, 8) == ErrorCode.NOT_COORDINATOR
        assert commit(client, group, topic, 9) == ErrorCode.NOT_COORDINATOR, "its directory is offline"
    disk.is_full = False
    broker.restart()
    with WireClient(broker.bootstrap_servers) as client:
        find_coordinator(client, group)
        assert committed(client, group, topic) == 7


def test_whoever_waits_in_a_rebalance_is_told_that_the_coordinator_is_gone(
    broker: InProcessBroker, disk: Disk
) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        group, topic = new_group(client), new_topic(client, "foods")
        with (
            Member(broker.bootstrap_servers, group) as first,
            Member(broker.bootstrap_servers, group) as second,
        ):
            settle(first)
            second.join_with_new_id()
            second.post_join()  # waits for the first one to come back
            wait_for(lambda: first.heartbeat() == "REBALANCE_IN_PROGRESS", what="a rebalance")
            disk.is_full = True
            assert commit(client, "another", topic, 1) == ErrorCode.NOT_COORDINATOR
            assert second.receive_join().error_code == ErrorCode.NOT_COORDINATOR
