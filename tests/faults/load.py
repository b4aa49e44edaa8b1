"""Producers that keep writing numbered records, whatever happens to the broker, and note what was acknowledged.

One producer writes to every partition of one topic. The value of a record is its number within its partition,
so that reading a partition shows at once what is missing, what came twice and what is out of place.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from confluent_kafka import Consumer, KafkaError, Message, Producer, TopicPartition

from tests.faults.history import Acknowledged, Log, Stored, find_in_writes, require_none
from tests.support.processes import wait_for

PATIENCE_SECONDS = 120.0
MOST_IN_FLIGHT = 500
RECORDS_PER_BURST = 50
PAUSE_SECONDS = 0.005
PADDING = b"." * 400
"""So that segments fill up and are rolled while the load runs."""

PATIENT_CLIENT = {
    "message.timeout.ms": 300_000,
    "socket.timeout.ms": 10_000,
    "reconnect.backoff.ms": 20,
    "reconnect.backoff.max.ms": 200,
    "retry.backoff.ms": 20,
    "linger.ms": 1,
    "log_level": 0,
}


def encode_number(number: int) -> bytes:
    return b"%d " % number + PADDING


def decode_number(value: bytes) -> int:
    return int(value.split(b" ", 1)[0])


class Load:
    """Runs on a thread of its own from `start` to `finish`."""

    def __init__(
        self,
        bootstrap: str,
        topic: str,
        partitions: int,
        *,
        idempotent: bool,
        in_order: bool = True,
        pause_seconds: float = PAUSE_SECONDS,
        settings: Mapping[str, Any] | None = None,
    ) -> None:
        self.topic = topic
        self.pause_seconds = pause_seconds
        self.partitions = partitions
        self.idempotent = idempotent
        self.in_order = in_order
        """librdkafka, not idempotent, sends new records to a new leader before those that it has to send once more."""
        self.acknowledged: list[list[int]] = [[] for _ in range(partitions)]
        self.offsets: list[list[int | None]] = [[] for _ in range(partitions)]
        """Where each of those is, as the answer told it."""
        self.failures: list[str] = []
        self._sent = [0] * partitions
        self.begin_to_measure()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"load-{topic}")
        chosen: dict[str, Any] = {
            **PATIENT_CLIENT,
            **(settings or {}),
            "bootstrap.servers": bootstrap,
            "acks": "all",
            "enable.idempotence": idempotent,
            "on_delivery": self._on_delivery,
            "error_cb": self._on_error,
        }
        if not idempotent:
            chosen["max.in.flight.requests.per.connection"] = 1
        self._producer = Producer(chosen)

    @property
    def acknowledged_count(self) -> int:
        return sum(map(len, self.acknowledged))

    def wait_for_progress(self, count: int = 1) -> None:
        """Until this many more records are acknowledged."""
        target = self.acknowledged_count + count
        wait_for(
            lambda: self.acknowledged_count >= target or self.failures,
            PATIENCE_SECONDS,
            lambda: f"{target - self.acknowledged_count} more acknowledgements in {self.topic}",
        )
        assert not self.failures, self.failures[:3]

    def wait_for_progress_everywhere(self) -> None:
        """Until a record that is sent from now on is acknowledged in each partition."""
        targets = list(self._sent)
        wait_for(
            lambda: self.failures or all(map(self._has_acknowledged, range(self.partitions), targets)),
            PATIENCE_SECONDS,
            lambda: (
                f"acknowledgements in {self.topic}: {[numbers[-1:] for numbers in self.acknowledged]} of {targets}"
            ),
        )
        assert not self.failures, self.failures[:3]

    def begin_to_measure(self) -> None:
        """From now on, how long a partition is without an acknowledgement."""
        self._acknowledged_at = [time.monotonic()] * self.partitions
        self._longest_silences = [0.0] * self.partitions

    def longest_silence_seconds(self) -> float:
        """In any partition, since it was begun to measure, up to the latest acknowledgement there."""
        return max(self._longest_silences)

    def _has_acknowledged(self, partition: int, number: int) -> bool:
        numbers = self.acknowledged[partition]
        return bool(numbers) and numbers[-1] >= number

    # sending

    def _run(self) -> None:
        """Sends in small bursts: many requests matter here, not many records."""
        while not self._stopping.is_set():
            if len(self._producer) < MOST_IN_FLIGHT:
                for number in range(RECORDS_PER_BURST):
                    self._send(number % self.partitions)
            self._producer.poll(0)
            self._stopping.wait(self.pause_seconds)

    def _send(self, partition: int) -> None:
        number = self._sent[partition]
        self._sent[partition] += 1
        self._producer.produce(self.topic, encode_number(number), partition=partition)

    def _on_delivery(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self.failures.append(f"{self.topic}: {error}")
            return
        partition, value = message.partition(), message.value()
        assert partition is not None
        assert value is not None
        now = time.monotonic()
        silence = now - self._acknowledged_at[partition]
        self._longest_silences[partition] = max(self._longest_silences[partition], silence)
        self._acknowledged_at[partition] = now
        offset = message.offset()
        self.offsets[partition].append(offset if offset is not None and offset >= 0 else None)
        self.acknowledged[partition].append(decode_number(value))

    def _on_error(self, error: KafkaError) -> None:
        if error.fatal():
            self.failures.append(f"{self.topic}: fatal: {error}")

    # the end

    def start(self) -> None:
        self._thread.start()

    def finish(self) -> None:
        """Stops sending and waits until everything sent is answered."""
        self._stopping.set()
        self._thread.join()
        assert self._producer.flush(PATIENCE_SECONDS) == 0, "records without an answer"
        assert not self.failures, self.failures[:3]

    def __enter__(self) -> Load:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._stopping.set()
        self._thread.join()

    def check(self, bootstrap: str) -> None:
        """Reads everything back and compares it with what was acknowledged."""
        for partition in range(self.partitions):
            self.check_partition(partition, read_log(bootstrap, self.topic, partition))

    def check_partition(self, partition: int, log: Log) -> None:
        """Nobody else has written to it."""
        assert [stored.offset for stored in log] == list(range(len(log))), "offsets are missing"
        told = list(map(Acknowledged, self.acknowledged[partition], self.offsets[partition]))
        require_none(
            find_in_writes(log, told, self._sent[partition], once=self.idempotent, in_order=self.in_order)
        )


def read_log(
    bootstrap: str, topic: str, partition: int, isolation_level: str = "read_uncommitted"
) -> list[Stored]:
    """The records in a partition, from its first to its last."""
    settings = {
        "bootstrap.servers": bootstrap,
        "group.id": "unused",
        "isolation.level": isolation_level,
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "log_level": 0,
    }
    consumer = Consumer(settings)
    log: list[Stored] = []
    try:
        consumer.assign([TopicPartition(topic, partition, 0)])
        while True:
            message = consumer.poll(PATIENCE_SECONDS)
            assert message is not None, f"neither a record nor the end after {len(log)} records"
            if (error := message.error()) is not None:
                assert error.code() == KafkaError._PARTITION_EOF, error
                return log
            log.append(Stored(message.offset() or 0, decode_number(message.value() or b"")))
    finally:
        consumer.close()


def read_numbers(
    bootstrap: str, topic: str, partition: int, isolation_level: str = "read_uncommitted"
) -> list[int]:
    return [stored.number for stored in read_log(bootstrap, topic, partition, isolation_level)]
