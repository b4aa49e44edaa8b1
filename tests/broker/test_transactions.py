"""Transactions from the producer's first record to what a consumer of committed records sees."""

import pytest

from penstock.errors import ErrorCode
from tests.broker.asking import (
    batch_of,
    batches_of,
    fetch_one,
    log_end_offset,
    produce,
    produce_request,
    produced,
    unique_topic,
    values_in,
)
from tests.broker.transacting import (
    READ_COMMITTED,
    Transactor,
    committed_values,
    markers_in,
    producers_of,
    stable_end,
)
from tests.support.wire_client import WireClient


@pytest.fixture(params=[1, 2], ids=["protocol1", "protocol2"])
def transactor(request: pytest.FixtureRequest, client: WireClient) -> Transactor:
    return Transactor(client, protocol=request.param)


@pytest.fixture
def alice(client: WireClient) -> Transactor:
    return Transactor(client)


@pytest.fixture
def bob(client: WireClient) -> Transactor:
    return Transactor(client)


def test_committed_records_are_seen_when_they_are_committed(
    client: WireClient, topic: str, transactor: Transactor
) -> None:
    assert transactor.sent(topic, b"bread", b"wine") == 0
    assert transactor.sent(topic, b"salt") == 2
    assert (log_end_offset(client, topic), stable_end(client, topic)) == (3, 0)
    assert committed_values(client, topic) == []
    transactor.commit()
    assert committed_values(client, topic) == [b"bread", b"wine", b"salt"]
    assert (log_end_offset(client, topic), stable_end(client, topic)) == (4, 4)


def test_aborted_records_are_never_seen(client: WireClient, topic: str, transactor: Transactor) -> None:
    transactor.sent(topic, b"bread")
    transactor.abort()
    transactor.sent(topic, b"wine")
    transactor.commit()
    transactor.sent(topic, b"salt")
    transactor.abort()
    assert committed_values(client, topic) == [b"wine"]
    assert [kind for kind, _, _ in markers_in(client, topic)] == ["abort", "commit", "abort"]


@pytest.mark.parametrize("codec", ["gzip", "zstd"])
def test_where_records_are_compressed_markers_are_not(
    client: WireClient, transactor: Transactor, codec: str
) -> None:
    topic = unique_topic(client, compression_type=codec)
    transactor.sent(topic, b"bread")
    transactor.abort()
    transactor.sent(topic, b"wine")
    transactor.commit()
    assert stable_end(client, topic) == log_end_offset(client, topic) == 4
    batches = batches_of(fetch_one(client, topic))
    assert [(batch.is_control, batch.codec > 0) for batch in batches] == [
        (False, True),
        (True, False),
        (False, True),
        (True, False),
    ]
    assert [kind for kind, _, _ in markers_in(client, topic)] == ["abort", "commit"]
    assert committed_values(client, topic) == [b"wine"]


def test_a_fetch_names_the_aborted_transactions_it_touches(
    client: WireClient, topic: str, alice: Transactor, bob: Transactor
) -> None:
    first = alice.sent(topic, b"0")
    alice.abort()  # marker at 1
    second = bob.sent(topic, b"2")
    bob.abort()  # marker at 3
    bob.sent(topic, b"4")
    bob.commit()

    def aborted(offset: int) -> list[tuple[int, int]]:
        data = fetch_one(client, topic, offset, isolation_level=READ_COMMITTED)
        return [(one.producer_id, one.first_offset) for one in data.aborted_transactions]

    assert aborted(0) == [(alice.producer_id, first), (bob.producer_id, second)]
    assert aborted(1) == [(alice.producer_id, first), (bob.producer_id, second)]
    assert aborted(2) == [(bob.producer_id, second)]
    assert aborted(4) == []
    assert fetch_one(client, topic, 0).aborted_transactions is None


def test_the_oldest_open_transaction_holds_back_all_that_follows(
    client: WireClient, topic: str, alice: Transactor, bob: Transactor
) -> None:
    produced(client, topic, batch_of(b"plain"))
    alice.sent(topic, b"hers")
    bob.sent(topic, b"his")
    produced(client, topic, batch_of(b"plain too"))
    bob.commit()
    assert stable_end(client, topic) == 1
    assert committed_values(client, topic) == [b"plain"]
    data = fetch_one(client, topic, 0, isolation_level=READ_COMMITTED)
    assert (data.high_watermark, data.last_stable_offset) == (5, 1)
    alice.abort()
    assert committed_values(client, topic) == [b"plain", b"his", b"plain too"]
    assert stable_end(client, topic) == log_end_offset(client, topic)


def test_one_transaction_over_many_partitions(client: WireClient, transactor: Transactor) -> None:
    topics = [unique_topic(client, partitions=3) for _ in range(2)]
    places = [(topic, partition) for topic in topics for partition in range(3)]
    for topic, partition in places:
        transactor.sent(topic, b"%d" % partition, partition=partition)
    assert {one.topic for one in transactor.describe().topics} == set(topics)
    transactor.commit()
    for topic, partition in places:
        assert committed_values(client, topic, partition) == [b"%d" % partition]
        assert len(markers_in(client, topic, partition)) == 1


def test_many_small_requests_in_many_transactions(
    client: WireClient, topic: str, transactor: Transactor
) -> None:
    """As many as it takes for the broker to know them by heart."""
    expected = []
    for number in range(6):
        values = [b"%d.%d" % (number, index) for index in range(4)]
        for value in values:
            transactor.sent(topic, value)
        if number % 3:
            transactor.commit()
            expected += values
        else:
            transactor.abort()
    assert committed_values(client, topic) == expected


def test_a_partition_that_was_not_written_to_gets_a_marker_too(client: WireClient, topic: str) -> None:
    alice = Transactor(client, protocol=1)
    assert alice.add(topic) == 0
    alice.commit()
    assert markers_in(client, topic) == [("commit", alice.producer_id, alice.epoch)]
    assert stable_end(client, topic) == log_end_offset(client, topic) == 1


# epochs of protocol 2


def test_each_end_raises_the_epoch(client: WireClient, topic: str, alice: Transactor) -> None:
    first = alice.epoch
    alice.sent(topic, b"bread")
    alice.commit()
    assert alice.epoch == first + 1
    alice.sent(topic, b"wine")
    alice.abort()
    assert alice.epoch == first + 2
    assert markers_in(client, topic) == [
        ("commit", alice.producer_id, first + 1),
        ("abort", alice.producer_id, first + 2),
    ]


def test_a_straggler_of_the_last_transaction(client: WireClient, topic: str, alice: Transactor) -> None:
    alice.sent(topic, b"bread")
    alice.commit()
    late = alice.refused(topic, producer_epoch=alice.epoch - 1, base_sequence=1)
    assert late == ErrorCode.INVALID_PRODUCER_EPOCH
    again = alice.refused(topic, producer_epoch=alice.epoch - 1, base_sequence=0)
    assert again == ErrorCode.INVALID_PRODUCER_EPOCH, "nor is a duplicate let in"
    assert stable_end(client, topic) == log_end_offset(client, topic) == 2


def test_a_new_transaction_begins_its_sequences_anew(
    client: WireClient, topic: str, alice: Transactor
) -> None:
    alice.sent(topic, b"bread")
    alice.commit()
    assert alice.refused(topic, base_sequence=1) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    alice.sent(topic, b"wine")
    alice.commit()
    assert committed_values(client, topic) == [b"bread", b"wine"]


def test_the_first_sequence_in_a_partition_is_zero(client: WireClient, topic: str, alice: Transactor) -> None:
    assert alice.refused(topic, base_sequence=3) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    alice.sent(topic, b"bread")
    alice.commit()
    assert committed_values(client, topic) == [b"bread"]


# what is not let in


def test_transactional_records_need_a_transactional_id(
    client: WireClient, topic: str, alice: Transactor
) -> None:
    batch = batch_of(
        b"bread",
        producer_id=alice.producer_id,
        producer_epoch=alice.epoch,
        base_sequence=0,
        is_transactional=True,
    )
    assert produce(client, topic, batch).error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    alice.sent(topic, b"wine")
    answer = produce(client, topic, batch)
    assert answer.error_code == ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, "not even in a transaction"
    alice.commit()
    assert values_in(client, topic)[0] == b"wine"


def test_one_transactional_batch_without_a_transactional_id_refuses_the_whole_request(
    client: WireClient, alice: Transactor
) -> None:
    topic = unique_topic(client, partitions=2)
    transactional = batch_of(
        b"bread", producer_id=alice.producer_id, producer_epoch=0, base_sequence=0, is_transactional=True
    )
    request = produce_request(topic, batch_of(b"plain"))
    request.topic_data[0].partition_data = [
        *request.topic_data[0].partition_data,
        *produce_request(topic, transactional, partition=1).topic_data[0].partition_data,
    ]
    answers = client.send(request, 12).responses[0].partition_responses
    codes = [one.error_code for one in answers]
    assert codes == [ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED] * 2
    assert [log_end_offset(client, topic, partition) for partition in (0, 1)] == [0, 0]


def test_a_producer_inside_a_transaction_writes_nothing_else(
    client: WireClient, topic: str, alice: Transactor
) -> None:
    alice.sent(topic, b"bread")
    assert alice.refused(topic, is_transactional=False) == ErrorCode.INVALID_TXN_STATE
    alice.commit()


def test_a_request_with_batches_of_two_producers(
    client: WireClient, topic: str, alice: Transactor, bob: Transactor
) -> None:
    other = unique_topic(client)
    requests = [
        produce_request(
            name,
            batch_of(
                b"x",
                producer_id=one.producer_id,
                producer_epoch=one.epoch,
                base_sequence=0,
                is_transactional=True,
            ),
        )
        for name, one in ((topic, alice), (other, bob))
    ]
    request = requests[0]
    request.transactional_id = alice.transactional_id
    request.topic_data = [*requests[0].topic_data, *requests[1].topic_data]
    answers = [one.partition_responses[0].error_code for one in client.send(request, 12).responses]
    assert set(answers) == {ErrorCode.INVALID_PRODUCER_ID_MAPPING}


def test_the_coordinator_does_not_know_the_producer(
    client: WireClient, topic: str, alice: Transactor, bob: Transactor
) -> None:
    assert alice.refused(topic, producer_id=bob.producer_id) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    alice.transactional_id += "-nobody"
    assert alice.refused(topic) == ErrorCode.INVALID_PRODUCER_ID_MAPPING
    assert alice.refused(topic, version=11) == ErrorCode.INVALID_PRODUCER_ID_MAPPING


@pytest.mark.parametrize("version", [10, 11, 12])
@pytest.mark.parametrize("difference", [-1, 1])
def test_another_epoch(client: WireClient, topic: str, version: int, difference: int) -> None:
    alice = Transactor(client)
    alice.init()
    epoch = alice.epoch + difference
    assert alice.refused(topic, version=version, producer_epoch=epoch) == ErrorCode.INVALID_PRODUCER_EPOCH


@pytest.mark.parametrize(
    ("version", "code"),
    [
        (3, ErrorCode.INVALID_TXN_STATE),
        (10, ErrorCode.INVALID_TXN_STATE),
        (11, ErrorCode.TRANSACTION_ABORTABLE),
    ],
)
def test_in_protocol_1_a_partition_has_to_be_added_first(
    client: WireClient, topic: str, version: int, code: ErrorCode
) -> None:
    alice = Transactor(client, protocol=1)
    assert alice.refused(topic, version=version) == code
    other = unique_topic(client)
    assert alice.add(other) == 0
    assert alice.refused(topic, version=version) == code
    alice.sent(topic, b"bread")
    alice.commit()
    assert alice.refused(topic, version=version) == code, "and again in the next transaction"
    assert committed_values(client, topic) == [b"bread"]


# producers that were fenced


def test_a_new_producer_aborts_the_transaction_of_the_old_one(
    client: WireClient, topic: str, transactor: Transactor
) -> None:
    transactor.sent(topic, b"bread")
    heir = Transactor(client, transactor.transactional_id, protocol=transactor.protocol)
    assert (heir.producer_id, heir.epoch) == (transactor.producer_id, transactor.epoch + 2)
    assert transactor.refused(topic) == ErrorCode.INVALID_PRODUCER_EPOCH
    for is_commit in (True, False):
        assert transactor.ask_end(is_commit=is_commit).error_code == ErrorCode.PRODUCER_FENCED
    assert transactor.ask_init(keep=True).error_code == ErrorCode.PRODUCER_FENCED
    heir.sent(topic, b"wine")
    heir.commit()
    assert committed_values(client, topic) == [b"wine"]


def test_describe_producers_shows_open_transactions(
    client: WireClient, topic: str, alice: Transactor
) -> None:
    produced(client, topic, batch_of(b"plain"))
    alice.sent(topic, b"bread", b"wine")
    (found,) = producers_of(client, topic)
    assert (found.producer_id, found.producer_epoch) == (alice.producer_id, alice.epoch)
    assert (found.current_txn_start_offset, found.last_sequence, found.coordinator_epoch) == (1, 1, -1)
    alice.commit()
    (found,) = producers_of(client, topic)
    assert (found.producer_id, found.producer_epoch) == (alice.producer_id, alice.epoch)
    assert (found.current_txn_start_offset, found.last_sequence) == (-1, -1)
    assert found.coordinator_epoch >= 0
