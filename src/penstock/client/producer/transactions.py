"""Transactions of a producer: all of their records and offsets are seen together, or not at all."""

import logging
import threading
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from penstock.client.librdkafka import NativeTopicPartition
from penstock.client.producer.delivery import Delivery
from penstock.client.producer.patience import AFTER_ERROR_SECONDS, turns
from penstock.client.records import OffsetAndMetadata, TopicPartition
from penstock.wire_client.errors import FatalError, KafkaError, RetriableError, TransactionAbortableError

if TYPE_CHECKING:
    from penstock.client.producer.kafka_producer import KafkaProducer

logger = logging.getLogger("penstock.client")

NO_EPOCH = -1


class GroupMember(Protocol):
    """Who consumed the records whose offsets go into a transaction: a `KafkaConsumer`."""

    def group_metadata(self) -> object: ...


class Transaction:
    """What `with producer.transaction()` gives: committed at its end, aborted if it ends with an exception.

    >>> from penstock import KafkaProducer
    >>> with KafkaProducer(bootstrap_servers="localhost:9092", transactional_id="billing-1") as producer:
    ...     with producer.transaction():
    ...         debit = producer.send("debits", b"-5")
    ...         credit = producer.send("credits", b"+5")
    >>> debit.done(), credit.done()
    (True, True)
    """

    def __init__(self, producer: "KafkaProducer") -> None:
        self._producer = producer

    def __enter__(self) -> Self:
        self._producer.begin_transaction()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is not None:
            self._abort_after(error)
            return
        try:
            self._producer.commit_transaction()
        except FatalError:
            raise
        except KafkaError as reason:
            self._abort_after(reason)
            raise
        except BaseException as interruption:
            self._abort_after(interruption)
            raise

    def _abort_after(self, error: BaseException) -> None:
        """What went wrong first is what the user needs to see."""
        if isinstance(error, FatalError):
            return
        try:
            self._producer._abort_soon()
        except KafkaError as second:
            logger.error("the transaction could not be aborted; the broker will do so: %s", second)


class TransactionCalls:
    """librdkafka's calls, repeated while it says that this makes sense."""

    def __init__(self, delivery: Delivery, max_block_ms: int, transactional_id: str | None) -> None:
        self._delivery, self._max_block = delivery, max_block_ms / 1000
        self._transactional_id = transactional_id
        self._is_initialised = False
        self._is_open = self._is_abort_due = False
        self._one_at_a_time = threading.Lock()
        """librdkafka takes one of these calls at a time, and a cancelled one may still be on its way."""

    def are_missing(self) -> bool:
        """Whether records need a transaction, and none is open."""
        return self._transactional_id is not None and not self._is_open

    def init(self) -> None:
        if self._transactional_id is None:
            raise KafkaError("transactions need a transactional.id; give the producer one")
        if not self._is_initialised:
            self._call("no transaction can begin", self._delivery.native.init_transactions)
            self._is_initialised = True

    def begin(self) -> None:
        self.init()
        if self._is_abort_due:
            self.abort()
        self._delivery.call("no transaction can begin", self._delivery.native.begin_transaction)
        self._is_open = True

    def commit(self) -> None:
        self._call("the transaction was not committed", self._delivery.native.commit_transaction)
        self._is_open = False

    def abort(self) -> None:
        self._abort(self._max_block)

    def abort_soon(self) -> None:
        """After an error: what brokers do not hear of within a moment, the next transaction tells them."""
        if self._is_open:
            self._is_abort_due = True
            self._abort(min(self._max_block, AFTER_ERROR_SECONDS))

    def _abort(self, timeout: float) -> None:
        self._call("the transaction was not aborted", self._delivery.native.abort_transaction, timeout)
        self._is_open = self._is_abort_due = False

    def send_offsets(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], group: GroupMember
    ) -> None:
        metadata = group.group_metadata()
        positions = [_native_position(partition, offset) for partition, offset in offsets.items()]
        send = self._delivery.native.send_offsets_to_transaction
        self._call("the offsets were not added", lambda timeout: send(positions, metadata, timeout))

    def _call(self, what: str, function: Callable[[float], object], timeout: float | None = None) -> None:
        failure = KafkaError("this producer is closed; make another")
        with self._one_at_a_time:
            for seconds in turns(self._max_block if timeout is None else timeout):
                if self._delivery.is_stopped:
                    break
                try:
                    return self._delivery.call(what, function, max(0.001, seconds))
                except TransactionAbortableError:
                    raise
                except RetriableError as error:
                    failure = error
        raise failure


def _native_position(partition: TopicPartition, offset: OffsetAndMetadata | int) -> NativeTopicPartition:
    if isinstance(offset, int):
        return NativeTopicPartition(partition.topic, partition.partition, offset)
    epoch = NO_EPOCH if offset.leader_epoch is None else offset.leader_epoch
    return NativeTopicPartition(partition.topic, partition.partition, offset.offset, offset.metadata, epoch)
