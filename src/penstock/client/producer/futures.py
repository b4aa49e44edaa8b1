"""What `send` returns: the record's place once the broker has it.

A producer makes as many futures as it sends records, so one is little more than an object that librdkafka can call.
Nothing else is made for it before it is needed: Python's garbage collector looks at each object several times, as long
as a record is on its way. What somebody who waits needs (an event, a list of callbacks) is made when somebody waits,
and what all futures of a producer share is an attribute of their class: `futures_of` makes one for each producer.
"""

import logging
import os
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from penstock.client.librdkafka import Message, NativeError, is_purge
from penstock.client.producer.delivery import Delivery
from penstock.client.producer.forking import refuse
from penstock.client.records import DeliveryCallback, RecordMetadata
from penstock.wire_client.errors import KafkaTimeoutError

logger = logging.getLogger("penstock.client")

DoneCallback: TypeAlias = Callable[["SendFuture"], object]

_one_at_a_time = threading.Lock()
"""Held for a moment by whoever begins to wait for a future, any future: that is rare."""
os.register_at_fork(
    before=_one_at_a_time.acquire,
    after_in_parent=_one_at_a_time.release,
    after_in_child=_one_at_a_time.release,
)


class SendFuture:
    """The outcome of one `send`: a `RecordMetadata`, or an error.

    >>> from penstock import KafkaProducer
    >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
    ...     future = producer.send("greetings", b"hello")
    ...     future.result(timeout=30).offset
    0
    >>> future.done()
    True
    """

    _place: tuple[Any, Any, Any, Any] | None = None
    """The fields of its `RecordMetadata`."""
    _error: Exception | None = None
    _unseen: "_UnseenFailure | None" = None
    _waiting: threading.Event | None = None
    _callbacks: list[DoneCallback] | None = None

    _delivery: Delivery

    def result(self, timeout: float | None = None) -> RecordMetadata:
        """Waits for the outcome, at most `timeout` seconds, and returns it; raises the record's error, if it failed.

        Without a timeout it waits until the record has an outcome, which `delivery.timeout.ms` sees to.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     producer.send("invoices", b"paid", partition=0).result(timeout=30).partition
        0
        """
        if not self.done():
            self._wait(timeout)
        if (place := self._place) is not None:
            return RecordMetadata(*place)
        assert self._error is not None
        self._mark_seen()
        raise self._error

    def exception(self, timeout: float | None = None) -> Exception | None:
        """Waits for the outcome, and returns the error, or None if the record was delivered.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     producer.send("greetings", b"hello").exception(timeout=30) is None
        True
        """
        if not self.done():
            self._wait(timeout)
        self._mark_seen()
        return self._error

    def done(self) -> bool:
        """Whether the outcome is known.

        >>> from penstock import KafkaProducer
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     future = producer.send("greetings", b"hello")
        >>> future.done()  # the end of `with` has waited for it
        True
        """
        return self._place is not None or self._error is not None

    def add_done_callback(self, callback: DoneCallback) -> None:
        """Calls `callback(future)` when the outcome is known, or now if it is. It runs in the producer's own thread.

        >>> from penstock import KafkaProducer
        >>> offsets = []
        >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
        ...     producer.send("votes", b"yes").add_done_callback(lambda done: offsets.append(done.result().offset))
        >>> offsets
        [0]
        """
        self._delivery.runs_callbacks = True
        with _one_at_a_time:
            if self._callbacks is None:
                self._callbacks = []
            self._callbacks.append(callback)
        if self.done():
            self._run_callbacks()

    def _mark_seen(self) -> None:
        if (unseen := self._unseen) is not None:
            unseen.is_seen = True

    def _run_callbacks(self) -> None:
        self._mark_seen()
        while (callback := self._next_callback()) is not None:
            try:
                callback(self)
            except Exception:
                logger.exception("a callback of `send` failed")

    def _next_callback(self) -> DoneCallback | None:
        with _one_at_a_time:
            return self._callbacks.pop(0) if self._callbacks else None

    def _wait(self, timeout: float | None) -> None:
        if self._delivery.is_forked:
            refuse()
        with _one_at_a_time:
            if self._waiting is None:
                self._waiting = threading.Event()
        self._delivery.want()
        if self.done() or self._waiting.wait(timeout) or self.done():
            return
        raise KafkaTimeoutError(self._delivery.why_waiting(f"the record has no outcome after {timeout} s"))


class PendingSend(SendFuture):
    """The same from the producer's side."""

    def __call__(self, error: NativeError | None, message: Message) -> None:
        """librdkafka's callback."""
        delivery = self._delivery
        delivery.is_serving = True
        if error is None:
            self._place = message.topic(), message.partition(), message.offset(), message.timestamp()[1]
        else:
            self._failed(delivery.error_of(error, message.topic()), is_purge(error))
        if self._waiting is not None or self._callbacks is not None:
            self._wake()

    def fail(self, error: Exception) -> None:
        """The record could not even be queued."""
        self._failed(error)
        self._wake()

    def _failed(self, error: Exception, is_wanted: bool = False) -> None:
        """`is_wanted`: the record was dropped because the application said so, and knows."""
        if not is_wanted:
            self._delivery.failures.count += 1
            self._unseen = _UnseenFailure(self._delivery, error)
        self._error = error

    def _wake(self) -> None:
        if self._waiting is not None:
            self._waiting.set()
        if self._callbacks is not None:
            self._run_callbacks()


def futures_of(delivery: Delivery) -> type[PendingSend]:
    """The class of one producer's futures."""
    return type("SendFuture", (PendingSend,), {"_delivery": delivery, "__module__": __name__})


class _UnseenFailure:
    """Reports a failure when its future goes away and nobody has looked at it."""

    def __init__(self, delivery: Delivery, error: Exception) -> None:
        self._delivery, self._error = delivery, error
        self.is_seen = False

    def __del__(self) -> None:
        if not self.is_seen:
            self._delivery.failures.report(self._error)


def calling(callback: DeliveryCallback) -> DoneCallback:
    """A callback of metadata and error as one of the future."""

    def on_done(future: SendFuture) -> None:
        error = future.exception()
        callback(future.result() if error is None else None, error)

    return on_done
