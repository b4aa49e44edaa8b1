"""The wait for a topic that Kafka's producer makes in `send`.

librdkafka takes records of a topic that it does not know yet and fails them later; Kafka's producer waits for the
topic first, for `max.block.ms` at most. Asking for the topic is also what has it created, where the broker does so.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from penstock.cli.tools.clients.client_events import EXCEPTIONS, ClientEvents
from penstock.client.librdkafka import KafkaException, NativeError, Producer, error_of

DEFAULT_MAX_BLOCK_MS = 60_000
ASK_SECONDS = 1.0
TURN_SECONDS = 0.05


class TopicWait:
    def __init__(
        self,
        producer: Producer,
        topic: str,
        configs: Mapping[str, str],
        events: ClientEvents,
        wait_a_turn: Callable[[float], object] | None = None,
    ) -> None:
        self._producer = producer
        self._topic = topic
        self._events = events
        self._wait_a_turn = wait_a_turn or producer.poll
        self.max_block_ms = int(configs.get("max.block.ms", DEFAULT_MAX_BLOCK_MS))
        self.is_over = False

    def problem(self) -> str | None:
        """Waits until the topic is there; else the exception that `send` would end with."""
        deadline = time.monotonic() + self.max_block_ms / 1000
        while not self.is_over and (left := deadline - time.monotonic()) > 0:
            error = self._metadata_error(min(left, ASK_SECONDS))
            self.is_over = error is None
            if error is not None:
                if (final := self._final_problem(error)) is not None:
                    return final
                self._wait_a_turn(TURN_SECONDS)
        return None if self.is_over else self._timed_out()

    def _metadata_error(self, timeout: float) -> NativeError | None:
        try:
            known = self._producer.list_topics(self._topic, timeout=timeout).topics[self._topic]
            found: NativeError | None = known.error
        except KafkaException as error:
            return error_of(error)
        return found

    def _final_problem(self, error: NativeError) -> str | None:
        if self._events.fatal is not None:
            return self._events.fatal
        if error.code() == NativeError.TOPIC_EXCEPTION:
            return f"{EXCEPTIONS}.InvalidTopicException: Invalid topics: [{self._topic}]"
        if error.code() == NativeError.TOPIC_AUTHORIZATION_FAILED:
            return (
                f"{EXCEPTIONS}.TopicAuthorizationException: Not authorized to access topics: [{self._topic}]"
            )
        return None

    def _timed_out(self) -> str:
        waited = f"not present in metadata after {self.max_block_ms} ms."
        return f"{EXCEPTIONS}.TimeoutException: Topic {self._topic} {waited}"
