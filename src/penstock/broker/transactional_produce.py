"""Lets the transactional batches of a produce request in, or says why not.

A batch whose transaction has records in its partition already is let in without a question. For the others the
transaction's coordinator is asked, once per request; see `transaction_membership`.
"""

from typing import TYPE_CHECKING, NamedTuple

from penstock.broker.shards import COORDINATOR_IS_AWAY
from penstock.broker.transaction_membership import (
    Operation,
    Question,
    Refusals,
    is_asked,
    operation_of_produce,
)
from penstock.errors import ApiError, ErrorCode
from penstock.log.verification import BY_ITS_TRANSACTION, UNVERIFIED, Admission, Verification
from penstock.machine import Producer
from penstock.records.batch import HEADER_SIZE, MAGIC_V2, TRANSACTIONAL_FLAG, Batch
from penstock.types import TopicPartition
from penstock.wire.messages.produce import ProduceRequest

if TYPE_CHECKING:
    from penstock.broker.broker import Broker
    from penstock.broker.partition import Partition

RETRIABLE = COORDINATOR_IS_AWAY | {ErrorCode.NETWORK_EXCEPTION}
"""Not every producer takes these for an answer to Produce; NOT_ENOUGH_REPLICAS is repeated by all of them."""


class TransactionalBatch(NamedTuple):
    partition: "Partition"
    batch: Batch


class Admissions:
    """Of one request."""

    __slots__ = ("_asked", "_broker", "_operation", "refusals", "verifications")

    def __init__(self, broker: "Broker", version: int) -> None:
        self._broker = broker
        self._operation = operation_of_produce(version)
        self._asked = is_asked(broker.settings, self._operation)
        self.verifications: dict[TopicPartition, Verification] = {}
        self.refusals: Refusals = {}

    def of(self, topic_partition: TopicPartition) -> Admission:
        refusal = self.refusals.get(topic_partition)
        if refusal is not None:
            raise refusal
        if not self._asked:
            return UNVERIFIED
        verification = self.verifications.get(topic_partition)
        return BY_ITS_TRANSACTION if verification is None else Admission(verification)

    def ask(self, transactional_id: str, batches: list[TransactionalBatch]) -> Question | None:
        """Asks the coordinator as far as it needs to be; the question, if the answer has to be waited for."""
        if not self._asked:
            return None
        now_ms = self._broker.clock.now_ms()
        for partition, batch in batches:
            self._start(partition, batch, now_ms)
        if not self.verifications:
            return None
        producer = Producer(batches[0].batch.producer_id, batches[0].batch.producer_epoch)
        question = Question(
            self._broker.coordinators.to_transactions,
            transactional_id,
            producer,
            list(self.verifications),
            self._operation,
        )
        refusals = question.ask_at_once()
        if refusals is None:
            return question
        self.take(refusals)
        return None

    def _start(self, partition: "Partition", batch: Batch, now_ms: int) -> None:
        topic_partition, state = partition.topic_partition, partition.log.producer_state
        if state.is_in_transaction(batch):
            return
        try:
            partition.check_leader()
            self.verifications[topic_partition] = state.start_verification(
                batch, now_ms, raises_epoch=self._operation is Operation.ADD
            )
        except ApiError as error:
            self.refusals[topic_partition] = error

    def take(self, refusals: Refusals) -> None:
        for topic_partition, refusal in refusals.items():
            self.refusals[topic_partition] = self._in_words_of_produce(refusal)

    def _in_words_of_produce(self, refusal: ApiError) -> ApiError:
        code = refusal.code
        is_concurrent = code == ErrorCode.CONCURRENT_TRANSACTIONS
        if code in RETRIABLE or (is_concurrent and self._operation is not Operation.ADD):
            return ApiError(
                ErrorCode.NOT_ENOUGH_REPLICAS,
                "Unable to verify the partition has been added to the transaction. Underlying error: "
                + code.name,
            )
        if code == ErrorCode.INVALID_TXN_STATE:
            return ApiError(code, "Partition was not added to the transaction")
        return refusal


def find_transactional_batches(broker: "Broker", request: ProduceRequest) -> list[TransactionalBatch]:
    """Those that go to partitions of this broker; what is wrong with the others is found when they are appended."""
    found: list[TransactionalBatch] = []
    partitions = broker.partitions
    for topic in request.topic_data:
        hosted = partitions.by_name.get(topic.name) if topic.name else partitions.by_id.get(topic.topic_id)
        if hosted is None:
            continue
        for data in topic.partition_data:
            partition = hosted.partitions.get(data.index)
            if partition is not None and is_transactional(data.records):
                assert isinstance(data.records, memoryview)
                batch = Batch(data.records)
                if batch.has_producer_id:
                    found.append(TransactionalBatch(partition, batch))
    if len({(one.batch.producer_id, one.batch.producer_epoch) for one in found}) > 1:
        raise ApiError(
            ErrorCode.INVALID_PRODUCER_ID_MAPPING, "Transactional records contained more than one producer ID"
        )
    return found


def is_transactional(records: object) -> bool:
    """Whether records start with the header of a transactional batch."""
    return (
        isinstance(records, memoryview)
        and len(records) >= HEADER_SIZE
        and records[16] == MAGIC_V2
        and bool(records[22] & TRANSACTIONAL_FLAG)
    )


def has_transactional_records(request: ProduceRequest) -> bool:
    return any(
        is_transactional(data.records) for topic in request.topic_data for data in topic.partition_data
    )
