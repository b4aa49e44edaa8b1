"""What becomes of a transactional id when somebody asks: each decision is a function from what it is to what it will
be, or the refusal that Kafka gives.

While a transaction is prepared, its markers are on their way and its end is certain; whoever comes then is told
CONCURRENT_TRANSACTIONS and asks again.
"""

from collections.abc import Callable, Collection

from penstock.errors import ApiError, ErrorCode
from penstock.machine import Producer
from penstock.txn.transaction import (
    FIRST_VERSION_WITH_EPOCH_BUMP,
    MAX_EPOCH,
    NO_EPOCH,
    NO_PRODUCER_ID,
    PREPARED,
    State,
    Transaction,
    is_exhausted,
)
from penstock.types import TopicPartition

NewProducerId = Callable[[], int]


# taking a transactional id


def decide_init(
    transaction: Transaction,
    expected: Producer | None,
    last_epoch: int,
    timeout_ms: int,
    new_producer_id: NewProducerId,
    now_ms: int,
) -> Transaction:
    """The transactional id with the epoch for its next producer; there is no open transaction.

    A producer that says who it was (`expected`) keeps its id, if nobody has taken the transactional id since.
    `last_epoch` is the one that the current epoch was given for: who still has it repeats a request.
    """
    if expected is None or transaction.producer_epoch in (expected.producer_epoch, NO_EPOCH):
        producer = _next_producer(transaction, new_producer_id)
    elif expected.producer_epoch == last_epoch:
        producer = transaction.producer
    else:
        raise ApiError(ErrorCode.PRODUCER_FENCED)
    return transaction.initialised(producer, timeout_ms, now_ms)


def _next_producer(transaction: Transaction, new_producer_id: NewProducerId) -> Producer:
    if is_exhausted(transaction.producer_epoch):
        return Producer(new_producer_id(), 0)
    return Producer(transaction.producer_id, transaction.producer_epoch + 1)


def check_may_init(transaction: Transaction, expected: Producer | None) -> None:
    if transaction.state in PREPARED:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if expected is None or transaction.producer_epoch == NO_EPOCH:
        return
    if expected.producer_id == transaction.producer_id:
        return
    if expected.producer_id == transaction.previous_producer_id and is_exhausted(expected.producer_epoch):
        return  # it got a new producer id, and has not heard of it
    raise ApiError(ErrorCode.PRODUCER_FENCED)


# adding partitions


def decide_add(
    transaction: Transaction,
    producer: Producer,
    partitions: Collection[TopicPartition],
    version: int,
    now_ms: int,
) -> Transaction:
    """The transaction with these partitions in it; itself if they are in it already."""
    if transaction.state in PREPARED:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    check_producer(transaction, producer)
    if transaction.state is State.ONGOING and transaction.partitions.issuperset(partitions):
        return transaction
    return transaction.with_partitions(partitions, version, now_ms)


def check_producer(transaction: Transaction, producer: Producer) -> None:
    if transaction.producer_id != producer.producer_id:
        raise ApiError(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
    if transaction.producer_epoch != producer.producer_epoch:
        raise ApiError(ErrorCode.PRODUCER_FENCED)


def check_verifiable(transaction: Transaction, producer: Producer) -> None:
    check_producer(transaction, producer)
    if transaction.state in PREPARED:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)


# ending a transaction


def decide_end(
    transaction: Transaction,
    producer: Producer,
    version: int,
    new_producer_id: NewProducerId,
    now_ms: int,
    *,
    is_commit: bool,
) -> Transaction:
    """The transaction as decided; itself if this request repeats one that was carried out."""
    if version < FIRST_VERSION_WITH_EPOCH_BUMP:
        return _decide_end_in_protocol_1(transaction, producer, now_ms, is_commit=is_commit)
    return _decide_end_in_protocol_2(transaction, producer, new_producer_id, now_ms, is_commit=is_commit)


def _decide_end_in_protocol_1(
    transaction: Transaction, producer: Producer, now_ms: int, *, is_commit: bool
) -> Transaction:
    """The epoch stays, so a repeated request looks like the first one, and is told from it by the state."""
    check_verifiable(transaction, producer)
    if transaction.state is State.ONGOING:
        epoch = transaction.producer_epoch
        return transaction.prepared(_prepare(is_commit), epoch, NO_PRODUCER_ID, 0, now_ms)
    if transaction.state is _complete(is_commit):
        return transaction
    raise _illegal(transaction, is_commit)


def _decide_end_in_protocol_2(
    transaction: Transaction,
    producer: Producer,
    new_producer_id: NewProducerId,
    now_ms: int,
    *,
    is_commit: bool,
) -> Transaction:
    """Each end raises the epoch, so a repeated request bears the last epoch, and one that bears the current epoch
    means the next transaction. That one may be aborted though the coordinator never heard of it: the producer
    can't know whether its first record got through."""
    if transaction.state in PREPARED:
        raise ApiError(ErrorCode.CONCURRENT_TRANSACTIONS)
    if _repeats_an_end(transaction, producer):
        if transaction.state is _complete(is_commit):
            return transaction
        raise _illegal(transaction, is_commit)
    check_producer(transaction, producer)
    if transaction.state is not State.ONGOING and is_commit:
        raise _illegal(transaction, is_commit)
    return _prepare_and_raise_epoch(transaction, _prepare(is_commit), new_producer_id, now_ms)


def _repeats_an_end(transaction: Transaction, producer: Producer) -> bool:
    if transaction.state not in (State.COMPLETE_COMMIT, State.COMPLETE_ABORT):
        return False
    if transaction.client_transaction_version < FIRST_VERSION_WITH_EPOCH_BUMP:
        return False  # that end raised no epoch: who has the last one was replaced
    if producer.producer_id == transaction.producer_id:
        return producer.producer_epoch + 1 == transaction.producer_epoch
    return (
        producer.producer_id == transaction.previous_producer_id
        and producer.producer_epoch == MAX_EPOCH - 1
        and transaction.producer_epoch == 0
    )


def decide_fence(
    transaction: Transaction, version: int, new_producer_id: NewProducerId, now_ms: int
) -> Transaction:
    """Aborts an open transaction without its producer, which is locked out by the higher epoch."""
    if version >= FIRST_VERSION_WITH_EPOCH_BUMP:
        return _prepare_and_raise_epoch(transaction, State.PREPARE_ABORT, new_producer_id, now_ms)
    epoch = min(transaction.producer_epoch + 1, MAX_EPOCH)
    return transaction.prepared(State.PREPARE_ABORT, epoch, NO_PRODUCER_ID, 0, now_ms)


def _prepare_and_raise_epoch(
    transaction: Transaction, state: State, new_producer_id: NewProducerId, now_ms: int
) -> Transaction:
    next_producer_id = new_producer_id() if is_exhausted(transaction.producer_epoch) else NO_PRODUCER_ID
    epoch = min(transaction.producer_epoch + 1, MAX_EPOCH)
    return transaction.prepared(state, epoch, next_producer_id, FIRST_VERSION_WITH_EPOCH_BUMP, now_ms)


def _prepare(is_commit: bool) -> State:
    return State.PREPARE_COMMIT if is_commit else State.PREPARE_ABORT


def _complete(is_commit: bool) -> State:
    return State.COMPLETE_COMMIT if is_commit else State.COMPLETE_ABORT


def _illegal(transaction: Transaction, is_commit: bool) -> ApiError:
    wanted = "commit" if is_commit else "abort"
    return ApiError(
        ErrorCode.INVALID_TXN_STATE,
        f"{transaction.transactional_id} is {transaction.state.kafka_name}, and can't {wanted}",
    )
