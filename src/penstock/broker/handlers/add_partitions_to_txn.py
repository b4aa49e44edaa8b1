"""AddPartitionsToTxn: partitions that a transaction will write to.

v2 may answer PRODUCER_FENCED; v3 is flexible. From v4 on it is sent by brokers only, for several transactions, and may
ask whether partitions are in a transaction instead of adding them (`verify_only`, KIP-890); v5 knows
TRANSACTION_ABORTABLE.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from penstock.broker.connection import Answer
from penstock.broker.router import RequestContext, handles
from penstock.broker.transaction_errors import known_to
from penstock.errors import ApiError, ErrorCode
from penstock.machine import Outcome, Producer, Ticket
from penstock.txn.shard import TransactionShard
from penstock.txn.transaction import FIRST_VERSION_WITH_EPOCH_BUMP
from penstock.types import TopicPartition
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FIRST_VERSION_WITH_PRODUCER_FENCED = 2
FIRST_VERSION_OF_BROKERS = 4


@handles(AddPartitionsToTxnRequest, versions=(0, 5))
def handle_add_partitions_to_txn(
    broker: "Broker", request: AddPartitionsToTxnRequest, context: RequestContext
) -> Answer:
    if context.version >= FIRST_VERSION_OF_BROKERS:
        return _add_for_brokers(broker, request)
    return _add_for_client(broker, request, context.version)


def _add_for_client(broker: "Broker", request: AddPartitionsToTxnRequest, version: int) -> Answer:
    topics = request.v3_and_below_topics
    partitions = _partitions_of(topics)
    unknown = _unknown(broker, partitions)
    if unknown:
        return _answer_client(topics, lambda one: _code_of_unattempted(one in unknown))

    def handle(shard: TransactionShard, ticket: Ticket, now_ms: int) -> Outcome:
        producer = Producer(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
        success = _answer_client(topics, lambda one: ErrorCode.NONE)
        transactional_id = request.v3_and_below_transactional_id
        return shard.add_partitions(transactional_id, producer, partitions, 0, ticket, now_ms, success)

    def refuse(error: ApiError) -> AddPartitionsToTxnResponse:
        code = known_to(version, error.code, first_with_fenced=FIRST_VERSION_WITH_PRODUCER_FENCED)
        return _answer_client(topics, lambda one: code)

    return broker.coordinators.transactions.ask(request.v3_and_below_transactional_id, handle, refuse)


CodeOf = Callable[[TopicPartition], int]


def _answer_client(topics: Sequence[AddPartitionsToTxnTopic], code_of: CodeOf) -> AddPartitionsToTxnResponse:
    return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(topics, code_of))


async def _add_for_brokers(
    broker: "Broker", request: AddPartitionsToTxnRequest
) -> AddPartitionsToTxnResponse:
    results = await asyncio.gather(*(_add_one(broker, one) for one in request.transactions))
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            AddPartitionsToTxnResult(one.transactional_id, result)
            for one, result in zip(request.transactions, results, strict=True)
        ]
    )


async def _add_one(
    broker: "Broker", transaction: AddPartitionsToTxnTransaction
) -> list[AddPartitionsToTxnTopicResult]:
    partitions = _partitions_of(transaction.topics)
    unknown = _unknown(broker, partitions)
    if unknown:
        return _results(transaction.topics, lambda one: _code_of_unattempted(one in unknown))
    try:
        absent = await _ask(broker, transaction, partitions)
    except ApiError as error:
        code = error.code
        return _results(transaction.topics, lambda one: code)
    return _results(
        transaction.topics, lambda one: ErrorCode.TRANSACTION_ABORTABLE if one in absent else ErrorCode.NONE
    )


async def _ask(
    broker: "Broker", transaction: AddPartitionsToTxnTransaction, partitions: set[TopicPartition]
) -> Sequence[TopicPartition]:
    """The partitions that turn out not to be in the transaction."""
    transactional_id = transaction.transactional_id
    producer = Producer(transaction.producer_id, transaction.producer_epoch)

    def handle(shard: TransactionShard, ticket: Ticket, now_ms: int) -> Outcome:
        if transaction.verify_only:
            return shard.verify_partitions(transactional_id, producer, partitions, ticket)
        version = FIRST_VERSION_WITH_EPOCH_BUMP
        return shard.add_partitions(transactional_id, producer, partitions, version, ticket, now_ms)

    return await broker.coordinators.transactions.call(transactional_id, handle) or ()


def _partitions_of(topics: Sequence[AddPartitionsToTxnTopic]) -> set[TopicPartition]:
    return {TopicPartition(topic.name, index) for topic in topics for index in topic.partitions}


def _unknown(broker: "Broker", partitions: set[TopicPartition]) -> set[TopicPartition]:
    return {one for one in partitions if not broker.image.has_partition(one)}


def _code_of_unattempted(is_unknown: bool) -> ErrorCode:
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if is_unknown else ErrorCode.OPERATION_NOT_ATTEMPTED


def _results(
    topics: Sequence[AddPartitionsToTxnTopic], code_of: CodeOf
) -> list[AddPartitionsToTxnTopicResult]:
    return [
        AddPartitionsToTxnTopicResult(
            topic.name,
            [
                AddPartitionsToTxnPartitionResult(index, code_of(TopicPartition(topic.name, index)))
                for index in topic.partitions
            ],
        )
        for topic in topics
    ]
