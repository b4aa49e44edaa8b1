"""A coordinator and the disk below it: loading that takes its time, and writes that fail."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker
from tests.broker.asking import new_topic
from tests.broker.classic_members import Member, settle
from tests.broker.committing import commit, committed, fetch_group, find_coordinator, new_group
from tests.broker.conftest import only_penstock
from tests.broker.faulty_disk import FaultyDisk
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = only_penstock

OFFSETS = "__consumer_offsets-0"


@pytest.fixture
def disk() -> FaultyDisk:
    return FaultyDisk()


@pytest.fixture
def broker(disk: FaultyDisk, tmp_path: Path) -> Iterator[InProcessBroker]:
    with InProcessBroker(log_dirs=[tmp_path / "logs"], file_system=disk) as running:
        yield running
        disk.is_fast.set()


def test_who_asks_while_it_loads_is_told_so(broker: InProcessBroker, disk: FaultyDisk) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic, group = new_topic(client, "foods"), new_group(client)
        assert commit(client, group, topic, 7) == 0
    broker.stop_broker()
    disk.slow = {OFFSETS}
    broker.start_broker()
    with WireClient(broker.bootstrap_servers) as client:
        loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert fetch_group(client, group, None).error_code == loading
        assert commit(client, group, topic, 8) == loading
        with Member(broker.bootstrap_servers, group) as member:
            assert member.join().error_code == loading
        disk.is_fast.set()
        find_coordinator(client, group)
        assert committed(client, group, topic) == 7


def test_a_commit_that_can_not_be_written(broker: InProcessBroker, disk: FaultyDisk) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic, group = new_topic(client, "foods"), new_group(client)
        assert commit(client, group, topic, 7) == 0
        disk.broken = {OFFSETS}
        assert commit(client, group, topic, 8) == ErrorCode.NOT_COORDINATOR
        assert commit(client, group, topic, 9) == ErrorCode.NOT_COORDINATOR, "its directory is offline"
    disk.broken = set()
    broker.restart()
    with WireClient(broker.bootstrap_servers) as client:
        find_coordinator(client, group)
        assert committed(client, group, topic) == 7


def test_whoever_waits_in_a_rebalance_is_told_that_the_coordinator_is_gone(
    broker: InProcessBroker, disk: FaultyDisk
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
            disk.broken = {OFFSETS}
            assert commit(client, "another", topic, 1) == ErrorCode.NOT_COORDINATOR
            assert second.receive_join().error_code == ErrorCode.NOT_COORDINATOR
