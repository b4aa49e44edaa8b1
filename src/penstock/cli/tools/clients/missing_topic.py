"""A topic that is not there yet when a consumer wants it.

Kafka's consumer asks for it again and again, which also has it created where the broker does so. librdkafka says once
that there is no such topic and looks again in its own time; asked for the one topic, it has it created, too, and goes
on at once.
"""

from __future__ import annotations

import time

from penstock.cli.tools.clients.client_events import ClientEvents
from penstock.client.librdkafka import Consumer, KafkaException

ASK_SECONDS = 1.0


class MissingTopic:
    def __init__(self, topic: str | None, events: ClientEvents) -> None:
        self._topic = topic
        self._events = events
        self._ask_at = 0.0

    def maybe_ask(self, consumer: Consumer) -> None:
        """To be called when there is nothing else to do."""
        if self._topic is None or not self._events.misses_topic or time.monotonic() < self._ask_at:
            return
        self._ask_at = time.monotonic() + ASK_SECONDS
        try:
            known = consumer.list_topics(self._topic, timeout=ASK_SECONDS).topics[self._topic]
        except KafkaException:
            return
        self._events.misses_topic = known.error is not None
