"""The leader's way into the topic: decisions are made in turn, and written together in transactions.

Whoever opens a producer with the registries' transactional id fences the one who had it before: what an earlier leader
has not committed by then is aborted, and it can commit nothing afterwards. So a writer opens its producer, writes a
record of no meaning, and waits until it has been replayed. From then on its state has all that was ever committed, and
nobody else can add to it.

Requests that come while a transaction is under way make the next one together. Each is decided on an overlay of the
state that has what the ones before it will write (see `state`); they are answered when all of it has been replayed.

If a record is refused, the transaction is aborted and its requests are decided anew, one by one, so that only the one
to blame fails. If it is not known what became of a transaction, its requests are answered so (50002), and the producer
is opened again, which settles the matter one way or the other before the next decision.

A request that comes before the producer was open for the first time waits for that with the patience of a start: Kafka
may have to make the topic of its transactions first. Only then the time runs that a write may take.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from penstock.client import AsyncKafkaProducer
from penstock.errors import ErrorCode
from penstock.registry import errors
from penstock.registry.decisions import Decision
from penstock.registry.errors import RegistryError
from penstock.registry.settings import RegistrySettings
from penstock.registry.state import RegistryState
from penstock.registry.store import SchemaStore
from penstock.registry.stored import OtherKey, Record, encode_key
from penstock.wire_client.errors import FatalError, KafkaError

log = logging.getLogger("penstock.registry.writer")

MOST_PER_TRANSACTION = 500
MOST_WAITING = 10_000
RETRY_SECONDS = 0.2
TRANSACTION_TIMEOUT_MS = 30_000
CLOSE_SECONDS = 1.0
NOTHING: Record = (encode_key(OtherKey("NOOP")), None)

Decide = Callable[[RegistryState], Decision]


class Fenced(Exception):
    """Another registry has taken over, or the producer broke for good: who leads has to be agreed on again."""


class _Refused(Exception):
    """Kafka does not take a record; nothing of the transaction is written."""


class _NotWritten(Exception):
    """The transaction failed, for this reason, before anything of it could be committed."""

    def __init__(self, reason: KafkaError) -> None:
        self.reason = reason


@dataclass(slots=True)
class _Request:
    decide: Decide
    answered: asyncio.Future[Any]
    decision: Decision | Exception = field(default_factory=lambda: Decision((), None))


class Writer:
    def __init__(self, settings: RegistrySettings, store: SchemaStore) -> None:
        self._settings = settings
        self._store = store
        self._waiting: deque[_Request] = deque()
        self._has_work = asyncio.Event()
        self._has_begun = asyncio.Event()
        self._is_stopping = False
        self._is_over = False

    async def write(self, decide: Decide) -> Any:
        """The answer to a request, when what it needs is in the log and replayed."""
        await self._until_begun()
        if len(self._waiting) >= MOST_WAITING:
            raise errors.operation_timed_out(f"{MOST_WAITING} writes are waiting already")
        request = _Request(decide, asyncio.get_running_loop().create_future())
        self._waiting.append(request)
        self._has_work.set()
        try:
            async with asyncio.timeout(self._settings.kafkastore_timeout_ms / 1000):
                return await request.answered
        except TimeoutError:
            raise errors.operation_timed_out(
                f"Write to Kafka took more than kafkastore.timeout.ms, which is "
                f"{self._settings.kafkastore_timeout_ms}; whether it was done is not known"
            ) from None

    async def _until_begun(self) -> None:
        try:
            async with asyncio.timeout(self._settings.kafkastore_init_timeout_ms / 1000):
                await self._has_begun.wait()
        except TimeoutError:
            raise errors.operation_timed_out(
                f"The topic could not be opened for writing within kafkastore.init.timeout.ms, which is "
                f"{self._settings.kafkastore_init_timeout_ms}; nothing was written"
            ) from None
        if self._is_over:
            raise errors.LeaderChanged()

    def stop(self) -> None:
        """Has `run` return after what it is writing."""
        self._is_stopping = True
        self._has_work.set()

    async def run(self) -> None:
        """Leads, until stopped or `Fenced`; then nothing that waits will be written."""
        try:
            while not self._is_stopping:
                try:
                    await self._lead()
                except KafkaError as error:
                    log.warning("the topic cannot be written now: %s", error)
                    await asyncio.sleep(RETRY_SECONDS)
        finally:
            self._is_over = True
            self._has_begun.set()
            self._fail(self._waiting, errors.LeaderChanged())
            self._waiting.clear()

    async def _lead(self) -> None:
        producer = AsyncKafkaProducer(self._producer_configs())
        try:
            await producer.init_transactions()
            await self._store.replayed(await self._commit(producer, [NOTHING]))
            log.info("leading from offset %d on", self._store.position)
            self._has_begun.set()
            while not self._is_stopping:
                await self._serve(producer)
        except _Refused as error:
            raise KafkaError(str(error)) from None
        except _NotWritten as error:
            raise _end_of_term(error.reason) from None
        except KafkaError as error:
            raise _end_of_term(error) from None
        finally:
            with suppress(KafkaError):
                await asyncio.shield(producer.close(timeout=CLOSE_SECONDS))

    def _producer_configs(self) -> dict[str, object]:
        settings = self._settings
        return {
            **settings.client_configs,
            "client.id": "schema-registry-writer",
            "transactional.id": f"{settings.schema_registry_group_id}-{settings.kafkastore_topic}-leader",
            "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
            "delivery.timeout.ms": settings.kafkastore_timeout_ms,
            "max.block.ms": settings.kafkastore_timeout_ms,
            "linger.ms": 0,
        }

    async def _serve(self, producer: AsyncKafkaProducer) -> None:
        await self._has_work.wait()
        taken = [self._waiting.popleft() for _ in range(min(len(self._waiting), MOST_PER_TRANSACTION))]
        if not self._waiting:
            self._has_work.clear()
        try:
            await self._write_together(producer, taken)
        except _Refused:
            for request in taken:
                await self._write_alone(producer, request)

    async def _write_alone(self, producer: AsyncKafkaProducer, request: _Request) -> None:
        try:
            await self._write_together(producer, [request])
        except _Refused as error:
            self._fail([request], _refusal(error))

    async def _write_together(self, producer: AsyncKafkaProducer, requests: Sequence[_Request]) -> None:
        state = self._store.state
        pending = state.overlay()
        decided = [request for request in requests if not request.answered.done()]
        records = await self._store.off_the_loop(
            lambda: [record for request in decided for record in _decide(request, pending)]
        )
        if records:
            try:
                await self._store.replayed(await self._commit(producer, records))
            except _Refused:
                state.burn_ids(
                    pending
                )  # a reader that does not know of transactions sees the records all the same
                raise
            except _NotWritten as error:
                state.burn_ids(pending)
                self._fail(decided, _not_written(error.reason))
                raise
            except (KafkaError, asyncio.CancelledError) as error:
                state.burn_ids(pending)
                self._fail(
                    decided, errors.operation_timed_out(f"The outcome of the write is not known: {error}")
                )
                raise
        for request in decided:
            _answer(request)

    async def _commit(self, producer: AsyncKafkaProducer, records: Sequence[Record]) -> int:
        """The offset of the last record, once all are committed."""
        await producer.begin_transaction()
        topic = self._settings.kafkastore_topic
        sent = [producer.send_nowait(topic, value, key, 0) for key, value in records]
        outcomes = await asyncio.gather(*sent, return_exceptions=True)
        refused = next(
            (each for each in outcomes if isinstance(each, KafkaError) and each.code in _TOO_LARGE), None
        )
        if refused is not None:
            await producer.abort_transaction()
            raise _Refused(str(refused)) from refused
        try:
            await producer.commit_transaction()
        except KafkaError as error:
            if any(isinstance(each, BaseException) for each in outcomes):
                raise _NotWritten(error) from error  # a transaction that lacks a record is never committed
            raise
        return max(each.offset for each in outcomes if not isinstance(each, BaseException))

    @staticmethod
    def _fail(requests: Sequence[_Request] | deque[_Request], error: RegistryError) -> None:
        for request in requests:
            if not request.answered.done():
                request.answered.set_exception(error)


def _decide(request: _Request, pending: RegistryState) -> Sequence[Record]:
    """What is to be written; an error is an answer like any other, and waits for what it stands on."""
    try:
        request.decision = request.decide(pending)
    except Exception as error:  # whatever it is, it concerns this request alone
        request.decision = error
        return ()
    pending.apply(request.decision.records)
    return request.decision.records


def _answer(request: _Request) -> None:
    if request.answered.done():
        return
    if isinstance(request.decision, Exception):
        request.answered.set_exception(request.decision)
    else:
        request.answered.set_result(request.decision.answer)


def _end_of_term(error: KafkaError) -> Exception:
    return Fenced(str(error)) if isinstance(error, FatalError) else error


def _not_written(reason: KafkaError) -> RegistryError:
    if isinstance(reason, FatalError):
        return errors.LeaderChanged()
    return errors.operation_timed_out(f"The write was not done: {reason}")


def _refusal(error: _Refused) -> RegistryError:
    log.warning("a record was refused: %s", error)
    return errors.schema_too_large()


_TOO_LARGE = {ErrorCode.MESSAGE_TOO_LARGE, ErrorCode.RECORD_LIST_TOO_LARGE}
