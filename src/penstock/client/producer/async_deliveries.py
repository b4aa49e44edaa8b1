"""The way of deliveries into an event loop.

librdkafka tells of each record's fate through a callback, called by whoever polls. Python runs one thread at a time, so
a thread that polls beside a busy event loop gets its turn every five milliseconds, for one callback; and an event loop
that polls by itself hears of a single record only when its next timer is due. So there are two ways, by the load:

- Few records are under way: a thread waits in `poll`. The event loop sleeps, the callback runs at once, and wakes it.
- Many are: the event loop polls without waiting, between records and by a timer, until none is left. No thread takes
  part, and thousands of records cost one look. That goes on for a moment longer, as more may come.

Either way a callback only leaves the outcome in a list, and the event loop hands over all that it finds there.
"""

import asyncio
import threading
from collections import deque
from typing import TypeAlias

from penstock.client.librdkafka import (
    BrokerTroubles,
    KafkaException,
    Message,
    NativeDelivery,
    NativeError,
    Producer,
    error_of,
)
from penstock.client.producer.delivery import Delivery
from penstock.client.records import ProduceCallback, RecordMetadata

MetadataFuture: TypeAlias = asyncio.Future[RecordMetadata]
Outcome: TypeAlias = tuple[MetadataFuture, NativeError | None, Message]

FEW_RECORDS = 64
"""So many unanswered records are few."""
RECORDS_PER_LOOK = 256
TIMER_SECONDS = 0.001
IDLE_TIMERS = 50
"""So many timers without a record on its way, and the load is over."""
THREAD_POLL_SECONDS, THREAD_IDLE_SECONDS = 0.02, 0.5

_new_tuple = tuple.__new__


class LoopDelivery(Delivery):
    """A `Delivery` whose callbacks end in an event loop."""

    def __init__(self, native: Producer, troubles: BrokerTroubles, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._outcomes: deque[Outcome] = deque()
        self._is_busy = self._is_asked = self._is_polling_here = False
        self._unanswered = self._idle_timers = 0
        self._thread_is_wanted = threading.Event()
        super().__init__(native, troubles)  # starts the thread

    # --- the thread

    def _run(self) -> None:
        self._servers.add(threading.get_ident())
        while not self._stopped:
            self._thread_is_wanted.wait(THREAD_IDLE_SECONDS)
            wanted = self._thread_is_wanted.is_set()
            try:
                served = self.native.poll(THREAD_POLL_SECONDS if wanted else 0)
            except KafkaException as exception:
                self.troubles.on_error(error_of(exception))
            else:
                if wanted and not served and not len(self.native):
                    self._thread_is_wanted.clear()
            self._end_round()

    def stop(self) -> None:
        self._stopped = True
        self._thread_is_wanted.set()
        super().stop()

    def step_aside(self) -> None:
        """Nobody has to: the event loop and the thread do not poll at the same time."""

    def _sender_may_serve(self) -> bool:
        return False

    # --- the event loop

    def sent(self) -> None:
        """After each record: sees to it that somebody hears of its delivery."""
        self._unanswered += 1
        if self._is_busy:
            if self._unanswered >= RECORDS_PER_LOOK:
                self._poll_here()
        elif self._unanswered > FEW_RECORDS:
            self._is_busy = True
            self._thread_is_wanted.clear()
            self._loop.call_later(TIMER_SECONDS, self._on_timer)
        elif not self._thread_is_wanted.is_set():
            self._thread_is_wanted.set()

    def _on_timer(self) -> None:
        if self._stopped:
            return
        self._poll_here()
        self._idle_timers = 0 if len(self.native) else self._idle_timers + 1
        if self._idle_timers < IDLE_TIMERS:
            self._loop.call_later(TIMER_SECONDS, self._on_timer)
        else:
            self._is_busy = False

    def _poll_here(self) -> None:
        self._is_polling_here = True
        try:
            self.native.poll(0)
        except KafkaException as exception:
            self.troubles.on_error(error_of(exception))
        finally:
            self._is_polling_here = False
        self._hand_over()

    # --- outcomes

    def calling(self, callback: ProduceCallback) -> NativeDelivery:
        """The same in the event loop, where the application's objects live."""
        tell = super().calling(callback)

        def on_done(error: NativeError | None, message: Message) -> None:
            try:
                self._loop.call_soon_threadsafe(tell, error, message)
            except RuntimeError:  # the loop is closed: nobody listens any more
                pass

        return on_done

    def on_outcome(self, future: MetadataFuture, error: NativeError | None, message: Message) -> None:
        """librdkafka's callback, in whichever thread polls."""
        self._outcomes.append((future, error, message))
        if not self._is_polling_here and not self._is_asked:
            self._is_asked = True
            try:
                self._loop.call_soon_threadsafe(self._hand_over)
            except RuntimeError:  # the loop is closed: nobody waits any more
                self._outcomes.clear()

    def _hand_over(self) -> None:
        self._is_asked = False
        self._unanswered = 0
        outcomes = self._outcomes
        while outcomes:
            future, error, message = outcomes.popleft()
            if future.done():  # whoever waited was cancelled
                continue
            if error is None:
                place = (message.topic(), message.partition(), message.offset(), message.timestamp()[1])
                future.set_result(_new_tuple(RecordMetadata, place))
            else:
                self.failures.count += 1
                future.set_exception(self.error_of(error, message.topic()))
