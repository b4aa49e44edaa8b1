"""Clients of a cluster under test that note all that they see, each on a thread of its own."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition

from tests.faults.group_view import committed_offsets
from tests.faults.history import (
    Anomaly,
    Log,
    Outcome,
    Read,
    Transaction,
    find_in_offsets,
    find_in_reader,
    find_unread,
)
from tests.faults.load import PATIENCE_SECONDS, PATIENT_CLIENT, decode_number, encode_number
from tests.faults.members import Member, MemberKind, Members
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

TRANSACTION_TIMEOUT_MS = 30_000
CALL_SECONDS = 60.0
CHANCE_OF_COMMIT = 0.6
RECORDS_PER_TRANSACTION = 6
PAUSE_SECONDS = 0.1
LOOK_SECONDS = 0.5
LONGEST_LOOK_SECONDS = 1.0
PASSING = frozenset(
    {
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._TIMED_OUT,
        KafkaError._PARTITION_EOF,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
    }
)


class Running:
    """Something that goes on until it is told to stop."""

    def __init__(self, name: str) -> None:
        self.stopping = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run_noting, name=name)

    def run(self) -> None:
        raise NotImplementedError

    def _run_noting(self) -> None:
        try:
            self.run()
        except BaseException as failure:
            self._failure = failure

    def require_alive(self) -> None:
        if self._failure is not None:
            raise self._failure

    def finish(self) -> None:
        self.stopping.set()
        self._thread.join()
        self.require_alive()

    def __enter__(self) -> Any:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._thread.join()


class Transactor(Running):
    """Writes numbered records in transactions, of which it aborts some, and notes what became of each."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, seed: int) -> None:
        super().__init__(f"transactor-{topic}")
        self.topic = topic
        self.transactions: list[Transaction] = []
        self.outcomes = dict.fromkeys(Outcome, 0)
        self._chance = random.Random(seed)
        self._numbers = [itertools.count() for _ in range(partitions)]
        self._settings: dict[str, Any] = {
            **PATIENT_CLIENT,
            "bootstrap.servers": bootstrap,
            "transactional.id": f"transactor-{topic}",
            "transaction.timeout.ms": TRANSACTION_TIMEOUT_MS,
            "message.timeout.ms": TRANSACTION_TIMEOUT_MS,
            "metadata.recovery.strategy": "none",
        }

    def run(self) -> None:
        producer = self._new_producer()
        while not self.stopping.wait(PAUSE_SECONDS):
            numbers = self._draw()
            outcome, is_usable = self._transact(producer, numbers)
            self.transactions.append(Transaction(outcome, numbers))
            self.outcomes[outcome] += 1
            if not is_usable:
                producer = self._new_producer()

    def _new_producer(self) -> Producer:
        """What its predecessor left open is aborted then."""
        while True:
            producer = Producer(self._settings)
            try:
                producer.init_transactions(CALL_SECONDS)
            except KafkaException:
                if self.stopping.is_set():
                    raise
            else:
                return producer

    def _draw(self) -> tuple[tuple[int, int], ...]:
        partitions = self._chance.choices(range(len(self._numbers)), k=RECORDS_PER_TRANSACTION)
        return tuple((partition, next(self._numbers[partition])) for partition in partitions)

    def _transact(self, producer: Producer, numbers: Iterable[tuple[int, int]]) -> tuple[Outcome, bool]:
        """What became of it, and whether the producer can go on."""
        asked_to_commit = False
        try:
            producer.begin_transaction()
            for partition, number in numbers:
                producer.produce(self.topic, encode_number(number), partition=partition)
            producer.flush(CALL_SECONDS)
            if self._chance.random() < CHANCE_OF_COMMIT:
                asked_to_commit = True
                self._until_answered(lambda: producer.commit_transaction(CALL_SECONDS))
                return Outcome.COMMITTED, True
            self._until_answered(lambda: producer.abort_transaction(CALL_SECONDS))
        except KafkaException as failure:
            return self._recover(producer, failure, asked_to_commit=asked_to_commit)
        return Outcome.ABORTED, True

    def _until_answered(self, call: Any) -> None:
        while True:
            try:
                call()
                return
            except KafkaException as failure:
                if not failure.args[0].retriable():
                    raise

    def _recover(
        self, producer: Producer, failure: KafkaException, *, asked_to_commit: bool
    ) -> tuple[Outcome, bool]:
        if failure.args[0].txn_requires_abort():
            try:
                self._until_answered(lambda: producer.abort_transaction(CALL_SECONDS))
            except KafkaException:
                pass
            else:
                return Outcome.ABORTED, True
        return Outcome.UNKNOWN if asked_to_commit else Outcome.ABORTED, False


class Reader(Running):
    """Reads all partitions of a topic from their start on, without a group: nothing ever gives it another position."""

    def __init__(self, bootstrap: str, topic: str, partitions: int, isolation_level: str) -> None:
        super().__init__(f"reader-{topic}-{isolation_level}")
        self.name = f"reader of {topic}, {isolation_level}"
        self.steps: list[Read] = []
        self.complaints: list[str] = []
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "unused",
                "isolation.level": isolation_level,
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "fetch.wait.max.ms": 200,
                "socket.timeout.ms": 2_000,
                "reconnect.backoff.max.ms": 500,
                "log_level": 0,
            }
        )
        self._consumer.assign([TopicPartition(topic, partition, 0) for partition in range(partitions)])

    def run(self) -> None:
        try:
            while not self.stopping.is_set():
                for message in self._consumer.consume(1000, 0.2):
                    if (error := message.error()) is None:
                        number = decode_number(message.value() or b"")
                        self.steps.append(Read(message.partition() or 0, message.offset() or 0, number))
                    elif error.code() not in PASSING:
                        self.complaints.append(str(error))
        finally:
            self._consumer.close()

    def wait_until_read(self, logs: Mapping[int, Log]) -> None:
        """All of it."""
        wanted = sum(map(len, logs.values()))
        wait_for(
            lambda: len(self.steps) >= wanted or self.complaints,
            PATIENCE_SECONDS,
            lambda: f"{self.name} to read {wanted} records, not {len(self.steps)}",
            interval=0.1,
        )

    def find(self, logs: Mapping[int, Log]) -> list[Anomaly]:
        told = [Anomaly("poll that fails", f"{self.name}: {complaint}") for complaint in self.complaints]
        return [
            *told,
            *find_in_reader(self.name, logs, self.steps),
            *find_unread(logs, [self.steps], lambda _: 1 << 62),
        ]


class Group:
    """Members that only read, of one group; one that gives up is replaced."""

    def __init__(
        self, name: str, kinds: Iterable[MemberKind], bootstrap: str, topic: str, directory: Path
    ) -> None:
        self.name = name
        self.kinds = list(kinds)
        self.members = Members(directory, bootstrap, name, topic)
        self.present: list[Member] = []
        self.gave_up = 0

    def keep_up(self) -> None:
        for place, member in enumerate(self.present):
            if not member.process.alive:
                self.gave_up += 1
                self.present[place] = self.members.start(self.kinds[place])

    def leave(self) -> None:
        for member in self.present:
            member.ask_to_leave()
        for member in self.present:
            member.wait_left()

    def complaint(self) -> str:
        return f"{self.name}: {self.gave_up} gave up\n" + "\n".join(one.complaint() for one in self.present)

    def find(self, logs: Mapping[int, Log]) -> list[Anomaly]:
        """When all is read."""
        found = [
            anomaly
            for member in self.members.started
            for anomaly in find_in_reader(f"{self.name}, {member.name}", logs, member.steps())
        ]
        steps = (member.steps() for member in self.members.started)
        return found + find_unread(logs, steps, lambda _: 1 << 62)

    def __enter__(self) -> Group:
        self.present = [self.members.start(kind) for kind in self.kinds]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.members.__exit__(kind, error, traceback)


class OffsetWatch(Running):
    """Asks each broker for what groups have committed: one that is cut off may tell old offsets, but none goes back."""

    def __init__(self, bootstrap: str, groups: Iterable[str], topic: str, partitions: int) -> None:
        super().__init__("offset-watch")
        self.addresses = bootstrap.split(",")
        self.groups = list(groups)
        self.asked = (topic, partitions)
        self.looks: dict[tuple[str, str], list[list[int]]] = {
            (group, address): [] for group in self.groups for address in self.addresses
        }

    def run(self) -> None:
        while not self.stopping.wait(LOOK_SECONDS):
            for address in self.addresses:
                self._look_at(address)

    def _look_at(self, address: str) -> None:
        try:
            with WireClient(address, timeout=LONGEST_LOOK_SECONDS) as client:
                for group in self.groups:
                    if (offsets := committed_offsets(client, group, *self.asked)) is not None:
                        self.looks[group, address].append(offsets)
        except OSError:
            return  # it is away

    def committed(self, group: str) -> list[int] | None:
        """The furthest of any broker's last words."""
        latest = [looks[-1] for (name, _), looks in self.looks.items() if name == group and looks]
        return [max(each) for each in zip(*latest, strict=True)] if latest else None

    def find(self) -> list[Anomaly]:
        return [
            anomaly
            for (group, address), looks in self.looks.items()
            for anomaly in find_in_offsets(f"{group} at {address}", looks)
        ]
