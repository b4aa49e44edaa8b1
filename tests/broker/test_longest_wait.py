"""One event loop serves everybody, so nobody may keep it: while one client is served, others are answered.

Every API is sent the largest bodies that a request may have: each of its arrays in turn as long as is taken, with
partitions that there are, and with the longest names that fit. That is what `make faults` does; `make test` asks for as
many elements as are answered at once, and for an eighth of the bytes.
A client in a process of its own asks all the while; judged is the broker's part of its longest wait, which does not
count the time that either of them stood in line for a processor (`tests.support.bystander`).
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.broker.long_requests import (
    LONG_FROM_BYTES,
    MAX_ELEMENTS_IN_ONE_PIECE,
    MAX_ELEMENTS_IN_SLICES,
    SLICED,
)
from penstock.broker.router import APIS, Api, load_handlers
from penstock.errors import ErrorCode
from penstock.records.builder import build_batch
from penstock.records.compression import Codec
from penstock.records.reader import Record
from penstock.wire.codec import MAX_ELEMENTS
from penstock.wire.messages.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from penstock.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from penstock.wire.messages.create_topics import CreatableTopic, CreateTopicsRequest
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.describe_producers import DescribeProducersRequest
from penstock.wire.messages.describe_producers import TopicRequest as DescribedTopic
from penstock.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.wire.messages.list_transactions import ListTransactionsRequest
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from penstock.wire.primitives import MAX_STRING_BYTES
from penstock.wire.schema import ApiMessage, Message
from tests.broker.asking import (
    APPEND,
    PRODUCE_BY_NAME,
    TOPIC_RESOURCE,
    batch_of,
    create_topic,
    has_leaders,
    log_end_offset,
    metadata,
    new_topic,
    now_ms,
    produce,
    produce_request,
    topic_id,
    unique_topic,
)
from tests.broker.committing import find_coordinator
from tests.broker.conftest import only_penstock
from tests.broker.consumer_members import consumers_of
from tests.broker.platform import Platform
from tests.broker.transacting import Transactor, new_transactional_id
from tests.support.bystander import Waits, standing_by
from tests.support.wire_client import WireClient, frame, request_bytes, request_header
from tools.suite.processes import starts_processes

pytestmark = [pytest.mark.faults, pytest.mark.processes, only_penstock]

LONGEST_WAIT_SECONDS = 0.25
IS_WHOLE = "PENSTOCK_FAULT_LARGEST_BODIES" in os.environ
LONG_NAMES_MB = 95 if IS_WHOLE else 12
SETTINGS = {"auto.create.topics.enable": "false"}
KEPT = "kept"
KEPT_PARTITIONS = 3

load_handlers()
REQUESTS = {api.request.__name__: api for _, api in sorted(APIS.items())}


@dataclass
class Filler:
    """Makes bodies: every field set, one element in every array, but for the one array that is to be long."""

    topic_id: bytes
    long: str = ""
    length: int = 1
    string_length: int = 0
    prefix: str = ""
    """Of all names, so that nothing is known of them from another API's."""
    _numbers: Iterator[int] = field(default_factory=lambda: iter(range(10**9)))

    def message(self, cls: type[Message], path: str = "") -> Message:
        message = cls()
        for each in cls.SCHEMA:
            here = f"{path}.{each.name}"
            make = self._maker(each, here)
            if each.is_array:
                value: object = [make() for _ in range(self.length if here == self.long else 1)]
            else:
                value = make()
            setattr(message, each.name, value)
        return message

    def _maker(self, each: Any, here: str) -> Any:
        if each.struct is not None:
            return lambda: self.message(each.struct, here)
        if each.element_kind == "string":
            return lambda: self._string(here)
        if "partition" in each.name and each.element_kind == "int32":
            return lambda: next(self._numbers) % KEPT_PARTITIONS
        plain = {"bytes": b"bread", "records": None, "uuid": self.topic_id, "bool": False, "float64": 1.0}
        return lambda: plain.get(each.element_kind, 0)

    def _string(self, here: str) -> str:
        """Topics that are there for the API's short way, and as many names as there are elements for its long one."""
        if self.length == 1 or not f"{here}.".startswith(f"{self.long}."):
            return KEPT
        return f"{self.prefix}-{next(self._numbers)}".ljust(self.string_length, "x")


def arrays_of(cls: type[Message], path: str = "") -> Iterator[str]:
    for each in cls.SCHEMA:
        here = f"{path}.{each.name}"
        if each.is_array:
            yield here
        if each.struct is not None:
            yield from arrays_of(each.struct, here)


def strings_at(cls: type[Message], path: str) -> int:
    """How many strings an element of that array has; 1 if it is one."""
    (each,) = (field for field in cls.SCHEMA if field.name == path.split(".")[1])
    if each.struct is None:
        return each.element_kind == "string"
    below = path.split(".")[2:]
    if below:
        return strings_at(each.struct, f".{'.'.join(below)}")
    return sum(strings_at(each.struct, f".{field.name}") for field in each.struct.SCHEMA)


@pytest.fixture(scope="module")
@starts_processes
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Platform]:
    with Platform(tmp_path_factory.mktemp("busy"), SETTINGS) as platform:
        with WireClient(platform.bootstrap) as client:
            new_topic(client, KEPT, KEPT_PARTITIONS)
            find_coordinator(client, KEPT)
            new_transactional_id(client)
        yield platform


def waiting(platform: Platform) -> AbstractContextManager[Waits]:
    return standing_by(platform.bootstrap, platform.broker.pid, KEPT)


def longest_wait(broker: Platform, *frames: bytes) -> float:
    """What a bystander waits at most while these frames are answered, or refused by closing the connection."""
    with waiting(broker) as bystander:
        for data in frames:
            with WireClient(broker.bootstrap, timeout=60.0) as client:
                try:
                    client.send_bytes(data)
                    client.receive_frame()
                except ConnectionError:
                    continue
    return bystander.broker


def frame_of(api: Api, filler: Filler) -> bytes:
    message = filler.message(api.request)
    assert isinstance(message, ApiMessage)
    if hasattr(message, "acks"):
        message.acks = 1
    if hasattr(message, "max_wait_ms"):
        message.max_wait_ms = 1
    return request_bytes(message, api.versions[1])


@pytest.mark.parametrize("name", REQUESTS)
def test_no_api_keeps_the_loop(busy: Platform, name: str) -> None:
    api = REQUESTS[name]
    with WireClient(busy.bootstrap) as client:
        known = topic_id(client, KEPT)
    most = MAX_ELEMENTS
    if IS_WHOLE:
        most = MAX_ELEMENTS_IN_SLICES if api.request in SLICED else MAX_ELEMENTS_IN_ONE_PIECE
    frames = []
    for path in arrays_of(api.request):
        per_element = 1 + sum(other.startswith(f"{path}.") for other in arrays_of(api.request))
        count = most // per_element - 10
        frames.append(frame_of(api, Filler(known, path, count, prefix=name)))
        if len(frames[-1]) > LONG_FROM_BYTES:  # it is done in slices: as many as are not
            count = count * (LONG_FROM_BYTES - 10_000) // len(frames[-1])
            frames.append(frame_of(api, Filler(known, path, count, prefix=name)))
    assert longest_wait(busy, *frames) < LONGEST_WAIT_SECONDS


@pytest.mark.parametrize("name", REQUESTS)
def test_no_api_keeps_the_loop_for_long_names(busy: Platform, name: str) -> None:
    api = REQUESTS[name]
    with WireClient(busy.bootstrap) as client:
        known = topic_id(client, KEPT)
    frames = []
    for path in arrays_of(api.request):
        if strings := strings_at(api.request, path):
            count = LONG_NAMES_MB * 1_000_000 // (strings * MAX_STRING_BYTES)
            frames.append(frame_of(api, Filler(known, path, count, MAX_STRING_BYTES, name)))
    assert longest_wait(busy, *frames) < LONGEST_WAIT_SECONDS


# what used to keep it for seconds


def test_a_request_of_too_many_elements_is_not_read(busy: Platform) -> None:
    version = DescribeGroupsRequest.VERSIONS[1]
    start = request_header(DescribeGroupsRequest.API_KEY, version, flexible=True)
    data = frame(start + b"\x81\xad\xe2\x04" + b"\x01" * 10_000_000 + b"\0\0")
    assert longest_wait(busy, data) < LONGEST_WAIT_SECONDS


def test_a_request_of_too_many_tagged_fields_is_not_read(busy: Platform) -> None:
    fields = b"\x81\xad\xe2\x04" + b"\x63\x00" * 10_000_001
    for start in (request_header(MetadataRequest.API_KEY, 12), request_bytes(MetadataRequest([]), 12)[4:-1]):
        assert longest_wait(busy, frame(start + fields)) < LONGEST_WAIT_SECONDS


@pytest.mark.parametrize("validate_only", [False, True])
def test_absurd_numbers_of_partitions(busy: Platform, validate_only: bool) -> None:
    with WireClient(busy.bootstrap) as client, waiting(busy) as bystander:
        for count in (10_001, 2**31 - 1):
            topics = [CreatableTopic("huge", count, 1), CreatableTopic("small", 1, 1)]
            answer = client.send(CreateTopicsRequest(topics, 30_000, validate_only))
            assert [(t.name, t.error_code, t.error_message) for t in answer.topics] == [
                (name, ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request.")
                for name in ("huge", "small")
            ]
            grown = CreatePartitionsTopic(KEPT, min(KEPT_PARTITIONS + count, 2**31 - 1), None)
            (result,) = client.send(CreatePartitionsRequest([grown], 30_000, validate_only)).results
            assert result.error_code == ErrorCode.POLICY_VIOLATION
            assert result.error_message == "Unable to perform excessively large batch operation."
        assert len(metadata(client, KEPT).topics[0].partitions) == KEPT_PARTITIONS
    assert bystander.broker < LONGEST_WAIT_SECONDS


def test_a_topic_that_is_named_often_is_answered_once(busy: Platform) -> None:
    names = [KEPT, "none"] * 10_000
    with WireClient(busy.bootstrap) as client:
        request = MetadataRequest([MetadataRequestTopic(name=name) for name in names])
        assert [topic.name for topic in client.send(request).topics] == [KEPT, "none"]


def test_a_regular_expression_of_a_large_program_is_refused(busy: Platform) -> None:
    request = ConsumerGroupHeartbeatRequest(
        group_id="large-program",
        member_id="m",
        member_epoch=0,
        rebalance_timeout_ms=30_000,
        subscribed_topic_regex="(x{0,1000})" * 40,
        topic_partitions=[],
    )
    with WireClient(busy.bootstrap) as client, waiting(busy) as bystander:
        find_coordinator(client, "large-program")
        deadline = time.monotonic() + 10
        while (answer := client.send(request)).error_code in (14, 15, 16) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert answer.error_code == ErrorCode.INVALID_REGULAR_EXPRESSION
        assert "pattern too large" in answer.error_message
    assert bystander.broker < LONGEST_WAIT_SECONDS


SLOW_REGEX = "(.?){400}z"
"""A small program, which RE2 follows for a millisecond through a long name."""


def test_slow_regular_expressions_over_many_topics(busy: Platform) -> None:
    expressions = 16
    topics = [CreatableTopic(f"long-{number:03}".ljust(245, "x"), 1, 1) for number in range(300)]
    with WireClient(busy.bootstrap, timeout=60.0) as client:
        assert not any(each.error_code for each in client.send(CreateTopicsRequest(topics, 30_000)).topics)
        assert has_leaders(client, topics[-1].name, 1)
        find_coordinator(client, "slow")
        with waiting(busy) as bystander:
            make = consumers_of(client, "slow", KEPT)
            regexes = [f"{SLOW_REGEX}|long-{number:03}x*" for number in range(expressions)]
            members = [make(f"m{number}", [], regex=regex) for number, regex in enumerate(regexes)]
            deadline = time.monotonic() + 60
            while not all(len(member.owned) == 1 for member in members) and time.monotonic() < deadline:
                for member in members:
                    member.beat()
                time.sleep(0.2)
        assert [len(member.owned) for member in members] == [1] * expressions
        gone = DeleteTopicsRequest(
            topics=[DeleteTopicState(name=each.name) for each in topics], timeout_ms=30_000
        )
        assert not any(each.error_code for each in client.send(gone).responses)
    assert bystander.broker < LONGEST_WAIT_SECONDS


@pytest.mark.parametrize("regex", ["(x{0,1000})" * 2900, r"\p{L}" * 6000], ids=lambda regex: regex[:11])
def test_long_regular_expressions_are_refused_at_once(busy: Platform, regex: str) -> None:
    with WireClient(busy.bootstrap) as client:
        find_coordinator(client, "long-regex")
        with waiting(busy) as bystander:
            member = consumers_of(client, "long-regex", KEPT)("m", [], regex=regex)
            member.beat()
    assert member.error == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert bystander.broker < LONGEST_WAIT_SECONDS


def test_a_slow_regular_expression_over_long_transactional_ids(busy: Platform) -> None:
    with WireClient(busy.bootstrap, timeout=60.0) as client:
        new_transactional_id(client)  # makes the topic of transactions
        for number in range(30):
            Transactor(client, f"{number}".ljust(30_000, "t"))
        with waiting(busy) as bystander:
            answer = client.send(ListTransactionsRequest(transactional_id_pattern="(.?){1000}z|5t*"))
    assert [each.transactional_id for each in answer.transaction_states] == ["5".ljust(30_000, "t")]
    assert bystander.broker < LONGEST_WAIT_SECONDS


def bomb(records: int, timestamp: int) -> bytes:
    raw = [Record(index, timestamp, None, b"") for index in range(records)]
    return bytes(build_batch(raw, codec=Codec.GZIP).view)


def test_a_large_batch_from_the_future_is_refused_by_its_header(busy: Platform) -> None:
    records = bomb(300_000, now_ms() + 10 * 86_400_000)
    with WireClient(busy.bootstrap) as client, waiting(busy) as bystander:
        answer = client.send(produce_request(KEPT, records), PRODUCE_BY_NAME)
        refused = answer.responses[0].partition_responses[0]
        assert refused.error_code == ErrorCode.INVALID_TIMESTAMP
        assert len(refused.record_errors) == 1
    assert bystander.broker < LONGEST_WAIT_SECONDS


def test_a_topic_of_many_partitions_comes_and_grows_in_slices(busy: Platform) -> None:
    with WireClient(busy.bootstrap) as client, waiting(busy) as bystander:
        assert create_topic(client, "many", 200).error_code == 0
        grown = CreatePartitionsTopic("many", 2_000, None)
        (result,) = client.send(CreatePartitionsRequest([grown], 30_000)).results
        assert result.error_code == 0
    assert bystander.broker < LONGEST_WAIT_SECONDS
    with WireClient(busy.bootstrap) as client:
        assert has_leaders(client, "many", 2_000)
    delete_records_of_all(busy, "many", 2_000)
    end_a_transaction_in_all(busy, "many", 2_000)
    with WireClient(busy.bootstrap) as client, waiting(busy) as bystander:
        (gone,) = client.send(
            DeleteTopicsRequest(topics=[DeleteTopicState(name="many")], timeout_ms=30_000)
        ).responses
        assert gone.error_code == 0
    assert bystander.broker < LONGEST_WAIT_SECONDS


def delete_records_of_all(busy: Platform, topic: str, partitions: int) -> None:
    """And of each more than once."""
    asked = [DeleteRecordsPartition(index % partitions, -1) for index in range(10 * partitions)]
    with WireClient(busy.bootstrap, timeout=120.0) as client, waiting(busy) as bystander:
        (answer,) = client.send(DeleteRecordsRequest([DeleteRecordsTopic(topic, asked)], 30_000)).topics
        assert [(one.error_code, one.low_watermark) for one in answer.partitions] == [(0, 0)] * len(asked)
    assert bystander.broker < LONGEST_WAIT_SECONDS


def end_a_transaction_in_all(busy: Platform, topic: str, partitions: int) -> None:
    with WireClient(busy.bootstrap, timeout=120.0) as client, waiting(busy) as bystander:
        transactor = Transactor(client, protocol=1)
        assert transactor.add(topic, *range(partitions)) == 0
        transactor.commit()
        assert all(log_end_offset(client, topic, index) == 1 for index in range(0, partitions, 50))
    assert bystander.broker < LONGEST_WAIT_SECONDS


def test_a_long_list_of_a_config_that_is_appended_to(busy: Platform) -> None:
    key = "leader.replication.throttled.replicas"
    with WireClient(busy.bootstrap) as client, waiting(busy) as bystander:
        topic = unique_topic(client)
        for start in range(0, 45_000, 3_000):
            replicas = ",".join(f"{index}:0" for index in range(start, start + 3_000))
            resource = AlterConfigsResource(TOPIC_RESOURCE, topic, [AlterableConfig(key, APPEND, replicas)])
            (answer,) = client.send(IncrementalAlterConfigsRequest([resource])).responses
            assert answer.error_code == 0, answer
    assert bystander.broker < LONGEST_WAIT_SECONDS


PRODUCERS = 10_000


def test_a_partition_of_many_producers(busy: Platform) -> None:
    with WireClient(busy.bootstrap, timeout=60.0) as client:
        topic = unique_topic(client)
        for first in range(0, PRODUCERS, 1000):
            for number in range(first, first + 1000):
                batch = batch_of(b"x", producer_id=number, producer_epoch=0, base_sequence=0)
                client.post(produce_request(topic, batch), PRODUCE_BY_NAME)
            for _ in range(1000):
                client.receive_frame()
        with waiting(busy) as bystander:
            answer = client.send(DescribeProducersRequest([DescribedTopic(topic, [0] * 100)] * 2))
    described = [partition for one in answer.topics for partition in one.partitions]
    assert [len(partition.active_producers) for partition in described] == [PRODUCERS], "answered once"
    assert bystander.broker < LONGEST_WAIT_SECONDS


COMPRESSED_BATCHES = 20_000 if IS_WHOLE else 300
"""Each of two kilobytes, which decompress to nearly as much as is looked at at once."""


def test_a_request_of_many_batches(busy: Platform) -> None:
    records = [Record(index, now_ms(), None, bytes(600_000)) for index in range(3)]
    batch = bytes(build_batch(records, codec=Codec.GZIP).view)
    data = [
        PartitionProduceData(index=index % KEPT_PARTITIONS, records=batch)
        for index in range(COMPRESSED_BATCHES)
    ]
    with WireClient(busy.bootstrap, timeout=300.0) as client:
        topic = unique_topic(client, KEPT_PARTITIONS)
        request = ProduceRequest(
            acks=-1, timeout_ms=30_000, topic_data=[TopicProduceData(topic, partition_data=data)]
        )
        with waiting(busy) as bystander:
            (answer,) = client.send(request, PRODUCE_BY_NAME).responses
    offsets = [
        (index % KEPT_PARTITIONS, 0, 3 * (index // KEPT_PARTITIONS)) for index in range(COMPRESSED_BATCHES)
    ]
    assert [(one.index, one.error_code, one.base_offset) for one in answer.partition_responses] == offsets
    assert bystander.broker < LONGEST_WAIT_SECONDS


MANY_RECORDS = 600_000
RECORDS_NAMED = 10_000


@pytest.mark.parametrize(
    "settings",
    [
        {"cleanup_policy": "compact"},
        {"compression_type": "zstd"},
        {"message_timestamp_before_max_ms": "86400000"},
    ],
    ids=str,
)
def test_a_batch_of_which_every_record_has_to_be_parsed(busy: Platform, settings: dict[str, str]) -> None:
    now = now_ms()
    keyed = bytes(build_batch([Record(i, now, b"", b"") for i in range(MANY_RECORDS)], codec=Codec.GZIP).view)
    with WireClient(busy.bootstrap) as client:
        topic = unique_topic(client, **settings)
        with waiting(busy) as bystander:
            for _ in range(2):  # the second time the broker remembers the request
                assert produce(client, topic, keyed).error_code == 0
        assert log_end_offset(client, topic) == 2 * MANY_RECORDS
    assert bystander.broker < LONGEST_WAIT_SECONDS


def test_a_batch_of_which_every_record_is_wrong(busy: Platform) -> None:
    with WireClient(busy.bootstrap) as client:
        topic = unique_topic(client, cleanup_policy="compact")
        with waiting(busy) as bystander:
            answer = produce(client, topic, bomb(MANY_RECORDS, now_ms()))
        assert answer.error_code == ErrorCode.INVALID_RECORD
        assert len(answer.record_errors) == RECORDS_NAMED
        assert log_end_offset(client, topic) == 0
    assert bystander.broker < LONGEST_WAIT_SECONDS
