"""What goes wrong while a consumer polls: what to raise, what to log, and what is no error at all.

Nothing is raised on the spot, since records may be on their way out: it is kept until they are safe.
"""

import logging
from collections import deque
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from penstock.client.consumer.state import Finding, WaitsFor
from penstock.client.librdkafka import BrokerTroubles, Message, NativeError, client_error
from penstock.types import TopicPartition
from penstock.wire_client.errors import AuthenticationError, FatalError, RetriableError

logger = logging.getLogger("penstock.client")

P = ParamSpec("P")
T = TypeVar("T")

_END_OF_PARTITION = "_PARTITION_EOF"
_COORDINATOR = "GroupCoordinator: "
"""The connection to the broker that is the coordinator; the broker's own says the same."""
_MISSING_TOPIC = {"UNKNOWN_TOPIC_OR_PART", "_UNKNOWN_TOPIC", "_UNKNOWN_PARTITION"}


class ConsumerErrors:
    def __init__(self, troubles: BrokerTroubles) -> None:
        self._troubles = troubles
        self._to_raise: deque[BaseException] = deque()
        self.ends: dict[TopicPartition, int] = {}
        """Where the end of a partition was met."""
        self.on_finding: Callable[[Finding], object] = lambda finding: None

    def keep(self, error: BaseException) -> None:
        self._to_raise.append(error)

    @property
    def are_kept(self) -> bool:
        return bool(self._to_raise)

    def raise_kept(self) -> None:
        """The first of those that were kept; the next call raises the next."""
        if self._to_raise:
            raise self._to_raise.popleft()

    def kept_from(self, function: Callable[P, T]) -> Callable[P, T | None]:
        """The same function, for librdkafka to call: what it raises is kept."""

        def call(*arguments: P.args, **keywords: P.kwargs) -> T | None:
            try:
                return function(*arguments, **keywords)
            except BaseException as error:
                self.keep(error)
                return None

        return call

    def on_error(self, error: NativeError) -> None:
        """librdkafka's `error_cb`."""
        if not error.str().startswith(_COORDINATOR):
            self._troubles.on_error(error)
        made = client_error(error, "", self._troubles)
        if isinstance(made, AuthenticationError | FatalError):
            self.keep(made)

    def sort_out(self, messages: list[Message]) -> list[Message]:
        """The messages that are records; the others are dealt with."""
        records = []
        for message in messages:
            error = message.error()
            if error is None:
                records.append(message)
            else:
                self._on_message(message, error)
        return records

    def _on_message(self, message: Message, error: NativeError) -> None:
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        if error.name() == _END_OF_PARTITION and topic is not None and partition is not None:
            self.ends[TopicPartition(topic, partition)] = offset or 0
        elif error.name() in _MISSING_TOPIC:
            self.on_finding(Finding(WaitsFor.TOPIC, f"topic {topic} does not exist"))
        else:
            self._on_other(f"{topic}-{partition}" if topic and partition is not None else "", error)

    def _on_other(self, where: str, error: NativeError) -> None:
        made = client_error(error, where, self._troubles)
        if isinstance(made, RetriableError):
            logger.warning("%s", made.message)
        else:
            self.keep(made)
