"""The latency client against a real broker, and against one that answers wrongly."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from bench.client import run_module
from bench.latency_client import LatencyRun, Stream
from bench.latency_floor import running_floor
from bench.latency_requests import check_acknowledged, check_read_back, encode_produce, value_of
from penstock.records.batch import Batch
from penstock.records.builder import build_batch
from penstock.records.reader import Record
from penstock.wire.frames import encode_response_frame
from penstock.wire.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from tests.support.cluster_fixture import KafkaServer
from tests.support.processes import wait_for

RECORDS = 40


@pytest.fixture
def topic(kafka: KafkaServer, request: pytest.FixtureRequest) -> str:
    name = request.node.name
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap})
    admin.create_topics([NewTopic(name, num_partitions=1, replication_factor=1)])[name].result(60)
    wait_for(lambda: admin.list_topics(name, timeout=10).topics[name].partitions, 60, f"a leader of {name}")
    return str(name)


@pytest.mark.processes
def test_every_record_has_its_times(kafka: KafkaServer, topic: str) -> None:
    job = {"port": kafka.port, "topic": topic, "records": RECORDS, "warm_up_records": 10}
    result = run_module("bench.latency_client", "latency", {**job, "records_per_second": 500})
    assert {name: len(values) for name, values in result.items()} == {
        "written": RECORDS,
        "acknowledged": RECORDS,
        "read": RECORDS,
    }
    for written, acknowledged, read in zip(*result.values(), strict=True):
        assert 0 <= written < acknowledged
        assert written < read


@pytest.mark.processes
def test_the_floor_answers_as_a_broker_does() -> None:
    with running_floor(RECORDS) as port:
        run = LatencyRun(port, "any", RECORDS, records_per_second=500)
        run.run()
    assert len(run.acknowledged_ns) == len(run.read_ns) == RECORDS


@pytest.mark.processes
def test_the_floor_answers_a_fetch_that_comes_late() -> None:
    """The records are all produced before the second fetch."""
    with running_floor(RECORDS) as port:
        LatencyRun(port, "any", RECORDS, records_per_second=10_000_000).run()


def test_a_record_that_is_written_late_is_charged_for_it(kafka: KafkaServer, topic: str) -> None:
    """All records are due at once, so each waits for those before it to be written."""
    run = LatencyRun(kafka.port, topic, RECORDS, records_per_second=10_000_000)
    run.run()
    late = run.since_due(run.written_ns, first=0)
    assert late == sorted(late)
    assert late[-1] > late[0]
    assert all(read > written for read, written in zip(run.since_due(run.read_ns, 0), late, strict=True))


def test_a_topic_that_has_records_already_fails(kafka: KafkaServer, topic: str) -> None:
    LatencyRun(kafka.port, topic, 3, records_per_second=500).run()
    with pytest.raises(RuntimeError, match="record 0 was answered as 0 at offset 3"):
        LatencyRun(kafka.port, topic, 3, records_per_second=500).run()


def test_a_topic_that_is_not_there_fails(kafka: KafkaServer) -> None:
    with pytest.raises(RuntimeError, match="the metadata of nowhere: UNKNOWN_TOPIC_OR_PARTITION"):
        LatencyRun(kafka.port, "nowhere", 3, records_per_second=500)


def batch_at(offset: int, number: int) -> Batch:
    return build_batch([Record(offset, 0, None, value_of(number))])


def corrupt(batch: Batch) -> Batch:
    data = bytearray(batch.view)
    data[-10] ^= 1
    return Batch(memoryview(data))


@pytest.mark.parametrize(
    ("batches", "complaint"),
    [
        ([batch_at(0, 0), batch_at(2, 2)], "where record 1 belongs"),
        ([batch_at(0, 0), batch_at(0, 0)], "where record 1 belongs"),
        ([batch_at(0, 1)], "where record 0 belongs"),
        ([corrupt(batch_at(0, 0))], "the batch at offset 0 is corrupt"),
    ],
)
def test_what_is_read_back_wrongly_fails(batches: list[Batch], complaint: str) -> None:
    with pytest.raises(RuntimeError, match=complaint):
        check_read_back(batches)


def test_what_is_read_back_as_written_passes() -> None:
    check_read_back([batch_at(number, number) for number in range(3)])


def acknowledgement(correlation_id: int, error_code: int = 0, offset: int = 0) -> memoryview:
    partition = PartitionProduceResponse(0, error_code, offset)
    answer = ProduceResponse([TopicProduceResponse(partition_responses=[partition])])
    frame = b"".join(bytes(part) for part in encode_response_frame(answer, 13, correlation_id))
    return memoryview(frame)[4:]


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        (acknowledgement(0, error_code=19), "the acknowledgement of record 0: NOT_ENOUGH_REPLICAS"),
        (acknowledgement(1), "record 0 was answered as 1"),
        (acknowledgement(0, offset=1), "at offset 1"),
    ],
)
def test_what_is_acknowledged_wrongly_fails(frame: memoryview, complaint: str) -> None:
    with pytest.raises(RuntimeError, match=complaint):
        check_acknowledged([frame])


@contextmanager
def peer_that(act: Callable[[socket.socket], None]) -> Iterator[Stream]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        stream = Stream.to(server.getsockname()[1])
        accepted, _ = server.accept()
        with accepted:
            thread = threading.Thread(target=act, args=(accepted,))
            thread.start()
            yield stream
            thread.join()
        stream.close()


def test_frames_come_whole_however_they_were_cut() -> None:
    bodies = [b"one", b"", b"three" * 100]
    data = b"".join(struct.pack(">i", len(body)) + body for body in bodies)

    def send_in_pieces(peer: socket.socket) -> None:
        for start in range(0, len(data), 5):
            peer.sendall(data[start : start + 5])

    received: list[bytes] = []
    with peer_that(send_in_pieces) as stream:
        while len(received) < len(bodies):
            received += map(bytes, stream.receive())
    assert received == bodies


def test_a_closed_connection_says_so() -> None:
    with (
        peer_that(lambda peer: peer.shutdown(socket.SHUT_WR)) as stream,
        pytest.raises(ConnectionError, match="the other side closed the connection"),
    ):
        stream.receive()


def test_all_records_are_of_one_size() -> None:
    assert len({len(encode_produce(bytes(16), number)) for number in (0, 9, 10, 99_999)}) == 1
