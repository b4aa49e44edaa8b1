"""The thread that hears of deliveries, and what waits for it.

librdkafka tells of each record's fate through a callback, which it calls from `poll`. A thread of its own polls, so
that futures are done and callbacks run whether or not the application calls the producer again.

Python runs one thread at a time. For each callback the thread has to ask for its turn, and a sender that never pauses
hands over every five milliseconds only: two hundred callbacks a second, where it sends a million records. So the
sender steps aside: the first callback of a round sets `is_serving`, the sender looks at that before each record, and
waits until the round is over. Rounds are short, since nothing else then runs.

Best of all is no second thread. A sender that sends so much that it cannot be missed hears of deliveries by itself,
every thousand records or when there is no room; as long as it does, the thread sleeps. But callbacks of the application
run in the thread only: a sender may hold a lock that they want.

Records sent with `produce` have no future. Whether one was delivered is only known if it is watched, which costs as
much as sending it. So all are watched as long as there are few of them between two rounds (`WATCHED_PER_ROUND`), and
of more one in `WATCH_ONE_IN`; brokers refuse batches, hardly ever records. Those between are counted by the sender,
who looks at nothing else then.

An idempotent producer needs an id before it can send. librdkafka asks for one when it is made, finds that no broker is
connected yet, and tries again after half a second, or when metadata arrives. So the first record has metadata of its
topic asked for, twice: the connection that answers first is given up for one to the broker by its id.
"""

import logging
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from penstock.client.librdkafka import (
    BrokerTroubles,
    KafkaException,
    Message,
    NativeDelivery,
    NativeError,
    Producer,
    client_error,
    error_of,
    is_purge,
)
from penstock.client.producer.forking import ForkedNative
from penstock.client.producer.patience import AFTER_ERROR_SECONDS, turns
from penstock.client.records import ProduceCallback
from penstock.wire_client.errors import KafkaError

logger = logging.getLogger("penstock.client")

BUSY_POLL_SECONDS, IDLE_POLL_SECONDS = 0.02, 0.1
ROUNDS_UNTIL_IDLE = 50
METADATA_SECONDS = 0.25
LEAVING_SECONDS = 0.005
STEP_ASIDE_SECONDS = 0.05
WATCHED_PER_ROUND = 100
SERVE_EVERY = 1_000
"""After so many records a busy sender looks for deliveries."""
WATCH_ONE_IN = SERVE_EVERY
"""Of a busy sender's records without a future. Batches are larger then."""


class DeliveryFailures:
    """Counts records that failed, and logs those that nobody has looked at: the first at once, others every while."""

    LOG_EVERY_SECONDS = 10.0

    def __init__(self) -> None:
        self.count = 0
        self._unreported = 0
        self._next_report_at = 0.0

    def report(self, error: Exception) -> None:
        """A failure that nobody will look at."""
        self._unreported += 1
        now = time.monotonic()
        if now < self._next_report_at:
            return
        self._next_report_at = now + self.LOG_EVERY_SECONDS
        self.report_rest(error)

    def report_rest(self, error: Exception | None = None) -> None:
        if count := self._unreported:
            self._unreported = 0
            last = f", the last one: {error}" if error is not None else ""
            records = "1 record was" if count == 1 else f"{count} records were"
            logger.error("%s not delivered, and nobody has looked at it%s", records, last)


class Delivery:
    """What the producer, its thread and its futures share; the thread never holds the producer itself."""

    def __init__(self, native: Producer, troubles: BrokerTroubles) -> None:
        self.native, self.troubles = native, troubles
        self.failures = DeliveryFailures()
        self._awaits_first_record = False
        self._first_only = threading.Lock()
        self._hurrying: threading.Thread | None = None
        self.is_serving = False
        """Whether a sender should `look_up`: callbacks run, or its record is the first."""
        self.runs_callbacks = False
        """Whether the application has given callbacks."""
        self.watches_all = False
        self._to_watch = WATCHED_PER_ROUND
        self._unserved = 0
        self._watch_again: Callable[[], None] = lambda: None
        self._sender_serves = False
        self._is_wanted = threading.Event()
        self._round_over = threading.Event()
        self._servers: set[int] = set()
        self._callers: set[int] = set()
        """Threads of the application that are in a call of librdkafka."""
        self._stopped = False
        self.is_forked = False
        self._thread = threading.Thread(target=self._run, name="penstock-producer", daemon=True)
        self._thread.start()

    # --- the thread

    def _run(self) -> None:
        self._servers.add(threading.get_ident())
        quiet_rounds = 0
        while not self._stopped:
            if self._sender_serves:
                self._sender_serves = False
                if not self._is_wanted.wait(BUSY_POLL_SECONDS):
                    continue
            self._is_wanted.clear()
            served = self._poll(BUSY_POLL_SECONDS if quiet_rounds < ROUNDS_UNTIL_IDLE else IDLE_POLL_SECONDS)
            quiet_rounds = 0 if served else quiet_rounds + 1
            self._end_round()

    def _poll(self, seconds: float) -> int:
        try:
            return self.native.poll(seconds)
        except KafkaException as exception:
            self.troubles.on_error(error_of(exception))
        except Exception:
            logger.exception("a callback of the producer failed")
        return 1

    def _end_round(self) -> None:
        self._to_watch = WATCHED_PER_ROUND
        self._watch_again()
        self._let_senders_go_on()

    def _let_senders_go_on(self) -> None:
        self.is_serving = self._awaits_first_record
        self._round_over.set()

    def want(self) -> None:
        """Somebody waits: the thread, if it sleeps, is to poll."""
        self._is_wanted.set()

    @contextmanager
    def serving_here(self) -> Iterator[None]:
        """Around calls of librdkafka that run callbacks in this thread: flush and the like."""
        me = threading.get_ident()
        self._servers.add(me)
        self._callers.add(me)
        try:
            yield
        except SystemError as error:
            if isinstance(error.__cause__, KeyboardInterrupt):  # it came while a callback ran
                raise error.__cause__ from None
            if error.__cause__ is None and threading.current_thread() is threading.main_thread():
                raise KeyboardInterrupt from None  # and the next callback's call took it away
            raise
        finally:
            self._callers.discard(me)
            self._servers.discard(me)
            self._end_round()

    def stop(self) -> None:
        """Ends the thread, which is over within one poll."""
        self._stopped = True
        self.want()
        for thread in (self._thread, self._hurrying):
            if thread is not None and thread is not threading.current_thread():
                thread.join()

    def close(self, drops_records: bool, timeout: float | None = None) -> None:
        """Lets go of librdkafka, once no call of another thread is in it; records that are left fail.

        librdkafka's close waits for an open transaction to be aborted, however long brokers are away: in a thread.
        """
        self.stop()
        self._wait_for_other_callers()
        closing = threading.Thread(target=self._close_native, args=(drops_records,), daemon=True)
        closing.start()
        closing.join(timeout)
        self.failures.report_rest()

    def _close_native(self, drops_records: bool) -> None:
        with self.serving_here():
            try:
                if drops_records:
                    self.native.purge()
                    self.native.poll(0)
                self.native.close()
            except (KafkaException, SystemError) as error:
                logger.debug("librdkafka had a fatal error before: %s", error)

    def _wait_for_other_callers(self) -> None:
        """They see after their turn that the producer has stopped; librdkafka's handle must not go away under them."""
        deadline = time.monotonic() + AFTER_ERROR_SECONDS
        while self._callers - {threading.get_ident()} and time.monotonic() < deadline:
            time.sleep(LEAVING_SECONDS)

    @property
    def is_stopped(self) -> bool:
        return self._stopped

    def abandon(self) -> None:
        """As `stop`, without waiting."""
        self._stopped = True

    def leave_to_parent(self) -> None:
        """In the child of a fork: no call goes to librdkafka, nothing is waited for."""
        self.native = ForkedNative(self.native)  # type: ignore[assignment]
        self._stopped = self.is_forked = True
        self._awaits_first_record = self.is_serving = False

    # --- the first record

    def await_first_record(self) -> None:
        """The first sender is to `look_up`, so that the producer's id comes soon."""
        self._awaits_first_record = self.is_serving = True

    def hurry_producer_id(self, topic: str) -> None:
        with self._first_only:
            if self._awaits_first_record:
                self._awaits_first_record = False
                self._hurrying = threading.Thread(target=self._ask_for_metadata, args=(topic,), daemon=True)
                self._hurrying.start()

    def _ask_for_metadata(self, topic: str) -> None:
        for _ in range(2):
            try:
                self.native.list_topics(topic, timeout=METADATA_SECONDS)
            except (KafkaException, RuntimeError):
                return  # no broker answers: librdkafka goes on trying, and says why

    # --- the sender

    def look_up(self, topic: str) -> None:
        """What a sender does that sees `is_serving`."""
        if self._awaits_first_record:
            self.hurry_producer_id(topic)
        else:
            self.step_aside()

    def step_aside(self) -> None:
        """Waits until callbacks have run, but for senders that are callbacks themselves."""
        if threading.get_ident() not in self._servers:
            self._round_over.clear()
            if self.is_serving:
                self._round_over.wait(STEP_ASIDE_SECONDS)

    def watch_all(self) -> None:
        """From the next record on."""
        self.watches_all = True
        self._watch_again()

    def counts_unwatched(self, watch_again: Callable[[], None]) -> None:
        """Whoever counts unwatched records hears, for as long as it is there, that the next one is to be watched."""
        method = weakref.WeakMethod(watch_again)
        self._watch_again = lambda: None if (call := method()) is None else call()

    def may_skip(self) -> int:
        """How many records without a future may follow the next one that are not watched."""
        return 0 if self._to_watch > 0 or self.watches_all else WATCH_ONE_IN - 1

    def watch(self, records: int = 1) -> NativeDelivery:
        """The callback of a record without a future, which stands for so many. A busy sender serves meanwhile."""
        if self.is_serving:
            self.step_aside()
        self._to_watch -= records
        if self._to_watch < 0:
            self._unserved += records
            if self._unserved >= SERVE_EVERY:
                self._unserved = 0
                self.serve_in_busy_sender()
        return self.on_watched

    def serve_in_busy_sender(self) -> None:
        """What a sender does every so many records."""
        if self._sender_may_serve():
            self._serve_in_sender(0)

    def _sender_may_serve(self) -> bool:
        return not self.runs_callbacks and not self.is_forked and threading.get_ident() not in self._servers

    def _serve_in_sender(self, seconds: float) -> None:
        self._sender_serves = self.is_serving = True
        self._servers.add(me := threading.get_ident())
        try:
            self._poll(seconds)
        finally:
            self._servers.discard(me)
            self._let_senders_go_on()

    def wait_for_room(self, deadline: float) -> bool:
        """Whether there may be room in the buffer now; False when it is too late."""
        left = deadline - time.monotonic()
        if left <= 0:
            return False
        if threading.get_ident() in self._servers:
            self.native.poll(min(left, BUSY_POLL_SECONDS))
        elif self._sender_may_serve():
            self._serve_in_sender(min(left, STEP_ASIDE_SECONDS))
        else:
            self._round_over.clear()
            self._round_over.wait(min(left, STEP_ASIDE_SECONDS))
        return True

    # --- outcomes

    def on_watched(self, error: NativeError | None, message: Message) -> None:
        """librdkafka's callback for records without a future."""
        self.is_serving = True
        if error is not None and not is_purge(error):
            self.failures.count += 1
            self.failures.report(self.error_of(error, message.topic()))

    def calling(self, callback: ProduceCallback) -> NativeDelivery:
        """librdkafka's callback for a record whose fate the application wants to hear of."""
        self.runs_callbacks = True

        def on_done(native: NativeError | None, message: Message) -> None:
            self.is_serving = True
            error = None if native is None else self.error_of(native, message.topic())
            if native is not None and not is_purge(native):
                self.failures.count += 1
            try:
                callback(error, message)
            except Exception:
                logger.exception("on_delivery of `produce` failed")

        return on_done

    def error_of(self, error: NativeError, topic: str | None) -> KafkaError:
        """The error of a record that failed."""
        return client_error(error, f"topic {topic}: the record was not delivered", self.troubles)

    def why_waiting(self, what: str) -> str:
        """What is waited for, and which broker keeps it waiting."""
        trouble = self.troubles.explain()
        return f"{what}: {trouble}" if trouble else what

    def flush(self, timeout: float | None) -> int:
        """How many records are still waiting."""
        try:
            for seconds in turns(timeout):
                with self.serving_here():
                    left = 0 if self._stopped else self.native.flush(seconds)
                if not left:
                    return 0
            return left
        except KafkaException as exception:
            raise client_error(error_of(exception), "records were not delivered", self.troubles) from None

    def call(self, what: str, function: object, *arguments: object) -> None:
        """Calls librdkafka where it may run callbacks; its errors become ours."""
        assert callable(function)
        try:
            with self.serving_here():
                function(*arguments)
        except KafkaException as exception:
            raise client_error(error_of(exception), what, self.troubles) from None
