"""Requests that are longer than what is read and answered at once, which Kafka serves as well."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.broker.long_requests import MAX_ELEMENTS_IN_ONE_PIECE, MAX_ELEMENTS_IN_SLICES
from penstock.errors import ErrorCode
from penstock.wire.codec import MAX_ELEMENTS
from penstock.wire.messages.describe_configs import DescribeConfigsRequest, DescribeConfigsResource
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from tests.broker.asking import LATEST, TOPIC_RESOURCE, batch_of, metadata, new_topic, produced, topic_id
from tests.broker.committing import find_coordinator
from tests.broker.conftest import only_penstock
from tests.broker.platform import Platform
from tests.support.bystander import standing_by
from tests.support.wire_client import WireClient, frame, request_header
from tools.suite.processes import starts_processes

pytestmark = [pytest.mark.processes, only_penstock]

LONG = 40_000
LONGEST_WAIT_SECONDS = 0.25
KEPT = "kept"
KEPT_PARTITIONS = 10
SETTINGS = {"auto.create.topics.enable": "false", "offsets.topic.num.partitions": "1"}
assert LONG > MAX_ELEMENTS


@pytest.fixture(scope="module")
@starts_processes
def platform(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with Platform(tmp_path_factory.mktemp("long") / Path("platform"), SETTINGS) as running:
        with WireClient(running.bootstrap) as client:
            new_topic(client, KEPT, KEPT_PARTITIONS)
        yield running


@pytest.fixture
@starts_processes
def client(platform: Platform) -> Iterator[WireClient]:
    """While it asks, nobody waits long."""
    with (
        standing_by(platform.bootstrap, platform.broker.pid, KEPT) as waits,
        WireClient(platform.bootstrap) as connected,
    ):
        yield connected
    assert waits.broker < LONGEST_WAIT_SECONDS


def test_many_topics(client: WireClient) -> None:
    names = [f"topic-{number}" for number in range(LONG - 1)] + [KEPT]
    request = MetadataRequest([MetadataRequestTopic(name=name) for name in names])
    topics = client.send(request).topics
    assert [topic.name for topic in topics] == names
    assert [topic.error_code for topic in topics[-2:]] == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, 0]


def test_groups_with_long_names(client: WireClient) -> None:
    """Few, and each takes as long as hundreds."""
    names = [f"group-{number}".ljust(32_000, "x") for number in range(100)]
    answer = client.send(DescribeGroupsRequest(names))
    assert [group.group_id for group in answer.groups] == names
    described = client.send(
        DescribeConfigsRequest([DescribeConfigsResource(TOPIC_RESOURCE, name, None) for name in names])
    )
    assert [result.resource_name for result in described.results] == names


def test_the_configs_of_many_topics(client: WireClient) -> None:
    names = [f"topic-{number}" for number in range(LONG)]
    request = DescribeConfigsRequest([DescribeConfigsResource(TOPIC_RESOURCE, name, None) for name in names])
    assert [result.resource_name for result in client.send(request).results] == names


def test_many_partitions_of_one_topic_are_one_topic_in_the_answer(client: WireClient) -> None:
    partitions = [ListOffsetsPartition(partition_index=number, timestamp=LATEST) for number in range(LONG)]
    topics = [ListOffsetsTopic("before", partitions[:1]), ListOffsetsTopic(KEPT, partitions)]
    before, topic = client.send(ListOffsetsRequest(topics=topics)).topics
    assert (before.name, topic.name) == ("before", KEPT)
    assert [each.partition_index for each in topic.partitions] == list(range(LONG))
    assert {each.error_code for each in topic.partitions[:KEPT_PARTITIONS]} == {0}
    assert {each.error_code for each in topic.partitions[KEPT_PARTITIONS:]} == {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    }


def test_offsets_of_many_partitions(client: WireClient) -> None:
    find_coordinator(client, "long")
    topics = [
        OffsetCommitRequestTopic(
            name=KEPT,
            partitions=[
                OffsetCommitRequestPartition(number % KEPT_PARTITIONS, number, -1, None)
                for number in range(LONG)
            ],
        )
    ]
    request = OffsetCommitRequest(group_id="long", generation_id_or_member_epoch=-1, topics=topics)
    deadline = time.monotonic() + 20
    while True:
        (topic,) = client.send(request, 9).topics
        codes = {partition.error_code for partition in topic.partitions}
        if codes == {0} or time.monotonic() > deadline:
            break
        time.sleep(0.1)
    assert codes == {0}
    assert len(topic.partitions) == LONG


@pytest.mark.parametrize("max_wait_ms", [0, 60_000])
def test_a_fetch_of_many_partitions(platform: Platform, client: WireClient, max_wait_ms: int) -> None:
    """Which may wait for records, too; most of them are not there."""
    known = topic_id(client, KEPT)
    partitions = [
        FetchPartition(partition=number, fetch_offset=max_wait_ms and 1, partition_max_bytes=100)
        for number in range(LONG)
    ]
    request = FetchRequest(
        max_wait_ms=max_wait_ms,
        min_bytes=1,
        max_bytes=1_000_000,
        session_epoch=-1,
        topics=[FetchTopic(topic_id=known, partitions=partitions)],
    )
    with WireClient(platform.bootstrap) as other:
        if not max_wait_ms:
            for partition in range(KEPT_PARTITIONS):
                produced(other, KEPT, batch_of(b"bread"), partition)
        asked = client.post(request)
        if max_wait_ms:
            client.expect_silence(1.0)
            produced(other, KEPT, batch_of(b"bread"), 3)
        (topic,) = client.receive(request, None, asked).responses
    assert len(topic.partitions) == LONG
    assert any(partition.records for partition in topic.partitions)


def test_a_client_that_leaves_while_its_long_fetch_waits(platform: Platform, client: WireClient) -> None:
    known = topic_id(client, KEPT)
    partitions = [FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=100) for _ in range(LONG)]
    topics = [FetchTopic(topic_id=known, partitions=partitions)]
    request = FetchRequest(max_wait_ms=2**31 - 1, min_bytes=2**30, session_epoch=-1, topics=topics)
    with WireClient(platform.bootstrap) as leaving:
        leaving.post(request)
        time.sleep(0.5)
    produced(client, KEPT, batch_of(b"bread"))
    assert metadata(client).brokers
    assert "Traceback" not in platform.broker.log_text()


@pytest.mark.parametrize("count", [MAX_ELEMENTS_IN_SLICES, MAX_ELEMENTS_IN_SLICES + 1])
def test_what_is_served_at_most(client: WireClient, count: int) -> None:
    version = DescribeGroupsRequest.VERSIONS[1]
    start = request_header(DescribeGroupsRequest.API_KEY, version, flexible=True)
    length = count + 1
    array = bytes([length & 0x7F | 0x80, length >> 7 & 0x7F | 0x80, length >> 14])
    names = b"".join(b"\x07%06d" % number for number in range(count))
    client.send_bytes(frame(start + array + names + b"\0\0"))
    if count == MAX_ELEMENTS_IN_SLICES:
        assert len(client.receive_frame()) > count
    else:
        client.expect_closed()


def test_a_request_that_cannot_be_cut_has_a_lower_bound(client: WireClient) -> None:
    partitions = [FetchPartition(partition=0)] * (MAX_ELEMENTS_IN_ONE_PIECE + 1)
    client.post(
        FetchRequest(session_epoch=-1, topics=[FetchTopic(topic_id=bytes(16), partitions=partitions)])
    )
    client.expect_closed()
