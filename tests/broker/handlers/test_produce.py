"""Produce requests whose records are refused: the error, the connection that stays, nothing in the log."""

import struct

import pytest
from crc32c import crc32c

from penstock.errors import ErrorCode
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.broker.asking import (
    PRODUCE_BY_NAME,
    batch_of,
    log_end_offset,
    new_topic,
    now_ms,
    produce,
    produce_request,
    produced,
    unique_topic,
    values_in,
)
from tests.broker.conftest import Server
from tests.broker.test_topics import delete_topic
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

GOOD = batch_of(b"bread", timestamp=1_700_000_000_000)
MAX_MESSAGE_BYTES = 1_048_588
HOUR_MS = 3_600_000


def patched(at: int, value: bytes, *, keep_crc: bool = False) -> bytes:
    """A good batch with some bytes of its header replaced, and a CRC that fits unless told."""
    batch = bytearray(GOOD)
    batch[at : at + len(value)] = value
    if not keep_crc:
        batch[17:21] = struct.pack(">I", crc32c(bytes(batch[21:])))
    return bytes(batch)


def int32(value: int) -> bytes:
    return struct.pack(">i", value)


def attributes(value: int) -> bytes:
    return patched(21, struct.pack(">h", value))


def counted(count: int) -> bytes:
    """A good batch whose header claims another number of records."""
    batch = bytearray(patched(57, int32(count)))
    batch[23:27] = int32(count - 1)
    batch[17:21] = struct.pack(">I", crc32c(bytes(batch[21:])))
    return bytes(batch)


REFUSED = {
    "crc": (patched(17, bytes(4), keep_crc=True), ErrorCode.CORRUPT_MESSAGE),
    "a bit of the record": (patched(len(GOOD) - 2, b"\x00", keep_crc=True), ErrorCode.CORRUPT_MESSAGE),
    "nothing": (b"", ErrorCode.INVALID_RECORD),
    "garbage": (b"x" * 100, ErrorCode.CORRUPT_MESSAGE),
    "a little garbage": (b"x" * 5, ErrorCode.INVALID_RECORD),
    "magic 0": (patched(16, b"\0"), ErrorCode.INVALID_RECORD),
    "magic 1": (patched(16, b"\1"), ErrorCode.INVALID_RECORD),
    "magic 3": (patched(16, b"\3"), ErrorCode.CORRUPT_MESSAGE),
    "magic negative": (patched(16, b"\xff"), ErrorCode.CORRUPT_MESSAGE),
    "cut off": (GOOD[:-1], ErrorCode.INVALID_RECORD),
    "two batches": (GOOD + GOOD, ErrorCode.INVALID_RECORD),
    "length too small": (patched(8, int32(5)), ErrorCode.CORRUPT_MESSAGE),
    "length negative": (patched(8, int32(-5)), ErrorCode.CORRUPT_MESSAGE),
    "length beyond": (patched(8, int32(50_000)), ErrorCode.INVALID_RECORD),
    "base offset": (patched(0, struct.pack(">q", 5)), ErrorCode.INVALID_RECORD),
    "no records": (patched(57, int32(0)), ErrorCode.INVALID_RECORD),
    "negative count": (patched(57, int32(-1)), ErrorCode.INVALID_RECORD),
    "count above the offsets": (patched(57, int32(7)), ErrorCode.INVALID_RECORD),
    "offsets above the count": (patched(23, int32(3)), ErrorCode.INVALID_RECORD),
    "negative offsets": (patched(23, int32(-1)), ErrorCode.INVALID_RECORD),
    "unknown codec": (attributes(5), ErrorCode.UNKNOWN_SERVER_ERROR),
    "control batch": (attributes(0x20), ErrorCode.INVALID_RECORD),
    "transactional without an id": (attributes(0x10), ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    "producer without a sequence": (batch_of(b"bread", producer_id=7), ErrorCode.INVALID_RECORD),
    "garbage for records": (patched(61, b"\xff" * (len(GOOD) - 61)), ErrorCode.INVALID_RECORD),
    "a record that is longer than it says": (patched(61, b"\x0c"), ErrorCode.INVALID_RECORD),
    "a key beyond the record": (patched(65, b"\x7e"), ErrorCode.INVALID_RECORD),
    "two records where one is": (counted(2), ErrorCode.INVALID_RECORD),
    "2^31 - 1 records where one is": (counted(2**31 - 1), ErrorCode.INVALID_RECORD),
    "gzip that is none": (attributes(1), ErrorCode.INVALID_RECORD),
    "snappy that is none": (attributes(2), ErrorCode.INVALID_RECORD),
    "lz4 that is none": (attributes(3), ErrorCode.INVALID_RECORD),
    "zstd that is none": (attributes(4), ErrorCode.INVALID_RECORD),
    "above max.message.bytes": (batch_of(b"x" * MAX_MESSAGE_BYTES), ErrorCode.MESSAGE_TOO_LARGE),
}


@pytest.mark.parametrize(("records", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_is_refused(client: WireClient, topic: str, records: bytes, code: ErrorCode) -> None:
    answer = produce(client, topic, records)
    assert (ErrorCode(answer.error_code), answer.base_offset) == (code, -1)
    assert log_end_offset(client, topic) == 0
    assert produced(client, topic, GOOD) == 0, "the same connection goes on"
    assert values_in(client, topic) == [b"bread"]


@pytest.mark.parametrize(("records", "code"), REFUSED.values(), ids=REFUSED.keys())
def test_is_refused_after_good_ones(client: WireClient, topic: str, records: bytes, code: ErrorCode) -> None:
    """A producer that repeats itself is not trusted for it."""
    for offset in range(3):
        assert produced(client, topic, GOOD) == offset
    for _ in range(2):
        answer = produce(client, topic, records)
        assert (ErrorCode(answer.error_code), answer.base_offset) == (code, -1)
    assert produced(client, topic, GOOD) == 3
    assert values_in(client, topic) == [b"bread"] * 4


@pytest.mark.parametrize("version", [3, 8, 9, 12])
def test_the_same_request_in_other_hands(client: WireClient, other_client: WireClient, version: int) -> None:
    """Topics, partitions, acks and connections take turns."""
    topics = [unique_topic(client, 2), unique_topic(client, 2)]
    for turn in range(3):
        for topic in topics:
            for partition in (0, 1):
                for number, sender in enumerate((client, other_client)):
                    answer = produce(sender, topic, GOOD, partition, acks=(1, -1)[turn % 2], version=version)
                    assert (answer.error_code, answer.base_offset) == (0, 2 * turn + number)
    for topic in topics:
        assert [len(values_in(client, topic, index)) for index in (0, 1)] == [6, 6]


def test_a_topic_that_goes_while_a_producer_repeats_itself(client: WireClient, topic: str) -> None:
    for offset in range(3):
        assert produced(client, topic, GOOD) == offset
    assert delete_topic(client, topic) == ErrorCode.NONE
    wait_for(lambda: produce(client, topic, GOOD).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    new_topic(client, topic)
    assert produced(client, topic, GOOD) == 0
    assert values_in(client, topic) == [b"bread"]


@pytest.mark.parametrize("case", ["crc", "magic 1", "above max.message.bytes"])
def test_without_acks_the_connection_is_closed(
    server: Server, client: WireClient, topic: str, case: str
) -> None:
    with WireClient(server.bootstrap) as sender:
        sender.post(produce_request(topic, REFUSED[case][0], acks=0), PRODUCE_BY_NAME)
        sender.expect_closed()
    assert log_end_offset(client, topic) == 0


def test_without_acks_an_unknown_topic_closes_the_connection(client: WireClient) -> None:
    client.post(produce_request("no-such-topic", GOOD, acks=0), PRODUCE_BY_NAME)
    client.expect_closed()


def test_without_acks_a_good_batch_gets_no_answer(client: WireClient, topic: str) -> None:
    client.post(produce_request(topic, GOOD, acks=0), PRODUCE_BY_NAME)
    assert log_end_offset(client, topic) == 1, "the next answer is that of the next request"


def test_one_bad_partition_does_not_hold_up_the_others(client: WireClient) -> None:
    topic = unique_topic(client, partitions=3)
    data = [
        PartitionProduceData(index=index, records=records)
        for index, records in ((0, GOOD), (1, patched(17, bytes(4), keep_crc=True)), (2, GOOD), (3, GOOD))
    ]
    request = ProduceRequest(
        acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(name=topic, partition_data=data)]
    )
    answers = client.send(request, PRODUCE_BY_NAME).responses[0].partition_responses
    codes = {answer.index: answer.error_code for answer in answers}
    assert codes == {0: 0, 1: ErrorCode.CORRUPT_MESSAGE, 2: 0, 3: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    assert [log_end_offset(client, topic, index) for index in range(3)] == [1, 0, 1]


def test_the_largest_batch_that_is_taken(client: WireClient, topic: str) -> None:
    overhead = len(batch_of(b"x" * 1_000_000)) - 1_000_000
    assert produced(client, topic, batch_of(b"x" * (MAX_MESSAGE_BYTES - overhead))) == 0
    answer = produce(client, topic, batch_of(b"x" * (MAX_MESSAGE_BYTES - overhead + 1)))
    assert answer.error_code == ErrorCode.MESSAGE_TOO_LARGE


def test_bytes_after_the_batch_that_make_no_batch_are_ignored(client: WireClient, topic: str) -> None:
    assert produced(client, topic, GOOD + b"zzz") == 0
    assert values_in(client, topic) == [b"bread"]


@pytest.mark.parametrize("acks", [2, -2])
def test_acks_that_there_are_not(client: WireClient, topic: str, acks: int) -> None:
    assert produce(client, topic, GOOD, acks=acks).error_code == ErrorCode.INVALID_REQUIRED_ACKS
    assert log_end_offset(client, topic) == 0


def test_zstd_needs_version_7(client: WireClient, topic: str) -> None:
    answer = produce(client, topic, batch_of(b"bread", codec=4), version=6)
    assert answer.error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert produce(client, topic, batch_of(b"bread", codec=4), version=7).error_code == 0


def test_a_timestamp_far_ahead(client: WireClient, topic: str) -> None:
    answer = produce(client, topic, batch_of(b"bread", b"wine", timestamp=now_ms() + 2 * HOUR_MS))
    assert answer.error_code == ErrorCode.INVALID_TIMESTAMP
    assert answer.error_message == "One or more records have been rejected due to invalid timestamp"
    assert [error.batch_index for error in answer.record_errors] == [0, 1]
    assert log_end_offset(client, topic) == 0


@pytest.mark.parametrize("timestamp", [-1, 0, -5])
def test_odd_timestamps_that_are_taken(client: WireClient, topic: str, timestamp: int) -> None:
    assert produced(client, topic, batch_of(b"bread", timestamp=timestamp)) == 0


def test_a_record_without_key_in_a_compacted_topic(client: WireClient) -> None:
    topic = unique_topic(client, cleanup_policy="compact")
    answer = produce(client, topic, batch_of(b"bread", b"wine"))
    assert answer.error_code == ErrorCode.INVALID_RECORD
    assert [error.batch_index for error in answer.record_errors] == [0, 1]
    assert log_end_offset(client, topic) == 0
    assert produced(client, topic, batch_of(b"bread", key=b"food")) == 0


@pytest.mark.parametrize("name", ["no-such-topic", "a/b", "x" * 250])
def test_a_topic_that_does_not_exist(client: WireClient, name: str) -> None:
    assert produce(client, name, GOOD).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("partition", [1, -1, 2**31 - 1])
def test_a_partition_that_does_not_exist(client: WireClient, topic: str, partition: int) -> None:
    assert produce(client, topic, GOOD, partition).error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_topic_id_that_does_not_exist(client: WireClient) -> None:
    data = [PartitionProduceData(index=0, records=GOOD)]
    request = ProduceRequest(
        acks=-1, timeout_ms=1000, topic_data=[TopicProduceData(topic_id=b"z" * 16, partition_data=data)]
    )
    (answer,) = client.send(request, 13).responses
    assert answer.topic_id == b"z" * 16
    assert answer.partition_responses[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


def test_an_empty_request(client: WireClient) -> None:
    assert client.send(ProduceRequest(acks=-1, timeout_ms=1000, topic_data=[]), 12).responses == []


def test_what_is_refused_with_append_time(client: WireClient) -> None:
    """The stamp of a first try is not held against the second."""
    topic = unique_topic(client, message_timestamp_type="LogAppendTime")
    sequence = {"producer_id": 4_242, "producer_epoch": 3}
    for number in range(3):
        produced(client, topic, batch_of(b"bread", base_sequence=number, **sequence))
    answers = [
        produce(client, topic, batch_of(b"bread", base_sequence=9, **sequence)),
        produce(client, topic, batch_of(b"bread", producer_id=4_242, producer_epoch=2, base_sequence=3)),
    ]
    wanted = [ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, ErrorCode.INVALID_PRODUCER_EPOCH]
    assert [ErrorCode(answer.error_code) for answer in answers] == wanted
    assert log_end_offset(client, topic) == 3
