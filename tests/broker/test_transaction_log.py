"""What stands in `__transaction_state`: the same records as Apache Kafka writes, byte for byte."""

from penstock.records.batch import split_batches
from penstock.records.reader import Record, iterate_records
from penstock.txn.transaction import State
from penstock.wire.stored.transaction import RECORD_TYPES, TransactionLogKey, TransactionLogValue
from penstock.wire.stored_records import decode_key, decode_value, encode_key, encode_value
from tests.broker.asking import unique_topic
from tests.broker.conftest import Server
from tests.broker.transacting import Transactor
from tests.support.wire_client import WireClient

TRANSACTION_LOG = 0
FLEXIBLE = b"\x00\x01"
"""A value starts with its version."""


def logged(server: Server, transactional_id: str) -> list[Record]:
    """The records of one transactional id, oldest first, from the files."""
    key = encode_key(TransactionLogKey(transactional_id))
    return [
        record
        for path in sorted(server.log_dir.glob("__transaction_state-*/*.log"))
        for batch in split_batches(memoryview(path.read_bytes()))
        for record in iterate_records(batch)
        if record.key == key
    ]


def values_of(records: list[Record]) -> list[TransactionLogValue]:
    found = [decode_value(RECORD_TYPES, TRANSACTION_LOG, record.value or b"") for record in records]
    return [value for value in found if isinstance(value, TransactionLogValue)]


def shown(value: TransactionLogValue) -> tuple[str, int, list[int], int]:
    partitions = sorted(
        index for topic in value.transaction_partitions or () for index in topic.partition_ids
    )
    state = State(value.transaction_status).kafka_name
    return state, value.producer_epoch, partitions, value.client_transaction_version


def test_the_log_of_a_transaction_in_protocol_2(server: Server, client: WireClient) -> None:
    topic = unique_topic(client, partitions=3)
    alice = Transactor(client, timeout_ms=12_345)
    alice.sent(topic, b"bread", partition=2)
    alice.sent(topic, b"wine", partition=0)
    alice.commit()
    alice.abort()
    records = logged(server, alice.transactional_id)
    values = values_of(records)
    assert [shown(value) for value in values] == [
        ("Empty", 0, [], 0),
        ("Ongoing", 0, [2], 2),
        ("Ongoing", 0, [0, 2], 2),
        ("PrepareCommit", 1, [0, 2], 2),
        ("CompleteCommit", 1, [], 2),
        ("PrepareAbort", 2, [], 2),
        ("CompleteAbort", 2, [], 2),
    ]
    for value in values:
        assert value.producer_id == value.previous_producer_id == alice.producer_id
        assert (value.next_producer_id, value.next_producer_epoch) == (-1, -1)
        assert value.transaction_timeout_ms == 12_345
    assert values[0].transaction_partitions is None
    starts = [value.transaction_start_timestamp_ms for value in values]
    assert starts[0] == -1
    assert len(set(starts[1:5])) == 1
    assert starts[5] == values[5].transaction_last_update_timestamp_ms


def test_the_log_of_a_transaction_in_protocol_1(server: Server, client: WireClient) -> None:
    topic = unique_topic(client)
    alice = Transactor(client, protocol=1)
    alice.sent(topic, b"bread")
    alice.commit()
    alice.sent(topic, b"wine")
    Transactor(client, alice.transactional_id, protocol=1)
    assert [shown(value) for value in values_of(logged(server, alice.transactional_id))] == [
        ("Empty", 0, [], 0),
        ("Ongoing", 0, [0], 0),
        ("PrepareCommit", 0, [0], 0),
        ("CompleteCommit", 0, [], 0),
        ("Ongoing", 0, [0], 0),
        ("PrepareAbort", 1, [0], 2),  # the server's own doing, in the newest protocol
        ("CompleteAbort", 1, [], 2),
        ("Empty", 2, [], 2),
    ]


def test_records_are_written_as_they_were_read(server: Server, client: WireClient) -> None:
    topic = unique_topic(client)
    alice = Transactor(client)
    alice.sent(topic, b"bread")
    alice.commit()
    records = logged(server, alice.transactional_id)
    assert len(records) == 4
    for record, value in zip(records, values_of(records), strict=True):
        key = decode_key(RECORD_TYPES, record.key or b"")
        assert isinstance(key, TransactionLogKey)
        assert encode_key(key) == record.key
        assert record.value is not None
        assert record.value[:2] == FLEXIBLE
        assert encode_value(value, 1) == record.value
        assert (record.headers or ()) == ()
