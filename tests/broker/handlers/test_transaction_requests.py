"""The requests of the transactional APIs one by one: versions, refusals, repeated requests."""

from typing import Any

import pytest

from penstock.errors import ErrorCode
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from penstock.wire.messages.describe_transactions import DescribeTransactionsRequest
from penstock.wire.messages.end_txn import EndTxnRequest
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.messages.list_transactions import ListTransactionsRequest
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerTopic,
    WriteTxnMarkersRequest,
)
from tests.broker.asking import batch_of, log_end_offset, produced, unique_topic
from tests.broker.committing import new_group
from tests.broker.transacting import (
    Transactor,
    committed_values,
    markers_in,
    new_transactional_id,
    producers_of,
    stable_end,
    until_settled,
    write_marker,
)
from tests.support.wire_client import WireClient


@pytest.fixture
def alice(client: WireClient) -> Transactor:
    return Transactor(client)


# InitProducerId


def init(client: WireClient, transactional_id: str | None, version: int = 5, **details: Any) -> Any:
    return client.send(InitProducerIdRequest(transactional_id, 60_000, **details), version)


def test_an_empty_transactional_id(client: WireClient) -> None:
    response = init(client, "")
    assert response.error_code == ErrorCode.INVALID_REQUEST
    assert (response.producer_id, response.producer_epoch) == (-1, -1)


@pytest.mark.parametrize("known", [{"producer_id": 7}, {"producer_epoch": 7}])
@pytest.mark.parametrize("transactional_id", [None, "any"])
def test_half_a_producer(client: WireClient, known: dict[str, int], transactional_id: str | None) -> None:
    assert init(client, transactional_id, **known).error_code == ErrorCode.INVALID_REQUEST


@pytest.mark.parametrize("timeout_ms", [0, -1, 900_001])
def test_a_timeout_that_is_not_allowed(client: WireClient, timeout_ms: int) -> None:
    request = InitProducerIdRequest(new_transactional_id(client), timeout_ms)
    assert client.send(request, 5).error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT


@pytest.mark.parametrize("version", range(6))
def test_every_version_of_init_producer_id(client: WireClient, version: int) -> None:
    transactional_id = new_transactional_id(client)
    first = until_settled(lambda: init(client, transactional_id, version))
    again = until_settled(lambda: init(client, transactional_id, version))
    assert (first.error_code, first.producer_epoch) == (0, 0)
    assert (again.error_code, again.producer_id, again.producer_epoch) == (0, first.producer_id, 1)


def test_a_producer_keeps_its_id(alice: Transactor) -> None:
    for _ in range(2):  # the second time it repeats the first
        response = alice.ask_init(keep=True)
        assert (response.producer_id, response.producer_epoch) == (alice.producer_id, alice.epoch + 1)


@pytest.mark.parametrize(
    ("version", "code"), [(3, ErrorCode.INVALID_PRODUCER_EPOCH), (4, ErrorCode.PRODUCER_FENCED)]
)
def test_a_producer_that_was_fenced_asks_for_its_id(
    client: WireClient, version: int, code: ErrorCode
) -> None:
    alice = Transactor(client)
    Transactor(client, alice.transactional_id)
    response = alice.ask_init(keep=True, version=version)
    assert (response.error_code, response.producer_id, response.producer_epoch) == (code, -1, -1)


# AddPartitionsToTxn


@pytest.mark.parametrize("version", range(4))
def test_every_version_of_add_partitions(client: WireClient, topic: str, version: int) -> None:
    alice = Transactor(client, protocol=1)
    assert alice.add(topic, version=version) == ErrorCode.NONE
    assert alice.describe().transaction_state == "Ongoing"
    alice.abort()


@pytest.mark.parametrize(
    ("version", "code"), [(1, ErrorCode.INVALID_PRODUCER_EPOCH), (2, ErrorCode.PRODUCER_FENCED)]
)
def test_partitions_of_a_fenced_producer(
    client: WireClient, topic: str, version: int, code: ErrorCode
) -> None:
    alice = Transactor(client, protocol=1)
    Transactor(client, alice.transactional_id)
    assert alice.add(topic, version=version) == code


def test_partitions_of_a_stranger(client: WireClient, topic: str, alice: Transactor) -> None:
    alice.producer_id += 1_000_000
    assert alice.add(topic) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    alice.transactional_id += "-nobody"
    assert alice.add(topic) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    alice.transactional_id = ""
    assert alice.add(topic) == ErrorCode.INVALID_REQUEST


def test_one_unknown_partition_spoils_the_request(client: WireClient, topic: str, alice: Transactor) -> None:
    request = AddPartitionsToTxnRequest(
        alice.transactional_id,
        (),
        alice.producer_id,
        alice.epoch,
        [AddPartitionsToTxnTopic(topic, [0, 1]), AddPartitionsToTxnTopic("no-such-topic", [0])],
    )
    results = client.send(request, 3).results_by_topic_v3_and_below
    codes = {
        (one.name, each.partition_index): each.partition_error_code
        for one in results
        for each in one.results_by_partition
    }
    assert codes == {
        (topic, 0): ErrorCode.OPERATION_NOT_ATTEMPTED,
        (topic, 1): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("no-such-topic", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert alice.describe().transaction_state == "Empty"


def as_broker(client: WireClient, *transactions: AddPartitionsToTxnTransaction, version: int = 5) -> Any:
    response = client.send(AddPartitionsToTxnRequest(transactions=transactions), version)
    assert response.error_code == 0
    return {
        one.transactional_id: {
            each.partition_index: ErrorCode(each.partition_error_code)
            for each in one.topic_results[0].results_by_partition
        }
        for one in response.results_by_transaction
    }


@pytest.mark.parametrize("version", [4, 5])
def test_brokers_ask_for_many_transactions_at_once(client: WireClient, version: int) -> None:
    topic = unique_topic(client, partitions=2)
    alice, bob, carol = (Transactor(client) for _ in range(3))
    assert carol.add(topic, 1) == 0

    def transaction(
        one: Transactor, partitions: list[int], *, verify: bool, epoch: int | None = None
    ) -> AddPartitionsToTxnTransaction:
        epoch = one.epoch if epoch is None else epoch
        topics = [AddPartitionsToTxnTopic(topic, partitions)]
        return AddPartitionsToTxnTransaction(one.transactional_id, one.producer_id, epoch, verify, topics)

    answers = as_broker(
        client,
        transaction(alice, [0, 1], verify=False),
        transaction(bob, [0], verify=False, epoch=9),
        transaction(carol, [0, 1], verify=True),
        version=version,
    )
    assert answers == {
        alice.transactional_id: {0: ErrorCode.NONE, 1: ErrorCode.NONE},
        bob.transactional_id: {0: ErrorCode.PRODUCER_FENCED},
        carol.transactional_id: {0: ErrorCode.TRANSACTION_ABORTABLE, 1: ErrorCode.NONE},
    }
    assert [one.describe().transaction_state for one in (alice, bob, carol)] == [
        "Ongoing",
        "Empty",
        "Ongoing",
    ]


# AddOffsetsToTxn


def add_offsets(alice: Transactor, group: str, version: int = 4) -> ErrorCode:
    request = AddOffsetsToTxnRequest(alice.transactional_id, alice.producer_id, alice.epoch, group)
    return ErrorCode(alice.client.send(request, version).error_code)


@pytest.mark.parametrize("version", range(5))
def test_offsets_become_part_of_the_transaction(client: WireClient, version: int) -> None:
    alice = Transactor(client, protocol=1)
    assert add_offsets(alice, new_group(client), version) == ErrorCode.NONE
    (topic,) = alice.describe().topics
    assert (topic.topic, len(topic.partitions)) == ("__consumer_offsets", 1)
    alice.commit()


@pytest.mark.parametrize(
    ("version", "code"), [(1, ErrorCode.INVALID_PRODUCER_EPOCH), (2, ErrorCode.PRODUCER_FENCED)]
)
def test_offsets_of_a_fenced_producer(client: WireClient, version: int, code: ErrorCode) -> None:
    alice = Transactor(client)
    group = new_group(client)
    Transactor(client, alice.transactional_id)
    assert add_offsets(alice, group, version) == code


# EndTxn


def test_an_end_is_repeated(client: WireClient, topic: str, alice: Transactor) -> None:
    epoch = alice.epoch
    for is_commit in (True, False):
        alice.sent(topic, b"bread")
        alice.end(is_commit=is_commit)
        again = alice.ask_end(is_commit=is_commit, epoch=alice.epoch - 1)
        assert (again.error_code, again.producer_id) == (0, alice.producer_id)
        assert again.producer_epoch == alice.epoch
        other = alice.ask_end(is_commit=not is_commit, epoch=alice.epoch - 1)
        assert (other.error_code, other.producer_epoch) == (ErrorCode.INVALID_TXN_STATE, -1)
    assert alice.epoch == epoch + 2
    assert len(markers_in(client, topic)) == 2


def test_an_end_is_repeated_in_protocol_1(client: WireClient, topic: str) -> None:
    alice = Transactor(client, protocol=1)
    for is_commit in (True, False):
        alice.sent(topic, b"bread")
        alice.end(is_commit=is_commit)
        assert alice.ask_end(is_commit=is_commit).error_code == ErrorCode.NONE
        assert alice.ask_end(is_commit=not is_commit).error_code == ErrorCode.INVALID_TXN_STATE
    assert len(markers_in(client, topic)) == 2


def test_an_abort_of_nothing(client: WireClient, topic: str, alice: Transactor) -> None:
    assert alice.ask_end(is_commit=True).error_code == ErrorCode.INVALID_TXN_STATE
    epoch = alice.epoch
    alice.abort()
    assert alice.epoch == epoch + 1
    assert alice.ask_end(is_commit=True).error_code == ErrorCode.INVALID_TXN_STATE
    alice.abort()
    alice.sent(topic, b"bread")
    alice.commit()
    assert committed_values(client, topic) == [b"bread"]


def test_an_end_of_nothing_in_protocol_1(client: WireClient) -> None:
    alice = Transactor(client, protocol=1)
    for is_commit in (True, False):
        assert alice.ask_end(is_commit=is_commit).error_code == ErrorCode.INVALID_TXN_STATE


@pytest.mark.parametrize(
    ("version", "code"),
    [
        (1, ErrorCode.INVALID_PRODUCER_EPOCH),
        (2, ErrorCode.PRODUCER_FENCED),
        (5, ErrorCode.PRODUCER_FENCED),
    ],
)
def test_the_end_of_a_fenced_producer(client: WireClient, version: int, code: ErrorCode) -> None:
    alice = Transactor(client)
    Transactor(client, alice.transactional_id)
    Transactor(client, alice.transactional_id)
    assert alice.ask_end(is_commit=True, version=version).error_code == code


@pytest.mark.parametrize("version", range(6))
def test_the_end_of_nobody(client: WireClient, version: int) -> None:
    for name, code in (("", ErrorCode.INVALID_REQUEST), ("nobody", ErrorCode.INVALID_PRODUCER_ID_MAPPING)):
        transactional_id = name and new_transactional_id(client)
        assert client.send(EndTxnRequest(transactional_id, 1, 1, True), version).error_code == code


# DescribeTransactions, ListTransactions


def test_describe_transactions(client: WireClient) -> None:
    topic = unique_topic(client, partitions=3)
    alice = Transactor(client, timeout_ms=12_345)
    alice.sent(topic, b"x", partition=0)
    alice.sent(topic, b"x", partition=2)
    nobody = new_transactional_id(client)
    request = DescribeTransactionsRequest([alice.transactional_id, nobody, ""])
    found, unknown, empty = client.send(request).transaction_states
    assert found.error_code == 0
    assert (found.transaction_state, found.transaction_timeout_ms) == ("Ongoing", 12_345)
    assert (found.producer_id, found.producer_epoch) == (alice.producer_id, alice.epoch)
    assert found.transaction_start_time_ms > 0
    assert [(one.topic, sorted(one.partitions)) for one in found.topics] == [(topic, [0, 2])]
    assert (unknown.transactional_id, unknown.error_code) == (nobody, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    assert (empty.transactional_id, empty.error_code) == ("", ErrorCode.INVALID_REQUEST)
    alice.commit()
    state = alice.describe()
    assert (state.transaction_state, len(state.topics)) == ("CompleteCommit", 0)


def listed(client: WireClient, version: int = 2, **filters: Any) -> dict[str, tuple[int, str]]:
    response = client.send(ListTransactionsRequest(**filters), version)
    assert response.error_code == 0, ErrorCode(response.error_code)
    return {
        one.transactional_id: (one.producer_id, one.transaction_state) for one in response.transaction_states
    }


@pytest.mark.parametrize("version", range(3))
def test_list_transactions(client: WireClient, topic: str, version: int) -> None:
    alice, bob = Transactor(client), Transactor(client)
    alice.sent(topic, b"x")
    found = listed(client, version)
    assert found[alice.transactional_id] == (alice.producer_id, "Ongoing")
    assert found[bob.transactional_id] == (bob.producer_id, "Empty")
    ongoing = listed(client, version, state_filters=["Ongoing"])
    assert alice.transactional_id in ongoing
    assert bob.transactional_id not in ongoing
    assert list(listed(client, version, producer_id_filters=[bob.producer_id])) == [bob.transactional_id]
    alice.abort()


def test_transactions_are_listed_by_a_pattern(client: WireClient) -> None:
    alice = Transactor(client)
    assert list(listed(client, transactional_id_pattern=alice.transactional_id)) == [alice.transactional_id]
    assert listed(client, transactional_id_pattern=alice.transactional_id[:5]) == {}
    request = ListTransactionsRequest(transactional_id_pattern="(")
    assert client.send(request).error_code == ErrorCode.INVALID_REGULAR_EXPRESSION


def test_transactions_are_listed_by_their_duration(client: WireClient, topic: str) -> None:
    alice = Transactor(client)
    alice.sent(topic, b"x")
    running = listed(client, state_filters=["Ongoing"], duration_filter=3_600_000)
    assert alice.transactional_id not in running
    alice.abort()


def test_states_that_do_not_exist(client: WireClient) -> None:
    response = client.send(ListTransactionsRequest(state_filters=["Sleeping", "Ongoing"]))
    assert (response.error_code, list(response.unknown_state_filters)) == (0, ["Sleeping"])


# WriteTxnMarkers


def test_an_administrator_aborts_a_transaction_in_a_partition(
    client: WireClient, topic: str, alice: Transactor
) -> None:
    alice.sent(topic, b"bread")
    assert write_marker(client, topic, alice.producer_id, alice.epoch) == ErrorCode.NONE
    assert stable_end(client, topic) == log_end_offset(client, topic) == 2
    (found,) = producers_of(client, topic)
    assert found.current_txn_start_offset == -1
    alice.abort()
    assert committed_values(client, topic) == []


def test_a_marker_with_a_stale_epoch(client: WireClient, topic: str, alice: Transactor) -> None:
    alice.sent(topic, b"bread")
    alice.commit()
    for version in (0, 2):
        code = write_marker(
            client,
            topic,
            alice.producer_id,
            alice.epoch - 1,
            coordinator_epoch=9,
            transaction_version=version,
        )
        assert code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert len(markers_in(client, topic)) == 1


def test_a_marker_of_protocol_2_raises_the_epoch(client: WireClient, topic: str, alice: Transactor) -> None:
    alice.sent(topic, b"bread")

    def end(epoch: int) -> ErrorCode:
        return write_marker(
            client, topic, alice.producer_id, epoch, coordinator_epoch=9, transaction_version=2
        )

    assert end(alice.epoch) == ErrorCode.INVALID_PRODUCER_EPOCH
    assert stable_end(client, topic) == 0
    assert end(alice.epoch + 1) == ErrorCode.NONE
    assert end(alice.epoch + 1) == ErrorCode.NONE, "a coordinator that starts again repeats it"
    assert stable_end(client, topic) == log_end_offset(client, topic) == 3
    alice.ask_end(is_commit=False)


def test_a_marker_of_a_coordinator_that_was_replaced(
    client: WireClient, topic: str, alice: Transactor
) -> None:
    alice.sent(topic, b"bread")
    assert write_marker(client, topic, alice.producer_id, 5, coordinator_epoch=7) == ErrorCode.NONE
    code = write_marker(client, topic, alice.producer_id, 6, coordinator_epoch=6)
    assert code == ErrorCode.TRANSACTION_COORDINATOR_FENCED


def test_markers_for_partitions_that_are_not_here(client: WireClient, topic: str) -> None:
    produced(client, topic, batch_of(b"x"))
    topics = [WritableTxnMarkerTopic(topic, [0, 5]), WritableTxnMarkerTopic("no-such-topic", [0])]
    request = WriteTxnMarkersRequest([WritableTxnMarker(123_456_789, 0, False, topics, 0)])
    for version in (1, 2):
        (marker,) = client.send(request, version).markers
        codes = {
            (one.name, each.partition_index): each.error_code
            for one in marker.topics
            for each in one.partitions
        }
        assert codes == {
            (topic, 0): 0,
            (topic, 5): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
            ("no-such-topic", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        }
    assert client.send(WriteTxnMarkersRequest([]), 2).markers == []
