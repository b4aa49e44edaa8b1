"""A producer that goes on while a broker is killed: when each of its records was sent, and when it was acknowledged."""

from __future__ import annotations

import threading
import time
from types import TracebackType
from typing import NamedTuple, Self

from confluent_kafka import KafkaError, Message, Producer

from tests.support.processes import wait_for

PAUSE_SECONDS = 0.005
PATIENCE_SECONDS = 120.0


class Write(NamedTuple):
    sent: float
    acknowledged: float


class SteadyWriter:
    def __init__(self, bootstrap: str, topic: str) -> None:
        self._producer = Producer(
            {
                "bootstrap.servers": bootstrap,
                "enable.idempotence": True,
                "linger.ms": 0,
                "message.timeout.ms": round(PATIENCE_SECONDS * 1000),
                "log_level": 0,
            }
        )
        self._topic = topic
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._write_for_ever)
        self._lost: list[str] = []
        self.writes: list[Write] = []

    def _write_for_ever(self) -> None:
        while not self._is_over.is_set():
            sent = time.monotonic()

            def on_delivery(error: KafkaError | None, _message: Message, sent: float = sent) -> None:
                if error is None:
                    self.writes.append(Write(sent, time.monotonic()))
                else:
                    self._lost.append(error.str())

            self._producer.produce(self._topic, b"x" * 100, partition=0, on_delivery=on_delivery)
            self._producer.poll(PAUSE_SECONDS)

    def wait_until_acknowledged(self, since: float) -> float:
        """Seconds from then until a record was acknowledged that was sent after it."""

        def found() -> Write | None:
            return next((write for write in reversed(self.writes) if write.sent > since), None)

        wait_for(found, PATIENCE_SECONDS, "a record to be acknowledged")
        return min(write.acknowledged for write in self.writes if write.sent > since) - since

    def __enter__(self) -> Self:
        self._thread.start()
        self.wait_until_acknowledged(0.0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._is_over.set()
        self._thread.join()
        left = self._producer.flush(PATIENCE_SECONDS)
        if error is None and (left or self._lost):
            raise RuntimeError(f"{left + len(self._lost)} records were not acknowledged: {self._lost[:3]}")
