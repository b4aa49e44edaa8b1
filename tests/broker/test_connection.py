"""Bytes that are no request: the connection is closed without an answer, and the broker serves on."""

import asyncio
import struct
import time

import pytest

from penstock.testing import InProcessBroker, Rule
from penstock.testing.interception.exchange import Exchange
from penstock.wire.api_keys import ApiKey
from penstock.wire.frames import decode_response_frame
from penstock.wire.messages.api_versions import ApiVersionsRequest, ApiVersionsResponse
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from penstock.wire.messages.produce import ProduceRequest
from penstock.wire.schema import ApiMessage
from tests.broker.asking import (
    FETCH_BY_NAME,
    PRODUCE_BY_NAME,
    batch_of,
    create_topic,
    fetch_request,
    has_leaders,
    log_end_offset,
    metadata,
    produce_request,
    produced,
    records_of,
    wanted,
)
from tests.broker.conftest import Server
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient, frame, request_bytes, request_header

MAX_REQUEST_BYTES = 104_857_600
FIRST_FLEXIBLE_METADATA = 9
METADATA, API_VERSIONS = ApiKey.METADATA, ApiKey.API_VERSIONS


def metadata_body(version: int = 12) -> bytes:
    """Header and body of a Metadata request for no topics."""
    return request_bytes(MetadataRequest(topics=[]), version)[4:]


def string(text: bytes) -> bytes:
    return struct.pack(">h", len(text)) + text


CLOSING = {
    "http": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "tls client hello": bytes.fromhex("16030100ff010000fb0303") + bytes(64),
    "size negative": struct.pack(">i", -1),
    "size most negative": struct.pack(">i", -(2**31)),
    "size above the limit": struct.pack(">i", MAX_REQUEST_BYTES + 1),
    "size largest": struct.pack(">i", 2**31 - 1),
    "size zero": frame(b""),
    "shorter than a header": frame(b"abc"),
    "random bytes in a frame": frame(bytes(range(256))),
    "unknown api": frame(request_header(999, 0)),
    "negative api": frame(request_header(-1, 0)),
    "api of a controller": frame(request_header(ApiKey.VOTE, 0, flexible=True)),
    "version above": frame(request_header(METADATA, 99, flexible=True)),
    "version negative": frame(request_header(METADATA, -1)),
    "version that was dropped": frame(request_header(ApiKey.PRODUCE, 2)),
    "client id beyond the frame": frame(struct.pack(">hhih", METADATA, 1, 1, 100) + b"\0\0\0\0"),
    "no body": frame(request_header(METADATA, 1)),
    "body cut off": frame(request_header(METADATA, 1) + b"\0\0"),
    "count beyond the frame": frame(request_header(METADATA, 1) + struct.pack(">i", 1_000_000)),
    "count largest": frame(request_header(METADATA, 1) + struct.pack(">i", 2**31 - 1)),
    "compact count beyond the frame": frame(
        request_header(METADATA, 12, flexible=True) + b"\xff\xff\xff\xff\x07"
    ),
    "length beyond the frame": frame(request_header(METADATA, 1) + struct.pack(">ih", 1, 30_000) + b"ab"),
    "string longer than any may be": frame(
        request_header(METADATA, 12, flexible=True)
        + b"\x02"
        + bytes(16)
        + b"\x81\x80\x02"
        + b"x" * 32_768
        + b"\0\0\0\0"
    ),
    "null where none may be": frame(request_header(METADATA, 1) + struct.pack(">ih", 1, -1)),
    "varint without end": frame(request_header(METADATA, 12, flexible=True) + b"\xff" * 7),
    "tagged field beyond the frame": frame(metadata_body()[:-1] + b"\x01\x63\x7fabc"),
    "tagged fields beyond the frame": frame(metadata_body()[:-1] + b"\x7f"),
}


@pytest.mark.parametrize("data", CLOSING.values(), ids=CLOSING.keys())
def test_closes_the_connection(server: Server, client: WireClient, data: bytes) -> None:
    with WireClient(server.bootstrap) as sender:
        sender.send_bytes(data)
        sender.expect_closed()
    assert metadata(client).brokers, "the broker serves others on"


def test_requests_before_a_bad_one_are_answered(client: WireClient) -> None:
    good = request_bytes(MetadataRequest(topics=[]), 12, correlation_id=7)
    client.send_bytes(good + frame(request_header(999, 0)) + good)
    assert client.receive(MetadataRequest(), 12, 7).brokers
    client.expect_closed()


@pytest.mark.parametrize("kept", [1, 3, 4, 5, 14, 40])
def test_a_frame_that_breaks_off_is_not_carried_out(
    server: Server, client: WireClient, topic: str, kept: int
) -> None:
    whole = request_bytes(produce_request(topic, batch_of(b"bread")), PRODUCE_BY_NAME)
    with WireClient(server.bootstrap) as sender:
        sender.send_bytes(whole[:kept])
        sender.end_sending()
        sender.expect_closed()
    assert log_end_offset(client, topic) == 0


def test_all_but_the_last_byte_is_not_enough(server: Server, client: WireClient, topic: str) -> None:
    whole = request_bytes(produce_request(topic, batch_of(b"bread")), PRODUCE_BY_NAME)
    with WireClient(server.bootstrap) as sender:
        sender.send_bytes(whole[:-1])
        sender.expect_silence()
    assert log_end_offset(client, topic) == 0


# what looks odd and is taken


def test_the_longest_string(client: WireClient) -> None:
    name = "x" * 32_767
    (topic,) = client.send(MetadataRequest(topics=[MetadataRequestTopic(name=name)]), 12).topics
    assert topic.name == name


def test_unknown_tagged_fields_are_skipped(client: WireClient) -> None:
    body = metadata_body()
    header_end = len(request_header(METADATA, 12))
    assert body[header_end] == 0
    tags = b"\x02\x63\x03abc\xff\x01\x00"  # two fields: 99 with three bytes, 255 with none
    for odd in (body[:-1] + tags, body[:header_end] + tags + body[header_end + 1 :]):
        client.send_bytes(frame(odd))
        assert client.receive(MetadataRequest(), 12, 1).brokers


def test_unknown_tagged_fields_in_a_structure_are_skipped(client: WireClient, topic: str) -> None:
    body = request_bytes(MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), 12)[4:]
    at = body.index(topic.encode()) + len(topic)
    client.send_bytes(frame(body[:at] + b"\x01\x05\x02hi" + body[at + 1 :]))
    assert [found.name for found in client.receive(MetadataRequest(), 12, 1).topics] == [topic]


@pytest.mark.parametrize("version", [1, 12])
def test_bytes_after_the_message_are_ignored(client: WireClient, version: int) -> None:
    client.send_bytes(frame(metadata_body(version) + b"left over"))
    assert client.receive(MetadataRequest(), version, 1).brokers


@pytest.mark.parametrize("size", [-1, -2])
def test_a_client_need_not_name_itself(client: WireClient, size: int) -> None:
    client.send_bytes(frame(struct.pack(">hhih", METADATA, 1, 1, size) + struct.pack(">i", 0)))
    assert client.receive(MetadataRequest(), 1, 1).brokers


def test_broken_utf8_is_replaced(client: WireClient) -> None:
    header = struct.pack(">hhih", METADATA, 1, 1, 2) + b"\xff\xfe"
    client.send_bytes(frame(header + struct.pack(">i", 1) + string(b"\xff\xfe")))
    (topic,) = client.receive(MetadataRequest(), 1, 1).topics
    assert (topic.name, topic.error_code) == ("��", 17)


def test_a_negative_count_reads_as_null(client: WireClient, topic: str) -> None:
    client.send_bytes(frame(request_header(METADATA, 1) + struct.pack(">i", -2)))
    assert topic in [found.name for found in client.receive(MetadataRequest(), 1, 1).topics]


# ApiVersions, the one request whose unknown versions are answered


@pytest.mark.parametrize("version", [-1, 5, 99, 32_767])
@pytest.mark.parametrize("body", [b"", b"whatever follows"])
def test_an_unknown_version_of_api_versions_is_answered_in_version_0(
    client: WireClient, version: int, body: bytes
) -> None:
    client.send_bytes(frame(request_header(API_VERSIONS, version, flexible=version > 0) + body))
    correlation_id, response = decode_response_frame(ApiVersionsResponse, 0, client.receive_frame())
    assert (correlation_id, response.error_code) == (1, 35)
    assert [(api.api_key, api.min_version, api.max_version) for api in response.api_keys] == [
        (API_VERSIONS, 0, 4)
    ]
    assert len(client.send(ApiVersionsRequest("test", "1.0")).api_keys) > 20, "the connection stays"


def test_every_advertised_version_of_metadata_is_served(client: WireClient) -> None:
    table = client.send(ApiVersionsRequest("test", "1.0")).api_keys
    (own,) = [api for api in table if api.api_key == METADATA]
    for version in range(own.min_version, own.max_version + 1):
        assert client.send(MetadataRequest(topics=[]), version).brokers


@pytest.mark.parametrize("name", ["", "a b", "-x", "x-", "ä"])
def test_a_strange_client_name_is_refused_and_the_connection_stays(client: WireClient, name: str) -> None:
    assert client.send(ApiVersionsRequest(name, "1.0"), 3).error_code == 42
    assert client.send(ApiVersionsRequest("test", "1.0"), 3).error_code == 0


@pytest.mark.parametrize("delay_seconds", [0, 0.05])
def test_an_answer_that_cannot_be_encoded_closes_the_connection(
    broker: InProcessBroker, caplog: pytest.LogCaptureFixture, delay_seconds: float
) -> None:
    """Answered at once or after a wait; what is told of it is one line."""
    too_much = MetadataResponse(throttle_time_ms=2**40)

    async def act(rule: Rule, exchange: Exchange) -> ApiMessage:
        await asyncio.sleep(delay_seconds)
        return too_much

    with broker.interceptor.rule(ApiKey.METADATA, act), WireClient(broker.bootstrap_servers) as client:
        client.post(MetadataRequest(topics=[]), 12)
        client.expect_closed()
    (line,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert "MetadataResponse v12 can't be encoded" in line.getMessage()
    assert line.exc_info is None
    with WireClient(broker.bootstrap_servers) as client:
        assert metadata(client).brokers


# frames in pieces


def test_a_produce_and_a_metadata_request_byte_by_byte(client: WireClient, topic: str) -> None:
    for request, version in (
        (produce_request(topic, batch_of(b"bread")), PRODUCE_BY_NAME),
        (MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), 12),
    ):
        whole = request_bytes(request, version)
        client.send_pieces(whole[at : at + 1] for at in range(len(whole)))
        client.receive(request, version, 1)
    assert log_end_offset(client, topic) == 1


def test_two_requests_split_at_every_byte(client: WireClient, topic: str) -> None:
    asked = (produce_request(topic, batch_of(b"bread")), PRODUCE_BY_NAME), (MetadataRequest(topics=[]), 12)
    whole = b"".join(
        request_bytes(request, version, number) for number, (request, version) in enumerate(asked)
    )
    for at in range(1, len(whole)):
        client.send_pieces([whole[:at], whole[at:]])
        produced_at = client.receive(*asked[0], 0).responses[0].partition_responses[0]
        assert (produced_at.error_code, produced_at.base_offset) == (0, at - 1)
        assert client.receive(*asked[1], 1).brokers


def test_many_requests_in_one_write_are_answered_in_order(client: WireClient, topic: str) -> None:
    count = 300
    asked: list[tuple[ProduceRequest | MetadataRequest, int]] = []
    for number in range(count):
        asked.append((produce_request(topic, batch_of(b"%d" % number)), PRODUCE_BY_NAME))
        asked.append((MetadataRequest(topics=[]), 12))
    client.send_bytes(
        b"".join(request_bytes(request, version, number) for number, (request, version) in enumerate(asked))
    )
    offsets = []
    for number, (request, version) in enumerate(asked):
        response = client.receive(request, version, number)
        if not isinstance(response, MetadataResponse):
            offsets.append(response.responses[0].partition_responses[0].base_offset)
    assert offsets == list(range(count))


def test_a_large_frame_between_small_ones(client: WireClient, topic: str) -> None:
    large = batch_of(b"x" * 900_000)
    small = request_bytes(MetadataRequest(topics=[]), 12, 1)
    client.send_bytes(small + request_bytes(produce_request(topic, large), PRODUCE_BY_NAME, 2) + small)
    assert client.receive(MetadataRequest(), 12, 1).brokers
    assert client.receive(produce_request(topic, large), PRODUCE_BY_NAME, 2).responses
    assert client.receive(MetadataRequest(), 12, 1).brokers
    assert produced(client, topic, batch_of(b"small")) == 1


# a client that reads slowly


def test_answers_that_the_socket_does_not_take_at_once(
    server: Server, client: WireClient, topic: str
) -> None:
    """Record bytes and other answers, in order and whole, however late the client reads them."""
    values = [bytes([number]) * 900_000 for number in range(12)]
    for value in values:
        produced(client, topic, batch_of(value))
    rounds = 4
    asked = fetch_request(wanted(topic, max_bytes=1 << 24))
    with WireClient(server.bootstrap) as slow:
        for number in range(rounds):
            slow.send_bytes(request_bytes(asked, FETCH_BY_NAME, number))
            slow.send_bytes(request_bytes(MetadataRequest(topics=[]), 12, 100 + number))
        time.sleep(0.2)
        for number in range(rounds):
            answer = slow.receive(asked, FETCH_BY_NAME, number)
            assert [one.value for one in records_of(answer.responses[0].partitions[0])] == values
            assert slow.receive(MetadataRequest(), 12, 100 + number).brokers


def test_a_client_that_leaves_before_it_has_read(server: Server, client: WireClient, topic: str) -> None:
    for _ in range(12):
        produced(client, topic, batch_of(bytes(900_000)))
    asked = fetch_request(wanted(topic, max_bytes=1 << 24))
    for ends_first in (True, False):
        with WireClient(server.bootstrap) as leaving:
            for _ in range(3):
                leaving.post(asked, FETCH_BY_NAME)
            time.sleep(0.05)
            if ends_first:
                leaving.end_sending()
                time.sleep(0.05)
    assert metadata(client).brokers


@pytest.mark.parametrize("milliseconds", [0, 1, 2, 4, 8])
def test_what_a_client_asked_for_before_it_left_is_done(server: Server, milliseconds: int) -> None:
    """Not half of it, at any time: neither is a topic created in ZooKeeper alone, nor is one left there."""
    name = f"asked-before-leaving-{milliseconds}"
    creation = CreateTopicsRequest([CreatableTopic(name, 1, 1)], 30_000)
    for request in (creation, DeleteTopicsRequest(topics=[DeleteTopicState(name=name)], timeout_ms=30_000)):
        with WireClient(server.bootstrap) as leaving:
            leaving.post(request)
            time.sleep(milliseconds / 1000)
        with WireClient(server.bootstrap) as staying:
            if request is creation:
                wait_for(lambda: has_leaders(staying, name, 1), 5.0, "the topic to be there")
    with WireClient(server.bootstrap) as staying:
        wait_for(lambda: metadata(staying, name).topics[0].error_code, 5.0, "the topic to be gone")
        wait_for(lambda: create_topic(staying, name).error_code == 0, 5.0, "its name to be free")
