"""The one door to librdkafka: its classes, its errors as ours, its log as Python's.

librdkafka says what is wrong with a broker in a line of text, to its error callback, and later fails what waited for
that broker with a bare "timed out". `BrokerTroubles` keeps the lines, so that the error which the user gets can name
the address that does not answer, and tell an address that a broker advertised from one that was configured.
"""

import logging
import re
import time
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from confluent_kafka import (
    OFFSET_BEGINNING,
    OFFSET_END,
    OFFSET_INVALID,
    OFFSET_STORED,
    TIMESTAMP_CREATE_TIME,
    TIMESTAMP_LOG_APPEND_TIME,
    TIMESTAMP_NOT_AVAILABLE,
    Consumer,
    KafkaException,
    Message,
    Producer,
)
from confluent_kafka import KafkaError as NativeError
from confluent_kafka import TopicPartition as NativeTopicPartition

from penstock.client.advice import ADVICE, LOCAL_ERRORS, LocalError
from penstock.client.config.translate import NativeConfig
from penstock.errors import ConfigError
from penstock.wire_client.errors import (
    IS_IT_RUNNING,
    FatalError,
    KafkaError,
    RetriableError,
    TransactionAbortableError,
    error_for,
    known_code,
)

__all__ = [
    "OFFSET_BEGINNING",
    "OFFSET_END",
    "OFFSET_INVALID",
    "OFFSET_STORED",
    "TIMESTAMP_CREATE_TIME",
    "TIMESTAMP_LOG_APPEND_TIME",
    "TIMESTAMP_NOT_AVAILABLE",
    "BrokerTroubles",
    "Consumer",
    "KafkaException",
    "Message",
    "NativeDelivery",
    "NativeError",
    "NativeTopicPartition",
    "Producer",
    "client_error",
    "config_error",
    "error_of",
    "is_purge",
    "with_diagnostics",
]

NativeDelivery: TypeAlias = Callable[[NativeError | None, Message], object]

logger = logging.getLogger("penstock.client")
native_logger = logging.getLogger("penstock.client.librdkafka")


def error_of(exception: KafkaException) -> NativeError:
    """The error that librdkafka's exception carries."""
    error: NativeError = exception.args[0]
    return error


# --- errors


def client_error(
    error: NativeError, what: str = "", troubles: "BrokerTroubles | None" = None, own_advice: str = ""
) -> KafkaError:
    """Our error for one of librdkafka's: "<what failed>: <why>; <which broker does not answer>; <what to do>"."""
    facts = LOCAL_ERRORS.get(error.name())
    made = _error_without_flags(error, facts)
    cls = _class_by_flags(error, facts) or type(made)
    trouble = troubles.explain() if troubles is not None and facts is not None and facts.of_brokers else ""
    advice = own_advice or (ADVICE.get(known_code(error.code()), "") if facts is None else facts.advice)
    reason = _PREFIX.sub("", error.str()).rstrip(".") or made.message
    said = "; ".join(part for part in (reason, trouble or advice) if part)
    return cls(f"{what}: {said}" if what else said, made.code)


_PREFIX = re.compile(r"^Unable to produce message: |\b(?:Local|Broker): ")


def is_purge(error: NativeError) -> bool:
    """Whether a record was dropped with its transaction, or at the end, as the application wanted."""
    return error.code() in (NativeError._PURGE_QUEUE, NativeError._PURGE_INFLIGHT)


def _error_without_flags(error: NativeError, facts: LocalError | None) -> KafkaError:
    if facts is not None:
        return facts.kind(error.str(), facts.code)
    return error_for(error.code()) if error.code() >= 0 else KafkaError(error.str())


def _class_by_flags(error: NativeError, facts: LocalError | None) -> type[KafkaError] | None:
    if error.fatal():
        return FatalError
    if error.txn_requires_abort():
        return TransactionAbortableError
    return RetriableError if error.retriable() and error.code() < 0 and facts is None else None


def config_error(exception: KafkaException) -> ConfigError:
    """What librdkafka has against a setting when a client is made."""
    return ConfigError(error_of(exception).str())


# --- brokers that do not answer

_BROKER_LINE = re.compile(r"(?P<address>\S+:\d+)/(?P<node>bootstrap|\d+): (?P<reason>.*?)(?: \(after .*)?$")
_CONNECT_TO = re.compile(r"^Connect to \S+ failed: ")
"""A host of two addresses, as localhost is, would be news each time that the other one is tried."""
_STATE_NOTE = re.compile(
    r" \((?:after \d+ms in state|_)[^)]*\)(?:, \d+ identical error\(s\) suppressed)?|: \(errno:.*"
)


class _Trouble(NamedTuple):
    address: str
    node: str
    reason: str
    seen_at: float

    def __str__(self) -> str:
        if self.node == "bootstrap":
            said = f"{self.address} (of bootstrap.servers) cannot be reached: {self.reason}"
            return f"{said}; {IS_IT_RUNNING}"
        return (
            f"broker {self.node} advertises itself as {self.address}, which cannot be reached: {self.reason}; "
            "its advertised.listeners must name an address that works from here"
        )


class BrokerTroubles:
    """Why brokers cannot be reached, as librdkafka's error callback tells; each new trouble is logged once a minute."""

    RELEVANT_SECONDS = 60.0

    def __init__(self) -> None:
        self._troubles: dict[str, _Trouble] = {}
        self.last_error: NativeError | None = None

    def on_error(self, error: NativeError) -> None:
        """librdkafka's `error_cb`."""
        self.last_error = error
        if error.fatal():
            logger.error("%s", error.str())
            return
        match = _BROKER_LINE.search(error.str())
        if match is not None:
            reason = _CONNECT_TO.sub("", match["reason"])
            self._note(_Trouble(match["address"], match["node"], reason, time.monotonic()))
        elif error.name() != "_ALL_BROKERS_DOWN":
            logger.warning("%s", error.str())

    def _note(self, trouble: _Trouble) -> None:
        known = self._troubles.get(trouble.address)
        if known is None or known.reason != trouble.reason or not self._is_recent(known, trouble.seen_at):
            logger.warning("%s", trouble)
            self._troubles[trouble.address] = trouble

    def _is_recent(self, trouble: _Trouble, now: float) -> bool:
        return now - trouble.seen_at < self.RELEVANT_SECONDS

    def explain(self) -> str:
        """Which broker cannot be reached, and why; empty if none is known. A broker's own address goes first."""
        now = time.monotonic()
        recent = [trouble for trouble in self._troubles.values() if self._is_recent(trouble, now)]
        advertised = [trouble for trouble in recent if trouble.node != "bootstrap"]
        return "; ".join(map(str, advertised or recent))


class _WithoutBrokerLines(logging.Filter):
    """`BrokerTroubles` logs these itself, in better words and not ten times a second."""

    FACILITIES = frozenset({"FAIL", "ERROR"})

    def filter(self, record: logging.LogRecord) -> bool:
        arguments = record.args
        return not (isinstance(arguments, tuple) and arguments and arguments[0] in self.FACILITIES)


native_logger.addFilter(_WithoutBrokerLines())


def with_diagnostics(config: NativeConfig, troubles: BrokerTroubles) -> NativeConfig:
    """The config of a client whose errors go to `troubles`, and whose log goes to Python's."""
    return {**config, "error_cb": troubles.on_error, "logger": native_logger}
