"""Whether a partition takes part in a transaction, which only the transaction's coordinator knows (KIP-890).

The first record of a transaction in a partition must not be written before the coordinator knows that the partition is
in the transaction, or no marker would ever come. With protocol 1 the producer has told the coordinator beforehand, and
the broker makes sure; with protocol 2 the broker tells it.

The coordinator of most transactions is in this very process and answers at once; then nothing is awaited.
"""

import asyncio
from collections.abc import Callable, Collection
from enum import Enum
from typing import NamedTuple

from penstock.broker.peers import Peers
from penstock.broker.registration import Registration
from penstock.broker.shards import Shards
from penstock.errors import ApiError, ErrorCode
from penstock.machine import Outcome, Producer, Ticket
from penstock.replica.replica_set import NO_LEADER
from penstock.settings.broker import BrokerSettings
from penstock.txn.shard import TransactionShard
from penstock.txn.transaction import FIRST_VERSION_WITH_EPOCH_BUMP
from penstock.types import TopicPartition
from penstock.wire.messages.add_partitions_to_txn import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from penstock.wire_client import Disconnected


class Operation(Enum):
    """What the version of a request asks for."""

    VERIFY_FOR_OLD_CLIENT = "verify, for a client that does not know TRANSACTION_ABORTABLE"
    VERIFY = "verify"
    ADD = "add"


def operation_of_produce(version: int) -> Operation:
    return _operation(version, first_abortable=11, first_add=12)


def operation_of_txn_offset_commit(version: int) -> Operation:
    return _operation(version, first_abortable=4, first_add=5)


def _operation(version: int, first_abortable: int, first_add: int) -> Operation:
    if version >= first_add:
        return Operation.ADD
    return Operation.VERIFY if version >= first_abortable else Operation.VERIFY_FOR_OLD_CLIENT


def is_asked(settings: BrokerSettings, operation: Operation) -> bool:
    return operation is Operation.ADD or settings.transaction_partition_verification_enable


class ToCoordinators(NamedTuple):
    """The way to the coordinators of transactions, here or at a peer."""

    here: Shards[TransactionShard]
    registration: Registration
    peers: Peers
    settings: Callable[[], BrokerSettings]


Refusals = dict[TopicPartition, ApiError]
"""The partitions that may not be written to, and why."""


def absent_partitions(answer: AddPartitionsToTxnResponse) -> list[TopicPartition]:
    """What another broker's coordinator has said of one transaction."""
    absent: list[TopicPartition] = []
    for transaction in answer.results_by_transaction:
        for topic in transaction.topic_results:
            for result in topic.results_by_partition:
                code = ErrorCode(result.partition_error_code)
                if code == ErrorCode.TRANSACTION_ABORTABLE:
                    absent.append(TopicPartition(topic.name, result.partition_index))
                elif code in IMAGE_IS_BEHIND:
                    raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
                elif code:
                    raise ApiError(code)
    return absent


IMAGE_IS_BEHIND = frozenset({ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.OPERATION_NOT_ATTEMPTED})
"""The coordinator has not heard of the partition yet, which this broker leads."""


class Question:
    """One question to a transaction's coordinator."""

    __slots__ = ("_future", "_operation", "_partitions", "_producer", "_transactional_id", "_way")

    def __init__(
        self,
        way: ToCoordinators,
        transactional_id: str,
        producer: Producer,
        partitions: Collection[TopicPartition],
        operation: Operation,
    ) -> None:
        self._way = way
        self._transactional_id = transactional_id
        self._producer = producer
        self._partitions = partitions
        self._operation = operation
        self._future: asyncio.Future[list[TopicPartition] | None] | None = None

    def ask_at_once(self) -> Refusals | None:
        """The answer, if the coordinator has it now and it is final."""
        self._future = self._ask()
        if not self._future.done():
            return None
        refusals = self._read(self._future)
        return None if self._is_worth_a_retry(refusals) else refusals

    async def answer(self) -> Refusals:
        """Waits for the answer; while the last transaction ends, for the next one."""
        settings, loop = self._way.settings(), asyncio.get_running_loop()
        deadline = loop.time() + settings.add_partitions_to_txn_retry_backoff_max_ms / 1000
        while True:
            future = self._future or self._ask()
            await asyncio.wait([future])
            refusals = self._read(future)
            if not self._is_worth_a_retry(refusals) or loop.time() >= deadline:
                return refusals
            await asyncio.sleep(settings.add_partitions_to_txn_retry_backoff_ms / 1000)
            self._future = None

    def _ask(self) -> "asyncio.Future[list[TopicPartition] | None]":
        way = self._way
        leader = way.here.leader_of(self._transactional_id)
        if leader in (NO_LEADER, way.registration.broker_id):
            return way.here.begin_call(self._transactional_id, self._put)
        return asyncio.ensure_future(self._ask_peer(leader))

    async def _ask_peer(self, leader: int) -> list[TopicPartition] | None:
        """The partitions that turn out not to be in the transaction, or the ApiError for all of them."""
        by_topic: dict[str, list[int]] = {}
        for topic, index in self._partitions:
            by_topic.setdefault(topic, []).append(index)
        transaction = AddPartitionsToTxnTransaction(
            self._transactional_id,
            *self._producer,
            verify_only=self._operation is not Operation.ADD,
            topics=[AddPartitionsToTxnTopic(topic, indexes) for topic, indexes in by_topic.items()],
        )
        try:
            answer = await self._way.peers.ask(
                leader,
                AddPartitionsToTxnRequest(transactions=[transaction]),
                AddPartitionsToTxnResponse,
                purpose="transactions",
                timeout_ms=self._way.settings().request_timeout_ms,
            )
        except Disconnected as error:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(error)) from error
        return absent_partitions(answer)

    def _put(self, machine: TransactionShard, ticket: Ticket, now_ms: int) -> Outcome:
        if self._operation is Operation.ADD:
            version = FIRST_VERSION_WITH_EPOCH_BUMP
            return machine.add_partitions(
                self._transactional_id, self._producer, self._partitions, version, ticket, now_ms
            )
        return machine.verify_partitions(self._transactional_id, self._producer, self._partitions, ticket)

    def _read(self, future: "asyncio.Future[list[TopicPartition] | None]") -> Refusals:
        try:
            absent = future.result()
        except ApiError as error:
            is_fenced = error.code == ErrorCode.PRODUCER_FENCED
            code = ErrorCode.INVALID_PRODUCER_EPOCH if is_fenced else error.code
            return dict.fromkeys(self._partitions, ApiError(code))
        is_old = self._operation is Operation.VERIFY_FOR_OLD_CLIENT
        code = ErrorCode.INVALID_TXN_STATE if is_old else ErrorCode.TRANSACTION_ABORTABLE
        return {one: ApiError(code) for one in absent or ()}

    def _is_worth_a_retry(self, refusals: Refusals) -> bool:
        return self._operation is Operation.ADD and any(
            refusal.code == ErrorCode.CONCURRENT_TRANSACTIONS for refusal in refusals.values()
        )
