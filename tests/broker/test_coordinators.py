"""Coordinators over compacted logs, and coordinators that move to another broker: they know what they knew before."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from tests.broker.asking import new_topic
from tests.broker.classic_members import Member, settle
from tests.broker.committing import all_committed, commit, committed, fetch_group, find_coordinator, new_group
from tests.broker.conftest import only_penstock
from tests.broker.transacting import Transactor, committed_values
from tests.support.penstock_cluster import PATIENCE_SECONDS, PenstockCluster
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

pytestmark = only_penstock

SEGMENT_BYTES = 1 << 20
HASTE = {
    "log.cleaner.backoff.ms": "20",
    "log.initial.task.delay.ms": "20",
    "log.cleaner.min.cleanable.ratio": "0.0",
    "offsets.topic.segment.bytes": str(SEGMENT_BYTES),
    "transaction.state.log.segment.bytes": str(SEGMENT_BYTES),
}
LONG_NOTE = "x" * 4000


@pytest.fixture
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker(HASTE) as running:
        yield running


def stored_bytes(broker: InProcessBroker, topic: str) -> int:
    (log_dir,) = broker.log_dirs
    total = 0
    for path in Path(log_dir, f"{topic}-0").glob("*.log"):
        with suppress(FileNotFoundError):  # compaction has replaced it since
            total += path.stat().st_size
    return total


def commit_until_segments_are_full(client: WireClient, group: str, topic: str) -> int:
    """The last offset that was committed."""
    last = 3 * SEGMENT_BYTES // len(LONG_NOTE)
    for offset in range(last + 1):
        assert commit(client, group, topic, offset, metadata=LONG_NOTE) == 0
    return last


def test_groups_and_their_offsets(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods", 2)
        quiet, busy, inhabited = new_group(client), new_group(client), new_group(client)
        assert commit(client, quiet, "foods", 5, partition=1) == 0
        with Member(broker.bootstrap_servers, inhabited) as member:
            settle(member)
            last = commit_until_segments_are_full(client, busy, "foods")
            wait_for(
                lambda: stored_bytes(broker, "__consumer_offsets") < 2 * SEGMENT_BYTES, what="compaction"
            )
            broker.restart()
            with WireClient(broker.bootstrap_servers) as after:
                find_coordinator(after, quiet)
                assert all_committed(after, quiet) == {("foods", 1): 5}
                assert all_committed(after, busy) == {("foods", 0): last}
            member.client.close()
            member.client = WireClient(broker.bootstrap_servers)
            assert member.heartbeat() == "NONE", "it is still in the same generation"


def test_transactional_ids(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods")
        new_topic(client, "crumbs")
        quiet, busy = Transactor(client), Transactor(client, "x" * len(LONG_NOTE))
        quiet.sent("foods", b"bread")
        quiet.commit()
        quiet.sent("foods", b"wine")
        for _ in range(SEGMENT_BYTES // len(LONG_NOTE)):  # each writes three records
            busy.sent("crumbs", b".")
            busy.commit()
        wait_for(lambda: stored_bytes(broker, "__transaction_state") < 2 * SEGMENT_BYTES, what="compaction")
    broker.restart()
    with WireClient(broker.bootstrap_servers) as client:
        quiet.client = client
        quiet.commit()
        assert committed_values(client, "foods") == [b"bread", b"wine"]


# --- to another broker


GROUP, TRANSACTION = 0, 1


def coordinator_of(cluster: PenstockCluster, key: str, kind: int, asked: int = 3) -> int:
    request = FindCoordinatorRequest(key_type=kind, coordinator_keys=[key])

    def found() -> int:
        (answer,) = cluster.ask(asked, request).coordinators
        return answer.node_id if answer.error_code == 0 else 0

    return wait_for(found, PATIENCE_SECONDS, f"the coordinator of {key}")


def wait_until_moved(cluster: PenstockCluster, key: str, kind: int, old: int) -> int:
    asked = next(number for number, process in cluster.processes.items() if process.alive)
    wait_for(
        lambda: coordinator_of(cluster, key, kind, asked) != old, PATIENCE_SECONDS, "another coordinator"
    )
    return coordinator_of(cluster, key, kind, asked)


@pytest.fixture
@starts_processes
def cluster(penstock_cluster: PenstockCluster) -> Iterator[PenstockCluster]:
    yield penstock_cluster
    penstock_cluster.restore()


@pytest.mark.processes
def test_groups_move_with_their_partition(cluster: PenstockCluster) -> None:
    cluster.create("moving", [[1, 2, 3]])
    group = "on-the-move"
    old = coordinator_of(cluster, group, GROUP)
    with WireClient(cluster.address(old)) as client:
        find_coordinator(client, group)
        assert commit(client, group, "moving", 7) == 0
    for number in cluster.ports.keys() - {old}:
        with WireClient(cluster.address(number)) as client:
            assert commit(client, group, "moving", 8) == ErrorCode.NOT_COORDINATOR
            assert fetch_group(client, group, {"moving": [0]}).error_code == ErrorCode.NOT_COORDINATOR
    cluster.stop(old)
    new = wait_until_moved(cluster, group, GROUP, old)
    with WireClient(cluster.address(new)) as client:
        answers: set[int] = set()

        def is_loaded() -> bool:
            answers.add(code := fetch_group(client, group, {"moving": [0]}).error_code)
            return code == ErrorCode.NONE

        wait_for(is_loaded, PATIENCE_SECONDS, "the group")
        assert answers <= {ErrorCode.NONE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS}
        assert committed(client, group, "moving") == 7
        assert commit(client, group, "moving", 9) == 0
    cluster.start(old)
    cluster.wait_until_whole()
    with WireClient(cluster.address(old)) as client:
        assert commit(client, group, "moving", 10) == ErrorCode.NOT_COORDINATOR


@pytest.mark.processes
def test_a_transaction_is_ended_where_its_coordinator_has_moved(cluster: PenstockCluster) -> None:
    """Its first coordinator was killed, and led what the transaction wrote to."""
    producer = "producer-on-the-move"
    old = coordinator_of(cluster, producer, TRANSACTION)
    others = sorted(cluster.ports.keys() - {old})
    cluster.create("written", [[old, *others]])
    with WireClient(cluster.address(old)) as client:
        transactor = Transactor(client, producer)
        transactor.sent("written", b"bread")
    for number in others:
        with WireClient(cluster.address(number)) as client:
            transactor.client = client
            assert transactor.ask_end(is_commit=True).error_code == ErrorCode.NOT_COORDINATOR
    cluster.kill(old)
    cluster.wait_for_leaders("written", [others[0]])
    new = wait_until_moved(cluster, producer, TRANSACTION, old)
    with WireClient(cluster.address(new)) as client, WireClient(cluster.address(others[0])) as reader:
        assert committed_values(reader, "written") == []
        transactor.client = client
        transactor.commit()
        assert committed_values(reader, "written") == [b"bread"]
