"""`KafkaProducer`: records to any Kafka, by librdkafka.

Three ways lead in: `send`, whose future says where the record went; `produce`, which says nothing, for speed; and
`send_batch`, for many records at once. `queueing` has the way on, `delivery` the way back.
"""

import atexit
import logging
import warnings
import weakref
from collections.abc import Callable, Iterator, Mapping
from itertools import repeat, starmap
from types import TracebackType
from typing import Any, Self, Unpack, overload

from penstock.client.config import ProducerConfig, ProducerKeywords
from penstock.client.librdkafka import (
    BrokerTroubles,
    KafkaException,
    NativeDelivery,
    Producer,
    config_error,
    with_diagnostics,
)
from penstock.client.producer.delivery import SERVE_EVERY, Delivery
from penstock.client.producer.forking import AFTER_FORK, refuse, watch
from penstock.client.producer.futures import PendingSend, SendFuture, calling, futures_of
from penstock.client.producer.partitioners import Outgoing, resolve_partitioner
from penstock.client.producer.patience import AFTER_ERROR_SECONDS
from penstock.client.producer.placement import Placement
from penstock.client.producer.queueing import (
    UNASSIGNED,
    SendQueue,
    native_arguments,
    produce_all,
)
from penstock.client.producer.transactions import GroupMember, Transaction, TransactionCalls
from penstock.client.records import (
    DeliveryCallback,
    HeadersInput,
    OffsetAndMetadata,
    ProduceCallback,
    ProducerRecord,
    RecordBatch,
    TopicPartition,
    with_headers,
)
from penstock.client.serializers import resolve_serializer
from penstock.wire_client.errors import FatalError, KafkaError, KafkaTimeoutError

logger = logging.getLogger("penstock.client")

_open_producers: "weakref.WeakSet[KafkaProducer]" = weakref.WeakSet()


class KafkaProducer:
    """Sends records. Takes a `ProducerConfig`, a mapping with Kafka's names, keywords, or a mapping and keywords.

    It is safe to use from many threads, and meant to be shared by them. Close it, or use `with`: both wait until all
    records are delivered; a `with` that ends with an exception waits two seconds at most.

    >>> from penstock import KafkaProducer, ProducerRecord
    >>> with KafkaProducer(bootstrap_servers="localhost:9092", value_serializer="json") as producer:
    ...     future = producer.send(ProducerRecord("orders", {"customer": 7, "cups": 2}, key="7"))
    ...     future.result(timeout=30).topic
    'orders'
    """

    _is_closed = True
    _why_closed = "this producer is closed; make another"

    def __init__(
        self,
        config: ProducerConfig | Mapping[str, object] | None = None,
        /,
        **keywords: Unpack[ProducerKeywords],
    ) -> None:
        self.config = ProducerConfig.of(config, keywords)
        self._encode_key = resolve_serializer(self.config.key_serializer, "key", self.config)
        self._encode_value = resolve_serializer(self.config.value_serializer, "value", self.config)
        partitioner = resolve_partitioner(self.config.partitioner_class)
        self._on_delivery = self.config.on_delivery
        self._delivery = _start(self.config, self._make_delivery)
        if self.config.enable_idempotence and self.config.transactional_id is None:
            self._delivery.await_first_record()
        max_block_ms = self.config.max_block_ms
        self._transactions = TransactionCalls(self._delivery, max_block_ms, self.config.transactional_id)
        self._queue = SendQueue(self._delivery, max_block_ms, self._transactions.are_missing)
        self._native, self._new_future = self._delivery.native, futures_of(self._delivery)
        self._futures = self._new_futures()
        self._placement = Placement(
            partitioner, self._delivery, self.config.metadata_max_age_ms, max_block_ms
        )
        self._passes_through = self._encode_key is None and self._encode_value is None and partitioner is None
        self._unwatched: Iterator[Callable[..., None]] = iter(())
        """Takes a record without a callback or a look around, as often as it may: nothing is counted in Python."""
        self._delivery.counts_unwatched(self._watch_again)
        self._is_closed = False
        _open_producers.add(self)
        watch(self)

    def _make_delivery(self, native: Producer, troubles: BrokerTroubles) -> Delivery:
        return Delivery(native, troubles)

    # --- one record

    @overload
    def send(
        self, record: ProducerRecord, /, *, on_delivery: DeliveryCallback | None = None
    ) -> SendFuture: ...

    @overload
    def send(
        self,
        topic: str,
        /,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: HeadersInput = (),
        on_delivery: DeliveryCallback | None = None,
    ) -> SendFuture: ...

    def send(
        self,
        topic: ProducerRecord | str,
        /,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: HeadersInput = (),
        on_delivery: DeliveryCallback | None = None,
    ) -> SendFuture:
        """Sends a record, or the record that the arguments make, and returns its future at once.

        It waits only while the buffer is full, for `max.block.ms` at most. `on_delivery` is called with metadata and
        error, one of which is None.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     future = producer.send("payments", b"5.00", key=b"customer-7", headers={"source": b"web"})
        ...     future.result(timeout=30).offset
        0
        """
        if isinstance(topic, ProducerRecord):
            record = topic
            topic, value, key = record.topic, record.value, record.key
            partition, timestamp_ms, headers = record.partition, record.timestamp_ms, record.headers
        if not self._passes_through:
            value, key, partition, headers = self._prepare(topic, value, key, partition, headers)
        future = next(self._futures, None) or self._next_future()
        if on_delivery is not None or self._on_delivery is not None:
            self._add_callbacks(future, on_delivery)
        delivery = self._delivery
        if delivery.is_serving:
            delivery.look_up(topic)
        try:
            if timestamp_ms is None and not headers:
                self._native.produce(
                    topic, value, key, UNASSIGNED if partition is None else partition, future
                )
                return future
        except BufferError:
            pass
        except Exception as error:
            future.fail(self._queue.refusal(error, topic, value, key))
            return future
        refusal = self._queue.put(
            native_arguments(topic, value, key, partition, timestamp_ms, headers, future)
        )
        if refusal is not None:
            future.fail(refusal)
        return future

    def _next_future(self) -> PendingSend:
        """The first of more; a sender that has used up so many is busy."""
        self._delivery.serve_in_busy_sender()
        self._futures = self._new_futures()
        return next(self._futures)

    def _new_futures(self) -> Iterator[PendingSend]:
        """As many as a sender takes before it looks for deliveries: nothing is counted in Python."""
        return starmap(self._new_future, repeat((), SERVE_EVERY))

    def produce(
        self,
        topic: str,
        value: Any = None,
        key: Any = None,
        partition: int | None = None,
        timestamp_ms: int | None = None,
        headers: HeadersInput | None = None,
        on_delivery: ProduceCallback | None = None,
    ) -> None:
        """Sends a record and forgets it: no future, which is faster. Failures are logged and counted.

        `on_delivery` is called as confluent-kafka does, with the error, which is None if it was delivered, and the
        message. It runs in the producer's own thread; nobody needs to call a `poll`.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     for number in range(1000):
        ...         producer.produce("clicks", b"click %d" % number)
        >>> producer.failed_records
        0
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     producer.produce("votes", b"yes", on_delivery=lambda error, message: print(error, message.offset()))
        None 0
        """
        if on_delivery is not None:
            return self._produce_watched(topic, value, key, partition, timestamp_ms, headers, on_delivery)
        try:
            if partition is None and timestamp_ms is None and headers is None:
                for native_produce in self._unwatched:
                    return native_produce(topic, value) if key is None else native_produce(topic, value, key)
        except BufferError:
            pass  # there is no room yet
        except Exception as error:
            raise self._queue.refusal(error, topic, value, key) from None
        return self._produce_patiently(topic, value, key, partition, timestamp_ms, headers)

    def _produce_patiently(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: HeadersInput | None,
    ) -> None:
        if not self._passes_through:
            value, key, partition, headers = self._prepare(topic, value, key, partition, headers or ())
        if self._delivery.is_serving:
            self._delivery.look_up(topic)
        callback = self._next_callback() if self._passes_through else self._delivery.watch()
        self._queue.must_put(native_arguments(topic, value, key, partition, timestamp_ms, headers, callback))

    def _produce_watched(
        self,
        topic: str,
        value: Any,
        key: Any,
        partition: int | None,
        timestamp_ms: int | None,
        headers: HeadersInput | None,
        on_delivery: ProduceCallback,
    ) -> None:
        if not self._passes_through:
            value, key, partition, headers = self._prepare(topic, value, key, partition, headers or ())
        if self._delivery.is_serving:
            self._delivery.look_up(topic)
        callback = self._delivery.calling(on_delivery)
        self._queue.must_put(native_arguments(topic, value, key, partition, timestamp_ms, headers, callback))

    def _next_callback(self) -> NativeDelivery | None:
        """For the next record without a future; None if it is not watched."""
        for _ in self._unwatched:
            return None
        unwatched = self._delivery.may_skip()
        self._unwatched = repeat(self._native.produce, unwatched)
        return self._delivery.watch(1 + unwatched)

    def _watch_again(self) -> None:
        self._unwatched = iter(())

    def send_batch(self, batch: RecordBatch) -> int:
        """Sends many records to one topic, without a future for each, and returns their number.

        >>> from penstock import KafkaProducer, RecordBatch
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     producer.send_batch(RecordBatch("readings", [b"21.5", b"21.7", b"21.6"]))
        3
        """
        if self._passes_through:
            produce_all(self._queue, batch)
        else:
            for record in batch.records():
                self.produce(record.topic, record.value, record.key, record.partition, record.timestamp_ms)
        return len(batch)

    def _prepare(
        self, topic: str, value: Any, key: Any, partition: int | None, headers: HeadersInput
    ) -> tuple[Any, Any, int | None, HeadersInput]:
        """Value and key as bytes, the partition if it is asked for in Python, and the headers with what was added."""
        added: list[tuple[str, bytes | None]] = []
        key_bytes = key if self._encode_key is None else self._encode_key(topic, key, added)
        value_bytes = value if self._encode_value is None else self._encode_value(topic, value, added)
        if added:
            headers = with_headers(headers, added)
        if partition is None and self._placement.is_asked:
            hashed = key_bytes.encode() if isinstance(key_bytes, str) else key_bytes
            partition = self._placement.place(Outgoing(topic, key, value, headers, hashed))
        return value_bytes, key_bytes, partition, headers

    def _add_callbacks(self, future: SendFuture, on_delivery: DeliveryCallback | None) -> None:
        for callback in (on_delivery, self._on_delivery):
            if callback is not None:
                future.add_done_callback(calling(callback))

    # --- all records

    def flush(self, timeout: float | None = None) -> None:
        """Waits until every record that was sent has its outcome, at most `timeout` seconds.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     future = producer.send("letters", b"dear")
        ...     producer.flush(timeout=30)
        ...     future.done()
        True
        """
        self._check_open()
        if left := self._delivery.flush(timeout):
            raise KafkaTimeoutError(
                self._delivery.why_waiting(f"{left} records are not acknowledged after {timeout} s")
            )

    def partitions_of(self, topic: str) -> int:
        """How many partitions a topic has; one that is not there is waited for, for `max.block.ms` at most.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     metadata = producer.send("orders", b"2 cups").result(timeout=30)
        ...     producer.partitions_of("orders")
        1
        """
        self._check_open()
        return self._placement.partitions_of(topic)

    @property
    def pending_records(self) -> int:
        """How many records have no outcome yet.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     producer.pending_records
        0
        """
        return 0 if self._is_closed else len(self._delivery.native)

    @property
    def failed_records(self) -> int:
        """How many records failed. Of many that `produce` sends at once a sample is watched, and counts; after
        `watch_every_record` all of them do.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     producer.failed_records
        0
        """
        return self._delivery.failures.count

    def watch_every_record(self) -> None:
        """Has `failed_records` count every record that `produce` and `send_batch` send from now on, not a sample.

        For those who must know that all of them arrived, and need no future for each; it takes as long as a callback.

        >>> from penstock import KafkaProducer, RecordBatch
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     producer.watch_every_record()
        ...     sent = producer.send_batch(RecordBatch("readings", [b"21.5"] * 5000))
        ...     producer.flush()
        ...     print(sent - producer.failed_records, "arrived")
        5000 arrived
        """
        self._delivery.watch_all()

    # --- transactions

    def transaction(self) -> Transaction:
        """A transaction as a context: committed at its end, aborted if it ends with an exception.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092", transactional_id="transfers-1") as producer:
        ...     with producer.transaction():
        ...         debit = producer.send("accounts", b"-5", key=b"alice")
        ...         credit = producer.send("accounts", b"+5", key=b"bob")
        >>> credit.result().offset - debit.result().offset
        1
        """
        self._check_open()
        return Transaction(self)

    def init_transactions(self) -> None:
        """Locks out an earlier producer of this `transactional.id`, and ends what it left open.

        The first transaction does so by itself.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092", transactional_id="transfers-1") as producer:
        ...     producer.init_transactions()
        """
        self._check_open()
        self._transactions.init()

    def begin_transaction(self) -> None:
        """Begins a transaction, which `commit_transaction` or `abort_transaction` ends; `transaction` does all three.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092", transactional_id="transfers-1") as producer:
        ...     producer.begin_transaction()
        ...     future = producer.send("accounts", b"+1", key=b"alice")
        ...     producer.commit_transaction()
        """
        self._check_open()
        self._transactions.begin()

    def commit_transaction(self) -> None:
        """Waits until all records of the transaction are delivered, and commits it.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092", transactional_id="transfers-1") as producer:
        ...     producer.begin_transaction()
        ...     future = producer.send("accounts", b"+1", key=b"alice")
        ...     producer.commit_transaction()
        ...     future.done()
        True
        """
        self._check_open()
        self._transactions.commit()

    def abort_transaction(self) -> None:
        """Drops what was not sent yet of the transaction, and has the rest ignored by those who read committed records.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092", transactional_id="transfers-1") as producer:
        ...     producer.begin_transaction()
        ...     producer.produce("accounts", b"+1", key=b"alice")
        ...     producer.abort_transaction()
        """
        self._check_open()
        self._transactions.abort()

    def _abort_soon(self) -> None:
        self._check_open()
        self._transactions.abort_soon()

    def send_offsets_to_transaction(
        self, offsets: Mapping[TopicPartition, OffsetAndMetadata | int], consumer: GroupMember
    ) -> None:
        """Commits offsets of the consumer's group together with the transaction: consume, transform, produce, once.

        >>> from penstock import KafkaConsumer, KafkaProducer, TopicPartition
        >>> with (
        ...     KafkaProducer(bootstrap_servers="localhost:9092", transactional_id="transfers-1") as producer,
        ...     KafkaConsumer(bootstrap_servers="localhost:9092", group_id="transfers") as consumer,
        ... ):
        ...     with producer.transaction():
        ...         request = producer.send("requests", b"5 to bob").result(timeout=30)
        ...     with producer.transaction():
        ...         transfer = producer.send("accounts", b"+5", key=b"bob")
        ...         producer.send_offsets_to_transaction({TopicPartition("requests", 0): request.offset + 1}, consumer)
        """
        self._check_open()
        self._transactions.send_offsets(offsets, consumer)

    # --- the end

    def close(self, timeout: float | None = None) -> None:
        """Waits until all records have their outcome, at most `timeout` seconds, and lets go of everything.

        What is left then fails, and an error says how many that are. An open transaction is aborted.

        >>> from penstock import KafkaProducer
        >>> producer = KafkaProducer(bootstrap_servers="localhost:9092")
        >>> producer.produce("letters", b"dear")
        >>> producer.close(timeout=30)
        """
        if self._is_closed:
            return
        self._is_closed = True
        _open_producers.discard(self)
        try:
            left = self._delivery.flush(timeout)
        except FatalError:
            left = 0  # every record has failed already, and whoever made the call that failed has heard why
        except BaseException:  # Ctrl-C
            self._delivery.close(drops_records=True, timeout=AFTER_ERROR_SECONDS)
            raise
        why = self._delivery.why_waiting(f"{left} records were not delivered when the producer was closed")
        self._delivery.close(bool(left), None if timeout is None else AFTER_ERROR_SECONDS)
        if left:
            raise KafkaTimeoutError(why)

    def _check_open(self) -> None:
        if self._is_closed:
            raise KafkaError(self._why_closed)

    def _after_fork(self) -> None:
        _open_producers.discard(self)
        if not self._is_closed:
            self._is_closed, self._why_closed = True, AFTER_FORK
            self._delivery.leave_to_parent()
            self._native = self._delivery.native
            self._queue.native_produce = refuse
            self._unwatched = iter(())

    def __enter__(self) -> Self:
        self._check_open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if error is None:
            self.close()
        else:
            self._close_soon()

    def _close_soon(self) -> None:
        """After an error, which is what the user needs to see, and soon."""
        try:
            self.close(AFTER_ERROR_SECONDS)
        except KafkaTimeoutError as left:
            logger.error("%s", left)

    def __del__(self) -> None:
        if not self._is_closed:
            self._warn_unclosed()
            self._is_closed = True
            self._delivery.abandon()

    def _warn_unclosed(self) -> None:
        left = len(self._delivery.native)
        lost = f"; {left} records may not be delivered" if left else ""
        logger.warning("%r was dropped without close()%s", self, lost)
        warnings.warn(f"unclosed {self!r}{lost}", ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        state = "closed" if self._is_closed else "open"
        return f"<KafkaProducer to {','.join(self.config.bootstrap_servers)}, {state}>"


def _start(config: ProducerConfig, make: Callable[[Producer, BrokerTroubles], Delivery]) -> Delivery:
    troubles = BrokerTroubles()
    native = with_diagnostics(config.for_librdkafka(), troubles)
    if config.partitioner is None:
        native["partitioner"] = "random" if config.partitioner_ignore_keys else "murmur2_random"
    try:
        return make(Producer(native), troubles)
    except KafkaException as exception:
        raise config_error(exception) from None


@atexit.register
def _end_open_producers() -> None:
    """Python goes away under threads that still run."""
    for producer in list(_open_producers):
        producer._warn_unclosed()
        producer._is_closed = True
        producer._delivery.stop()
