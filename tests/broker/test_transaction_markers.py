"""Transactions over disks that fail or are slow: what is decided stays decided, and is carried out when it can be."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from tests.broker.asking import new_topic
from tests.broker.committing import new_group
from tests.broker.conftest import only_penstock
from tests.broker.faulty_disk import FaultyDisk
from tests.broker.transacting import Transactor, committed_values, markers_in, until_settled
from tests.support.wire_client import WireClient

pytestmark = only_penstock

STATE = "__transaction_state-0"
OFFSETS = "__consumer_offsets-0"


@pytest.fixture
def disk() -> FaultyDisk:
    return FaultyDisk()


@pytest.fixture
def broker(disk: FaultyDisk, tmp_path: Path) -> Iterator[InProcessBroker]:
    with InProcessBroker(log_dirs=[tmp_path / "a", tmp_path / "b"], file_system=disk) as running:
        yield running
        disk.is_fast.set()


def away_from(broker: InProcessBroker, partition: str, topic: str) -> int:
    """A partition of the topic that does not share its log directory with another partition."""
    (place,) = (log_dir for log_dir in broker.log_dirs if (log_dir / partition).is_dir())
    return next(index for index in (0, 1) if not (place / f"{topic}-{index}").is_dir())


def test_a_partition_that_is_offline_gets_its_marker_later(broker: InProcessBroker, disk: FaultyDisk) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic = new_topic(client, "orders", partitions=2)
        alice = Transactor(client)
        for partition in (0, 1):
            alice.sent(topic, b"bread", partition=partition)
        lost = away_from(broker, STATE, topic)
        disk.broken = {f"{topic}-{lost}"}
        decided = alice.ask_end(is_commit=True)
        assert (decided.error_code, decided.producer_epoch) == (0, alice.epoch + 1)

        assert alice.describe().transaction_state == "PrepareCommit"
        assert committed_values(client, topic, 1 - lost) == [b"bread"]
        assert alice.ask_end(is_commit=True).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
        assert alice.ask_init().error_code == ErrorCode.CONCURRENT_TRANSACTIONS
        alice.epoch, alice.sequences = alice.epoch + 1, {}
        busy = ErrorCode.CONCURRENT_TRANSACTIONS
        assert alice.refused(topic, partition=1 - lost) == busy, "after it was tried for a while"
        busy = ErrorCode.NOT_ENOUGH_REPLICAS
        assert alice.refused(topic, partition=1 - lost, version=11) == busy, (
            "older clients try again with that"
        )
        assert alice.refused(topic, partition=lost) == ErrorCode.KAFKA_STORAGE_ERROR

    disk.broken = set()
    broker.restart()
    with WireClient(broker.bootstrap_servers) as client:
        alice.client = client
        alice.wait_until_complete()
        assert committed_values(client, topic, lost) == [b"bread"]
        assert committed_values(client, topic, 1 - lost) == [b"bread"]
        assert len(markers_in(client, topic, lost)) == 1
        alice.sent(topic, b"wine", partition=lost)
        alice.commit()
        assert committed_values(client, topic, lost) == [b"bread", b"wine"]


def test_producers_while_the_coordinator_loads(broker: InProcessBroker, disk: FaultyDisk) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic = new_topic(client, "orders", partitions=2)
        alice = Transactor(client)
        alice.sent(topic, b"bread")
    broker.stop_broker()
    disk.slow = {STATE}
    broker.start_broker()
    with WireClient(broker.bootstrap_servers) as client:
        alice.client = client
        loading = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        assert alice.ask_end(is_commit=True).error_code == loading
        assert alice.ask_init().error_code == loading
        assert alice.describe().error_code == loading
        assert alice.refused(topic, partition=1) == ErrorCode.NOT_ENOUGH_REPLICAS
        alice.sent(topic, b"wine")  # where the transaction has records already, nobody needs to be asked
        disk.is_fast.set()
        alice.sent(topic, b"salt", partition=1)
        alice.commit()
        assert committed_values(client, topic) == [b"bread", b"wine"]
        assert committed_values(client, topic, 1) == [b"salt"]


def test_markers_wait_for_the_group_coordinator_to_load(broker: InProcessBroker, disk: FaultyDisk) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic = new_topic(client, "orders", partitions=2)
        group = new_group(client)
        alice = Transactor(client, protocol=1)
        offsets = AddOffsetsToTxnRequest(alice.transactional_id, alice.producer_id, alice.epoch, group)
        assert client.send(offsets).error_code == 0
        alice.sent(topic, b"bread")
        alice.commit()
        assert client.send(offsets).error_code == 0
    broker.stop_broker()
    disk.slow = {OFFSETS}
    broker.start_broker()
    with WireClient(broker.bootstrap_servers) as client:
        alice.client = client
        assert until_settled(lambda: alice.ask_end(is_commit=True)).error_code == 0
        assert alice.describe().transaction_state == "PrepareCommit"
        disk.is_fast.set()
        alice.wait_until_complete()
