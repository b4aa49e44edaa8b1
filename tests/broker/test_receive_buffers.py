"""Frames of all sizes, in all pieces: each is answered; and what a connection took is given back when it is gone."""

import os
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from penstock.broker.receive_buffers import LARGE_BUFFER_BYTES, SMALL_BUFFER_BYTES
from penstock.wire.messages.fetch import FetchRequest
from penstock.wire.messages.metadata import MetadataRequest
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from penstock.wire.primitives import encode_unsigned_varint
from tests.broker.asking import (
    FETCH_BY_NAME,
    PRODUCE_BY_NAME,
    batch_of,
    fetch_request,
    log_end_offset,
    new_topic,
    produce_request,
    unique_topic,
    wanted,
)
from tests.broker.conftest import Server, only_penstock
from tests.broker.platform import Platform
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient, frame, request_bytes, request_header
from tools.suite.processes import starts_processes

MIB = 1 << 20
SIZES = [SMALL_BUFFER_BYTES, 2 * SMALL_BUFFER_BYTES, MIB, LARGE_BUFFER_BYTES, 2 * LARGE_BUFFER_BYTES]
AROUND = [-5, -4, -3, -1, 0, 1, 3, 4, 5]
HANDLERS = ["answers at once", "waits", "parks"]
WAIT_MS = 30

Asked = tuple[ProduceRequest | FetchRequest, int]


def asked_of(handler: str, client: WireClient) -> Asked:
    """A small request whose handler does as it is called."""
    if handler == "parks":
        request = fetch_request(wanted(unique_topic(client)), max_wait_ms=WAIT_MS)
        return request, FETCH_BY_NAME
    configs = {"flush_messages": "1"} if handler == "waits" else {}
    return produce_request(unique_topic(client, **configs), batch_of(b"bread")), PRODUCE_BY_NAME


def padded(asked: Asked, size: int, correlation_id: int) -> bytes:
    """Its frame, of just that many bytes: an unknown tagged field in the header fills it up."""
    request, version = asked
    plain = request_bytes(request, version, correlation_id)[4:]
    header_end = len(request_header(request.API_KEY, version))
    assert plain[header_end] == 0
    filling = size - 4 - len(plain) - 1
    for length_bytes in (1, 2, 3, 4):
        length = encode_unsigned_varint(filling - length_bytes)
        if len(length) == length_bytes:
            tags = b"\x01\x63" + length + bytes(filling - length_bytes)
            whole = frame(plain[:header_end] + tags + plain[header_end + 1 :])
            assert len(whole) == size
            return whole
    raise AssertionError(f"{size} bytes are too few")


def check_answer(client: WireClient, asked: Asked, correlation_id: int) -> None:
    request, version = asked
    answer = client.receive(request, version, correlation_id).responses[0]
    (partition,) = answer.partition_responses if isinstance(request, ProduceRequest) else answer.partitions
    assert partition.error_code == 0


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("handler", HANDLERS)
def test_a_frame_around_the_size_of_a_buffer(client: WireClient, handler: str, size: int) -> None:
    asked = asked_of(handler, client)
    for more in AROUND:
        client.send_bytes(padded(asked, size + more, more + 10))
        check_answer(client, asked, more + 10)


@pytest.mark.parametrize("boundary", SIZES)
@pytest.mark.parametrize("handler", HANDLERS)
def test_a_frame_that_is_cut_at_the_end_of_a_buffer(client: WireClient, handler: str, boundary: int) -> None:
    asked = asked_of(handler, client)
    for more in AROUND:
        whole = padded(asked, boundary + boundary // 2, more + 10)
        client.send_bytes(whole[: boundary + more])
        time.sleep(0.005)
        client.send_bytes(whole[boundary + more :])
        check_answer(client, asked, more + 10)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("handler", HANDLERS)
def test_frames_behind_one_that_fills_a_buffer(client: WireClient, handler: str, size: int) -> None:
    """In one write: large ones one behind the other, with a small one between and behind."""
    asked = asked_of(handler, client)
    small = request_bytes(MetadataRequest(topics=[]), 12, 99)
    for more in (-4, -1, 0, 1, 4):
        large = [padded(asked, size + more, number) for number in range(3)]
        client.send_bytes(large[0] + large[1] + small + large[2] + small)
        for number in range(3):
            check_answer(client, asked, number)
            if number:
                assert client.receive(MetadataRequest(), 12, 99).brokers


@pytest.mark.parametrize("handler", HANDLERS)
def test_small_frames_that_fill_a_buffer(client: WireClient, handler: str) -> None:
    """Many times over, while each has to wait for the one before it."""
    asked = asked_of(handler, client)
    count = 60
    client.send_bytes(b"".join(padded(asked, 4096 + number % 7, number) for number in range(count)))
    for number in range(count):
        check_answer(client, asked, number)


def test_records_that_wait_are_those_that_were_sent(server: Server, client: WireClient) -> None:
    """A buffer is not handed to another connection before its request is answered."""
    topic = unique_topic(client, flush_messages="1")
    values = [bytes([number]) * 200_000 for number in range(20)]
    with ExitStack() as stack:
        clients = [stack.enter_context(WireClient(server.bootstrap)) for _ in values]
        requests = [produce_request(topic, batch_of(value)) for value in values]
        for one, request in zip(clients, requests, strict=True):
            one.post(request, PRODUCE_BY_NAME)
        for one, request in zip(clients, requests, strict=True):
            assert one.receive(request, PRODUCE_BY_NAME).responses[0].partition_responses[0].error_code == 0
    assert log_end_offset(client, topic) == len(values)


def test_halves_of_many_connections_are_not_mixed_up(server: Server) -> None:
    """What is read goes into a buffer that all share, until somebody has to keep it."""
    with ExitStack() as stack:
        clients = [stack.enter_context(WireClient(server.bootstrap)) for _ in range(8)]
        asked = [asked_of(HANDLERS[number % len(HANDLERS)], client) for number, client in enumerate(clients)]
        frames = [padded(one, 3_000 + number, number) for number, one in enumerate(asked)]
        for cut in (1, 4, 700, 2_900):
            for client, whole in zip(clients, frames, strict=True):
                client.socket.sendall(whole[:cut])
                time.sleep(0.002)  # so that each half is read by itself
            for client, whole in zip(clients, frames, strict=True):
                client.socket.sendall(whole[cut:] + whole)
            for number, client in enumerate(clients):
                check_answer(client, asked[number], number)
                check_answer(client, asked[number], number)


def test_a_fetch_of_many_idle_partitions(client: WireClient) -> None:
    count = 300
    name = new_topic(client, unique_topic(client).ljust(249, "x"), count)
    asked = fetch_request(*(wanted(name, 0, index) for index in range(count)), max_wait_ms=200)
    assert len(request_bytes(asked, FETCH_BY_NAME)) > SMALL_BUFFER_BYTES
    answer = client.send(asked, FETCH_BY_NAME)
    assert sum(len(topic.partitions) for topic in answer.responses) == count


# what connections cost


@pytest.fixture(scope="module")
@starts_processes
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with Platform(tmp_path_factory.mktemp("platform")) as running:
        with WireClient(running.bootstrap) as client:
            new_topic(client, "two", 2)
        yield running


def descriptors(platform: Platform) -> int:
    return len(os.listdir(Path("/proc", str(platform.broker.pid), "fd")))


class Growth:
    """How much memory and how many descriptors a broker takes more than at first."""

    def __init__(self, platform: Platform) -> None:
        self._platform = platform
        self._descriptors = descriptors(platform)
        self._bytes = platform.broker.rss_bytes()

    @property
    def descriptors(self) -> int:
        return descriptors(self._platform) - self._descriptors

    @property
    def bytes(self) -> int:
        return self._platform.broker.rss_bytes() - self._bytes


def produce_in_two(size: int) -> ProduceRequest:
    """A request with two batches, which come to that many bytes."""
    data = [PartitionProduceData(index, batch_of(bytes(size // 2))) for index in range(2)]
    return ProduceRequest(
        acks=-1, timeout_ms=30_000, topic_data=[TopicProduceData(name="two", partition_data=data)]
    )


@only_penstock
@pytest.mark.processes
@pytest.mark.parametrize("at_once", [1, 100])
def test_closed_producers_leave_no_memory(platform: Platform, at_once: int) -> None:
    request = produce_in_two(MIB + MIB // 2)
    growth = Growth(platform)
    for _ in range(200 // at_once):
        with ExitStack() as stack:
            clients = [stack.enter_context(WireClient(platform.bootstrap)) for _ in range(at_once)]
            for client in clients:
                client.send(request, PRODUCE_BY_NAME)
    wait_for(lambda: growth.descriptors < 10, what="the connections to be closed")
    assert growth.bytes < 40 * MIB


@only_penstock
@pytest.mark.processes
def test_an_announced_length_takes_no_memory(platform: Platform) -> None:
    growth = Growth(platform)
    for _ in range(30):
        with socket.create_connection(("127.0.0.1", platform.port)) as announcing:
            announcing.sendall(struct.pack(">i", 100_000_000) + b"x")
            time.sleep(0.01)
    assert growth.bytes < 8 * MIB
    with ExitStack() as stack:
        for _ in range(30):
            client = stack.enter_context(WireClient(platform.bootstrap))
            client.send_bytes(struct.pack(">i", 100_000_000) + bytes(300_000))
        time.sleep(0.2)
        assert growth.bytes < 30 * MIB


@only_penstock
@pytest.mark.processes
def test_an_idle_connection_costs_one_descriptor_and_a_few_kilobytes(platform: Platform) -> None:
    count = 1000
    with ExitStack() as stack:
        growth = Growth(platform)
        for _ in range(count):
            client = stack.enter_context(WireClient(platform.bootstrap))
            client.send(MetadataRequest(topics=[]), 12)
        assert growth.descriptors <= count + 5
        assert growth.bytes < count * 10_000
    wait_for(lambda: growth.descriptors < 10, what="the connections to be closed")
