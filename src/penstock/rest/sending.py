"""Handing records to the producer, and what becomes of them."""

from __future__ import annotations

from asyncio import Future, ensure_future, sleep
from time import perf_counter
from typing import Any, Generic, TypeVar

from penstock.client.records import RecordMetadata
from penstock.rest.errors import UNKNOWN_TOPIC_OR_PARTITION, of_kafka_error, topic_not_found
from penstock.rest.kafka import Kafka
from penstock.web.errors import HttpError
from penstock.wire_client.errors import FatalError, KafkaError, RetriableError

UNAVAILABLE = 503
TURN_SECONDS = 0.02
About = TypeVar("About")


class Produced(Generic[About]):
    """A record that was handed to the producer, or refused before; `about` is what its answer says besides."""

    __slots__ = ("about", "error", "future")

    def __init__(
        self, about: About | None, future: Future[RecordMetadata] | None, error: HttpError | None = None
    ) -> None:
        self.about = about
        self.future = future
        self.error = error

    async def outcome(self) -> RecordMetadata | None:
        """Where it is; None if there is an `error`."""
        if self.error is None:
            assert self.future is not None
            try:
                return await self.future
            except KafkaError as error:
                self.error = of_produce_error(error)
        return None

    def forget(self) -> None:
        """Nobody will ask for the outcome; an error of it is nobody's business."""
        if self.future is not None:
            self.future.add_done_callback(lambda future: future.cancelled() or future.exception())


class Turns:
    """Of a request of many records with those of others."""

    __slots__ = ("_ends",)

    def __init__(self) -> None:
        self._ends = perf_counter() + TURN_SECONDS

    async def maybe_yield(self) -> None:
        if perf_counter() > self._ends:
            await sleep(0)
            self._ends = perf_counter() + TURN_SECONDS


def of_produce_error(error: KafkaError) -> HttpError:
    """A partition that is not there has a code of its own: what is left is the topic."""
    answer = of_kafka_error(error)
    return topic_not_found() if answer.error_code == UNKNOWN_TOPIC_OR_PARTITION else answer


def send(kafka: Kafka, *record: Any) -> Future[RecordMetadata]:
    """Topic, value, key, partition, timestamp, headers, as the producer takes them; without waiting."""
    try:
        future = kafka.producer.send_nowait(*record)
        if future.done() and isinstance(future.exception(), FatalError):
            future = kafka.replace_producer().send_nowait(*record)
        return future
    except RetriableError:  # the buffer is full: wait for room
        return ensure_future(kafka.producer.send(*record))
