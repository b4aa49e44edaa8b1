"""Transactions that outlive restarts, topics, records and their own time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.broker.shard_log import build_batches
from penstock.errors import ErrorCode
from penstock.log.fs import RealFileSystem
from penstock.log.partition_log import PartitionLog
from penstock.machine import NewRecord
from penstock.settings.topic import TopicSettings
from penstock.testing import InProcessBroker
from penstock.txn.transaction import State, Transaction, encode_transaction
from penstock.types import TopicPartition
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.txn_offset_commit import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from tests.broker.asking import (
    batch_of,
    fetch_one,
    log_end_offset,
    metadata,
    new_topic,
    produced,
    unique_topic,
)
from tests.broker.committing import committed, new_group
from tests.broker.platform import Platform
from tests.broker.transacting import (
    READ_COMMITTED,
    Transactor,
    committed_values,
    markers_in,
    producers_of,
    stable_end,
)
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes


@pytest.fixture(params=[False, True], ids=["stopped", "killed"])
def kill(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
@starts_processes
def platform(tmp_path: Path) -> Iterator[Platform]:
    settings = {
        "transaction.state.log.num.partitions": "2",
        "transaction.state.log.replication.factor": "1",
        "transaction.state.log.min.isr": "1",
        "offsets.topic.num.partitions": "1",
        "offsets.topic.replication.factor": "1",
    }
    with Platform(tmp_path, settings) as running:
        yield running


@pytest.mark.processes
def test_an_open_transaction_goes_on_after_a_restart(platform: Platform, kill: bool) -> None:
    with WireClient(platform.bootstrap) as client:
        topic = new_topic(client, "orders", partitions=2)
        alice = Transactor(client)
        alice.sent(topic, b"before")
        bob = Transactor(client)
        bob.sent(topic, b"never", partition=1)
        carol = Transactor(client)
        carol.sent(topic, b"done", partition=1)
        carol.commit()
    platform.restart_broker(kill=kill)
    with WireClient(platform.bootstrap) as client:
        alice.client = bob.client = carol.client = client
        assert stable_end(client, topic) == 0
        assert [one.current_txn_start_offset for one in producers_of(client, topic)] == [0]
        alice.sent(topic, b"after")
        alice.commit()
        assert committed_values(client, topic) == [b"before", b"after"]
        assert committed_values(client, topic, 1) == []
        heir = Transactor(client, bob.transactional_id)
        assert committed_values(client, topic, 1) == [b"done"]
        assert bob.refused(topic, partition=1) == ErrorCode.INVALID_PRODUCER_EPOCH
        carol.sent(topic, b"more", partition=1)
        carol.commit()
        heir.sent(topic, b"his", partition=1)
        heir.commit()
        assert committed_values(client, topic, 1) == [b"done", b"more", b"his"]


@pytest.mark.processes
def test_offsets_committed_in_a_transaction_outlive_a_crash(platform: Platform) -> None:
    with WireClient(platform.bootstrap) as client:
        topic = new_topic(client, "orders")
        group = new_group(client)
        alice, bob = Transactor(client), Transactor(client)
        assert commit_offset(alice, group, topic, 5) == ErrorCode.NONE
        alice.commit()
        assert commit_offset(bob, group, topic, 9) == ErrorCode.NONE
        assert committed(client, group, topic) == 5
    platform.restart_broker(kill=True)
    with WireClient(platform.bootstrap) as client:
        bob.client = client
        wait_for(lambda: committed(client, group, topic) == 5, what="offsets to load")
        bob.commit()
        assert committed(client, group, topic) == 9


def commit_offset(alice: Transactor, group: str, topic: str, offset: int, version: int = 5) -> ErrorCode:
    wanted = TxnOffsetCommitRequestTopic(topic, [TxnOffsetCommitRequestPartition(0, offset)])
    request = TxnOffsetCommitRequest(
        alice.transactional_id, group, alice.producer_id, alice.epoch, topics=[wanted]
    )
    return ErrorCode(alice.client.send(request, version).topics[0].partitions[0].error_code)


def test_offsets_count_when_the_transaction_is_committed(client: WireClient, topic: str) -> None:
    group = new_group(client)
    alice = Transactor(client)
    for offset, is_commit in ((3, True), (7, False), (8, True)):
        before = committed(client, group, topic)
        assert commit_offset(alice, group, topic, offset) == ErrorCode.NONE
        assert committed(client, group, topic) == before
        alice.end(is_commit=is_commit)
        assert committed(client, group, topic) == (offset if is_commit else before)


@pytest.mark.parametrize(
    ("version", "code"), [(3, ErrorCode.INVALID_TXN_STATE), (4, ErrorCode.TRANSACTION_ABORTABLE)]
)
def test_in_protocol_1_offsets_have_to_be_added_first(
    client: WireClient, topic: str, version: int, code: ErrorCode
) -> None:
    group = new_group(client)
    assert commit_offset(Transactor(client, protocol=1), group, topic, 1, version) == code


def test_offsets_of_a_fenced_producer(client: WireClient, topic: str) -> None:
    group = new_group(client)
    alice = Transactor(client)
    Transactor(client, alice.transactional_id)
    for version in (4, 5):
        assert commit_offset(alice, group, topic, 1, version) == ErrorCode.INVALID_PRODUCER_EPOCH


# what was decided before a crash


def leave_prepared(broker: InProcessBroker, transaction: Transaction) -> None:
    """As if the broker had crashed after a transaction was decided, and before its markers were written."""
    directory = broker.log_dirs[0] / "__transaction_state-0"
    where = TopicPartition("__transaction_state", 0)
    log = PartitionLog.open(RealFileSystem(), directory, where, TopicSettings(), topic_id=None, now_ms=0)
    batches = build_batches([NewRecord(*encode_transaction(transaction), 1)], None, 0, log.settings)
    log.append_as_leader(batches, leader_epoch=0, now_ms=0)
    log.close()


@pytest.mark.parametrize("is_commit", [True, False])
def test_what_was_prepared_is_completed(broker: InProcessBroker, is_commit: bool) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic = unique_topic(client, partitions=2)
        alice = Transactor(client)
        for partition in (0, 1):
            alice.sent(topic, b"bread", partition=partition)
        state = alice.describe()
    broker.stop_broker()
    prepared = Transaction(
        alice.transactional_id,
        alice.producer_id,
        alice.epoch + 1,
        alice.timeout_ms,
        State.PREPARE_COMMIT if is_commit else State.PREPARE_ABORT,
        frozenset({TopicPartition(topic, 0), TopicPartition(topic, 1), TopicPartition("gone", 0)}),
        state.transaction_start_time_ms,
        state.transaction_start_time_ms,
        client_transaction_version=2,
    )
    leave_prepared(broker, prepared)
    broker.start_broker()
    with WireClient(broker.bootstrap_servers) as client:
        alice.client = client
        alice.wait_until_complete()
        kind = "commit" if is_commit else "abort"
        for partition in (0, 1):
            assert markers_in(client, topic, partition) == [(kind, alice.producer_id, alice.epoch + 1)]
            assert committed_values(client, topic, partition) == ([b"bread"] if is_commit else [])
        repeated = alice.ask_end(is_commit=is_commit)
        assert (repeated.error_code, repeated.producer_epoch) == (0, alice.epoch + 1)


# time


def test_a_transaction_that_takes_too_long_is_aborted() -> None:
    settings = {"transaction.abort.timed.out.transaction.cleanup.interval.ms": "20"}
    with InProcessBroker(settings) as broker, WireClient(broker.bootstrap_servers) as client:
        topic = unique_topic(client)
        alice = Transactor(client, timeout_ms=50)
        alice.sent(topic, b"bread")
        wait_for(lambda: markers_in(client, topic), what="the transaction to be aborted")
        assert markers_in(client, topic) == [("abort", alice.producer_id, alice.epoch + 1)]
        assert alice.ask_end(is_commit=True).error_code == ErrorCode.INVALID_TXN_STATE
        assert alice.refused(topic) == ErrorCode.INVALID_PRODUCER_EPOCH
        assert committed_values(client, topic) == []


def test_transactional_ids_that_nobody_uses_are_forgotten() -> None:
    settings = {
        "transactional.id.expiration.ms": "50",
        "transaction.remove.expired.transaction.cleanup.interval.ms": "20",
    }
    with InProcessBroker(settings) as broker, WireClient(broker.bootstrap_servers) as client:
        alice = Transactor(client)
        gone = ErrorCode.TRANSACTIONAL_ID_NOT_FOUND
        wait_for(lambda: alice.describe().error_code == gone, what="the transactional id to expire")
        assert alice.ask_end(is_commit=False).error_code == ErrorCode.INVALID_PRODUCER_ID_MAPPING
        before = alice.producer_id
        alice.init()
        assert (alice.producer_id > before, alice.epoch) == (True, 0)


# partitions that change meanwhile


def test_a_topic_is_deleted_while_a_transaction_is_open(client: WireClient) -> None:
    stays, goes = unique_topic(client), unique_topic(client)
    alice = Transactor(client)
    for topic in (stays, goes):
        alice.sent(topic, b"bread")
    deletion = DeleteTopicsRequest(topics=[DeleteTopicState(name=goes)], timeout_ms=30_000)
    assert client.send(deletion).responses[0].error_code == 0
    wait_for(lambda: metadata(client, goes).topics[0].error_code != 0, what="the topic to go")
    alice.commit()
    assert committed_values(client, stays) == [b"bread"]


def test_records_are_deleted_while_a_transaction_is_open(client: WireClient, topic: str) -> None:
    alice = Transactor(client)
    alice.sent(topic, b"bread", b"wine")
    alice.sent(topic, b"salt")
    partition = DeleteRecordsPartition(0, 2)
    request = DeleteRecordsRequest([DeleteRecordsTopic(topic, [partition])], 30_000)
    (result,) = client.send(request).topics[0].partitions
    assert (result.error_code, result.low_watermark) == (0, 2)
    produced(client, topic, batch_of(b"plain"))
    data = fetch_one(client, topic, 2, isolation_level=READ_COMMITTED)
    assert (data.log_start_offset, data.last_stable_offset, data.high_watermark) == (2, 2, 4)
    assert stable_end(client, topic) == 2
    alice.abort()
    assert stable_end(client, topic) == log_end_offset(client, topic) == 5
    data = fetch_one(client, topic, 2, isolation_level=READ_COMMITTED)
    assert [(one.producer_id, one.first_offset) for one in data.aborted_transactions] == [
        (alice.producer_id, 0)
    ]
