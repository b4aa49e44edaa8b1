"""Produce.

v3 is the first with record batches v2 and a transactional id; v4 may answer KAFKA_STORAGE_ERROR; v5 returns the
log start offset; v7 allows zstd; v8 returns which records were refused and why; v9 is flexible; v10 returns
the new leader to a client that came to the wrong broker; v11 knows TRANSACTION_ABORTABLE; with v12, which belongs to
the second transaction protocol (KIP-890), the broker makes partitions part of the transaction; v13 names topics by id.

ApiVersions advertises it from version 0 although none below 3 is served, as Kafka does: some versions of
librdkafka take a higher minimum for a broker that can't do gzip, snappy or lz4.

With acks=all the answer waits until all replicas in sync have the records, see `broker.committing`.

A request may have tens of thousands of batches, and each may take milliseconds to decompress. What is left of it after
a turn of the event loop is appended in turns, in its order; so is all that is behind a batch that takes long to check.
"""

import asyncio
import time
from collections.abc import Awaitable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from penstock.broker.committing import Appended, ParkedUntilCommitted, is_committed
from penstock.broker.connection import TURN_SECONDS
from penstock.broker.endpoints import endpoints_of
from penstock.broker.parked import Parked
from penstock.broker.partition import Partition
from penstock.broker.partitions import LedElsewhere
from penstock.broker.router import RequestContext, handles
from penstock.broker.transaction_membership import Question
from penstock.broker.transactional_produce import (
    Admissions,
    find_transactional_batches,
    has_transactional_records,
)
from penstock.broker.turns import Turns
from penstock.controller.image import INTERNAL_TOPICS
from penstock.errors import ApiError, ErrorCode
from penstock.log.append_result import AppendResult
from penstock.log.verification import Admission
from penstock.records.batch import decode_batches
from penstock.records.validation import LongBatch, RecordError
from penstock.wire.messages.produce import (
    BatchIndexAndErrorMessage,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FIRST_VERSION_WITH_TOPIC_ID = 13
ALL_IN_SYNC = -1
ADMIN_CLIENT_ID = "__admin_client"
"""Who says this name may write to internal topics."""


@handles(ProduceRequest, versions=(3, 13), advertised_from=0)
def handle_produce(
    broker: "Broker", request: ProduceRequest, context: RequestContext
) -> ProduceResponse | Parked | Awaitable[ApiMessage | None] | None:
    if request.acks not in (-1, 0, 1):
        return _refuse_all(request.topic_data, ErrorCode.INVALID_REQUIRED_ACKS)
    if request.transactional_id is not None:
        return _produce_in_transaction(broker, request, request.transactional_id, context)
    if has_transactional_records(request):
        return _refuse_all(request.topic_data, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    return _append(Produce(broker, request, context), request, context)


def _produce_in_transaction(
    broker: "Broker", request: ProduceRequest, transactional_id: str, context: RequestContext
) -> ProduceResponse | Parked | Awaitable[ApiMessage | None] | None:
    admissions = Admissions(broker, context.version)
    try:
        batches = find_transactional_batches(broker, request)
    except ApiError as error:
        return _refuse_all(request.topic_data, error.code)
    question = admissions.ask(transactional_id, batches) if batches else None
    produce = Produce(broker, request, context, admissions)
    if question is not None:
        return _wait_and_append(produce, admissions, question, request, context)
    return _append(produce, request, context)


async def _wait_and_append(
    produce: "Produce",
    admissions: Admissions,
    question: Question,
    request: ProduceRequest,
    context: RequestContext,
) -> ApiMessage | None:
    admissions.take(await question.answer())
    answer = _append(produce, request, context)
    if isinstance(answer, Parked):
        return await context.connection.park(answer)
    return await answer if isinstance(answer, Awaitable) else answer


def _append(
    produce: "Produce", request: ProduceRequest, context: RequestContext
) -> ProduceResponse | Parked | Awaitable[ApiMessage | None] | None:
    response = ProduceResponse([produce.append_topic(topic) for topic in request.topic_data])
    if produce.later:
        return _append_later(produce, response, context)
    if produce.unflushed:
        return _flush_and_answer(produce, response, context)
    if produce.uncommitted:
        return produce.park(response)
    return _answer(produce, response, context)


async def _append_later(
    produce: "Produce", response: ProduceResponse, context: RequestContext
) -> ApiMessage | None:
    """Goes on when the client leaves: what came whole is written, as if it had taken no time."""
    work = asyncio.ensure_future(produce.append_later())
    produce.broker.router.keep(work)
    await asyncio.shield(work)
    if produce.unflushed:
        return await _flush_and_answer(produce, response, context)
    if produce.uncommitted:
        return await context.connection.park(produce.park(response))
    return _answer(produce, response, context)


class Later(NamedTuple):
    """What is left to do of a request."""

    to: TopicProduceData
    data: PartitionProduceData
    answer: PartitionProduceResponse
    is_long: bool


class Produce:
    """One request at work."""

    __slots__ = (
        "acks",
        "admissions",
        "broker",
        "later",
        "listener",
        "may_write_internal",
        "now_ms",
        "timeout_ms",
        "turn_end",
        "uncommitted",
        "unflushed",
        "version",
    )

    def __init__(
        self,
        broker: "Broker",
        request: ProduceRequest,
        context: RequestContext,
        admissions: Admissions | None = None,
    ) -> None:
        self.broker = broker
        self.acks = request.acks
        self.timeout_ms = request.timeout_ms
        self.version = context.version
        self.listener = context.connection.listener
        self.may_write_internal = context.client_id == ADMIN_CLIENT_ID
        self.admissions = admissions
        self.now_ms = broker.clock.now_ms()
        self.unflushed: list[tuple[Partition, PartitionProduceResponse]] = []
        self.later: list[Later] = []
        self.turn_end = time.perf_counter() + TURN_SECONDS
        self.uncommitted: list[Appended] = []

    def append_topic(self, topic: TopicProduceData) -> TopicProduceResponse:
        responses = [self.append(topic, data) for data in topic.partition_data]
        return TopicProduceResponse(topic.name, topic.topic_id, responses)

    def find(self, topic: TopicProduceData, index: int) -> Partition:
        if self.version >= FIRST_VERSION_WITH_TOPIC_ID:
            return self.broker.partitions.find_by_id(topic.topic_id, index)
        return self.broker.partitions.find(topic.name, index)

    def append(self, to: TopicProduceData, data: PartitionProduceData) -> PartitionProduceResponse:
        if self.later or time.perf_counter() >= self.turn_end:
            return self._put_off(to, data, is_long=False)
        partition = None
        try:
            partition = self.find(to, data.index)
            result = self._append(partition, data)
        except LongBatch:
            return self._put_off(to, data, is_long=True)
        except ApiError as error:
            return _refusal(data.index, error, partition)
        response = PartitionProduceResponse(data.index)
        self._accept(partition, response, result)
        return response

    def _put_off(
        self, to: TopicProduceData, data: PartitionProduceData, *, is_long: bool
    ) -> PartitionProduceResponse:
        answer = PartitionProduceResponse(data.index)
        self.later.append(Later(to, data, answer, is_long))
        return answer

    def _append(self, partition: Partition, data: PartitionProduceData) -> AppendResult:
        topic, records = partition.topic_partition.topic, data.records
        if topic in INTERNAL_TOPICS and not self.may_write_internal:
            raise ApiError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Cannot append to internal topic {topic}")
        if not isinstance(records, memoryview):
            raise ApiError(ErrorCode.INVALID_RECORD, "Records are null")
        admission = self._admission(partition)
        return partition.append(records, self.version, self.acks, self.now_ms, admission)

    def _admission(self, partition: Partition) -> Admission | None:
        return None if self.admissions is None else self.admissions.of(partition.topic_partition)

    def _accept(self, partition: Partition, answer: PartitionProduceResponse, result: AppendResult) -> None:
        answer.base_offset = result.first_offset
        answer.log_append_time_ms = result.log_append_time_ms
        answer.log_start_offset = result.log_start_offset
        if partition.must_flush:
            self.unflushed.append((partition, answer))
        if self.acks == ALL_IN_SYNC and not is_committed(partition, result.last_offset + 1):
            self._await_commit(partition, answer, result.last_offset + 1)

    def _await_commit(self, partition: Partition, answer: PartitionProduceResponse, end_offset: int) -> None:
        leader = partition.leader
        assert leader is not None

        def settle(error: ApiError | None) -> None:
            if error is not None and not answer.error_code:
                _refuse(answer, error, partition)

        self.uncommitted.append(Appended(partition, leader, end_offset, settle))

    def park(self, response: ProduceResponse) -> "ParkedProduce":
        return ParkedProduce(self, response)

    async def append_later(self) -> None:
        turns = Turns()
        for to, data, answer, is_long in self.later:
            if turns.is_over:
                await turns.let_others()
            partition = None
            try:
                partition = self.find(to, data.index)
                result = await self._append_in_time(partition, data, is_long=is_long)
            except ApiError as error:
                _refuse(answer, error, partition)
            else:
                self._accept(partition, answer, result)

    async def _append_in_time(
        self, partition: Partition, data: PartitionProduceData, *, is_long: bool
    ) -> AppendResult:
        if not is_long:
            try:
                return self._append(partition, data)
            except LongBatch:
                pass
        assert isinstance(data.records, memoryview)
        batches = decode_batches(data.records, produce_version=self.version)
        prepared = await self.broker.long_batches.prepare(batches, partition.log.settings, self.now_ms)
        admission = self._admission(partition)
        return partition.append_prepared(prepared, self.acks, self.now_ms, admission)


class ParkedProduce(ParkedUntilCommitted):
    """An answer that waits for the replicas in sync."""

    __slots__ = ("_produce", "_response")

    def __init__(self, produce: Produce, response: ProduceResponse) -> None:
        super().__init__()
        self._produce = produce
        self._response = response
        self.begin(produce.uncommitted, produce.timeout_ms, self._on_done)

    def _on_done(self) -> None:
        self.respond(_with_endpoints(self._produce, self._response))


async def _flush_and_answer(
    produce: Produce, response: ProduceResponse, context: RequestContext
) -> ApiMessage | None:
    for partition, answer in produce.unflushed:
        try:
            await partition.flush(include_active=True)
        except ApiError as error:
            answer.error_code, answer.error_message, answer.base_offset = error.code, error.message, -1
    if produce.uncommitted:
        return await context.connection.park(produce.park(response))
    return _answer(produce, response, context)


def _answer(produce: Produce, response: ProduceResponse, context: RequestContext) -> ProduceResponse | None:
    if produce.acks != 0:
        return _with_endpoints(produce, response)
    if any(partition.error_code for topic in response.responses for partition in topic.partition_responses):
        # Without a response the closed connection is the only sign that something went wrong.
        context.connection.close()
    return None


def _with_endpoints(produce: Produce, response: ProduceResponse) -> ProduceResponse:
    """Tells a client that came to the wrong broker where the right one is."""
    leaders = [
        partition.current_leader.leader_id
        for topic in response.responses
        for partition in topic.partition_responses
        if partition.current_leader is not None and partition.current_leader.leader_id >= 0
    ]
    if leaders:
        image = produce.broker.image
        response.node_endpoints = endpoints_of(image, leaders, produce.listener, NodeEndpoint)
    return response


def _refusal(index: int, error: ApiError, partition: Partition | None = None) -> PartitionProduceResponse:
    response = PartitionProduceResponse(index)
    _refuse(response, error, partition)
    return response


def _refuse(answer: PartitionProduceResponse, error: ApiError, partition: Partition | None) -> None:
    answer.error_code, answer.error_message, answer.base_offset = error.code, error.message, -1
    if isinstance(error, RecordError):
        answer.record_errors = [BatchIndexAndErrorMessage(*one) for one in error.record_errors]
    if error.code == ErrorCode.NOT_LEADER_OR_FOLLOWER:
        known = error if isinstance(error, LedElsewhere) else partition
        if known is not None:
            state = known.replica_set
            answer.current_leader = LeaderIdAndEpoch(state.leader, state.leader_epoch)


def _refuse_all(topics: Sequence[TopicProduceData], code: ErrorCode) -> ProduceResponse:
    return ProduceResponse(
        responses=[
            TopicProduceResponse(
                name=topic.name,
                topic_id=topic.topic_id,
                partition_responses=[_refusal(data.index, ApiError(code)) for data in topic.partition_data],
            )
            for topic in topics
        ]
    )
