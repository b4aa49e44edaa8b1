"""librdkafka's errors as the suite's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from confluent_kafka import KafkaError, KafkaException

from tests.foreign_clients.drivers.model import (
    OFFSET_OUT_OF_RANGE,
    PRODUCER_FENCED,
    UNKNOWN_TOPIC_OR_PARTITION,
    ClientError,
)

TIMEOUT_SECONDS = 30.0
LOCAL_CODES = {
    KafkaError._UNKNOWN_TOPIC: UNKNOWN_TOPIC_OR_PARTITION,
    KafkaError._UNKNOWN_PARTITION: UNKNOWN_TOPIC_OR_PARTITION,
    KafkaError._AUTO_OFFSET_RESET: OFFSET_OUT_OF_RANGE,
    KafkaError._FENCED: PRODUCER_FENCED,
}


def raised(error: KafkaError) -> ClientError:
    return ClientError(LOCAL_CODES.get(error.code(), error.code()), str(error))


@contextmanager
def translated() -> Iterator[None]:
    try:
        yield
    except KafkaException as failure:
        raise raised(failure.args[0]) from failure


def only(futures: Mapping[Any, Any]) -> Any:
    """The result of the one thing that was asked."""
    [future] = futures.values()
    with translated():
        return future.result(TIMEOUT_SECONDS)
