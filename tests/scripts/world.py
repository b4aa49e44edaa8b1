"""A deterministic shell around one machine: its log is a list, its time is a number, its replies are noted.

It keeps the promises of `penstock.machine`: records are written, then replayed, then timers are set, then replies and
effects go out. What is written goes through its bytes, so that the log is what a broker would have on disk.
`reload` forgets the machine and builds a new one from that log, as a restart does.
"""

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

from penstock.controller.image import ClusterImage, TopicImage
from penstock.errors import ApiError
from penstock.machine import Machine, Outcome, Producer, RecordContext, Ticket, TimerKey
from penstock.replica.replica_set import ReplicaSet
from penstock.wire.schema import StoredMessage
from penstock.wire.stored_records import decode_key, decode_value, encode_key, encode_value

MachineT = TypeVar("MachineT", bound=Machine)
START_MS = 1_000_000


class LoggedRecord(NamedTuple):
    key: bytes
    value: bytes | None
    context: RecordContext


class LoggedMarker(NamedTuple):
    producer: Producer
    is_commit: bool


class Asked(Ticket):
    """A request that was put to the machine, and what came of it."""

    __slots__ = ("answer", "label")

    def __init__(self, label: str) -> None:
        self.label = label
        self.answer: Any = None
        """The response, or the ApiError that refused the request; None as long as it waits."""

    def __repr__(self) -> str:
        return f"<{self.label}>"


class Observer:
    """Is told what happens, in order; by default it does not care."""

    def on_write(
        self, key: StoredMessage, value: StoredMessage | None, producer: Producer | None
    ) -> None: ...

    def on_timer_set(self, key: TimerKey, delay_ms: int | None) -> None: ...

    def on_timer_due(self, key: TimerKey) -> None: ...

    def on_answer(self, asked: Asked) -> None: ...

    def on_effect(self, effect: Any) -> None: ...


class World(Generic[MachineT]):
    def __init__(
        self, make_machine: Callable[["World[MachineT]"], MachineT], observer: Observer | None = None
    ) -> None:
        self._make_machine = make_machine
        self.observer = observer or Observer()
        self.image = ClusterImage(cluster_id="cluster")
        self.now_ms = START_MS
        self.log: list[LoggedRecord | LoggedMarker] = []
        self.timers: dict[TimerKey, int] = {}
        self.refuse_writes: ApiError | None = None
        """While given, every write fails with it."""
        self._ids = self._topics = 0
        self.machine = make_machine(self)
        self.carry_out(self.machine.on_loaded(self.now_ms))

    def new_id(self) -> str:
        self._ids += 1
        return f"id-{self._ids}"

    # asking

    def ask(self, label: str, handle: Callable[[MachineT, Ticket, int], Outcome]) -> Asked:
        asked = Asked(label)
        try:
            outcome = handle(self.machine, asked, self.now_ms)
        except ApiError as error:
            self._answer(asked, error)
        else:
            self.carry_out(outcome)
        return asked

    def carry_out(self, outcome: Outcome) -> None:
        if outcome.records and self.refuse_writes is not None:
            self._refuse(outcome, self.refuse_writes)
            return
        for key, value, version in outcome.records:
            self._write(key, value, version, outcome.producer)
        for timer_key, delay_ms in outcome.timers:
            self._set_timer(timer_key, delay_ms)
        for ticket, response in outcome.replies:
            assert isinstance(ticket, Asked)
            self._answer(ticket, response)
        for effect in outcome.effects:
            self.observer.on_effect(effect)

    def _refuse(self, outcome: Outcome, error: ApiError) -> None:
        for ticket, _ in outcome.replies:
            assert isinstance(ticket, Asked)
            self._answer(ticket, error)
        if outcome.on_refused is not None:
            self.refuse_writes = None
            self.carry_out(outcome.on_refused(error.code))

    def _answer(self, asked: Asked, answer: Any) -> None:
        assert asked.answer is None, f"{asked} is answered twice: {asked.answer}, {answer}"
        asked.answer = answer
        self.observer.on_answer(asked)

    def _write(
        self, key: StoredMessage, value: StoredMessage | None, version: int, producer: Producer | None
    ) -> None:
        encoded = None if value is None else encode_value(value, version)
        context = RecordContext(len(self.log), self.now_ms, producer)
        self.log.append(LoggedRecord(encode_key(key), encoded, context))
        self.observer.on_write(key, value, producer)
        self.machine.replay(key, value, context)

    def end_transaction(self, producer: Producer, *, is_commit: bool) -> None:
        """A marker arrives in the machine's partition."""
        self.log.append(LoggedMarker(producer, is_commit))
        self.machine.replay_end_transaction(producer, is_commit=is_commit)

    # time

    def _set_timer(self, key: TimerKey, delay_ms: int | None) -> None:
        self.observer.on_timer_set(key, delay_ms)
        self.timers.pop(key, None)
        if delay_ms is not None:
            self.timers[key] = self.now_ms + delay_ms

    def advance(self, duration_ms: int) -> None:
        """Lets time pass; timers fire in their order."""
        end_ms = self.now_ms + duration_ms
        while self.timers:
            key = min(self.timers, key=lambda one: (self.timers[one], str(one)))
            if self.timers[key] > end_ms:
                break
            self.now_ms = max(self.now_ms, self.timers.pop(key))
            self.observer.on_timer_due(key)
            self.carry_out(self.machine.on_timer(key, self.now_ms))
        self.now_ms = end_ms

    # the cluster

    def put_topic(self, name: str, partitions: int) -> None:
        """Creates a topic, or lets it grow."""
        known = self.image.topics.get(name)
        if known is None:
            self._topics += 1
        topic_id = known.topic_id if known else self._topics.to_bytes(16)
        sets = {index: ReplicaSet((0,), (0,), 0, 0) for index in range(partitions)}
        self.image.put_topic(TopicImage(name, topic_id, sets), {})
        self.carry_out(self.machine.on_topics_changed(frozenset({name}), self.now_ms))

    def remove_topic(self, name: str) -> None:
        self.image.remove_topic(name)
        self.carry_out(self.machine.on_topics_changed(frozenset({name}), self.now_ms))

    # restarts

    def replayed(self) -> MachineT:
        """A new machine with what the log says."""
        machine = self._make_machine(self)
        types = machine.RECORD_TYPES
        for entry in self.log:
            if isinstance(entry, LoggedMarker):
                machine.replay_end_transaction(entry.producer, is_commit=entry.is_commit)
                continue
            key = decode_key(types, entry.key)
            assert key is not None
            value = None if entry.value is None else decode_value(types, key.RECORD_TYPE, entry.value)
            machine.replay(key, value, entry.context)
        return machine

    def reload(self) -> None:
        """A restart: soft state, timers and whoever waits are gone."""
        self.timers.clear()
        self.machine = self.replayed()
        self.carry_out(self.machine.on_loaded(self.now_ms))
