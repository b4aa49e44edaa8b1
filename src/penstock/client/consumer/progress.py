"""How far a consumer is: which records were handed out, and which of them count as processed.

Nothing tells a consumer that a record was processed, but that the next one is asked for. So offsets move in two steps:
a batch is handed out, all at once by `poll` or one record at a time by iteration; when more is asked for, what was
handed out counts as processed, and only then may its offsets be committed. Whoever dies in the middle finds the batch,
or the record, again.

Whoever iterates does not tell of each record: it goes through a list, a turn, and how far it is can be seen at its
iterator. What changes the rest of a turn in the middle takes that rest away, which ends the turn; then the next begins.

After each batch librdkafka is asked for its positions, which costs nothing per record; they stay in librdkafka's own
objects until somebody wants to know them. Only with many more partitions than records is it cheaper to look at the
records themselves.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from operator import length_hint

from penstock.client.librdkafka import Consumer, Message, NativeTopicPartition
from penstock.types import TopicPartition

Offsets = dict[TopicPartition, NativeTopicPartition]
Turn = tuple[Iterator[Message], list[Message]]
"""A message counts as handed out when this iterator has returned it; what is done with the list does not count."""

FEW_PARTITIONS = 100


class Progress:
    def __init__(self, native: Consumer) -> None:
        self._native = native
        self._assigned: Offsets = {}
        self._positions_wanted: list[NativeTopicPartition] = []
        self._processed_before: Offsets = {}
        self._processed_last: list[NativeTopicPartition] = []
        self._after_batch: list[NativeTopicPartition] = []
        self._batch: list[Message] = []
        self._asked: dict[TopicPartition, int] = {}
        self._one_by_one = False
        self._asked_on_from = 0
        self._pending: deque[Message] = deque()
        self._turn: list[Message] = []
        self._turn_iterator: Iterator[Message] = iter(())

    # partitions

    @property
    def assigned(self) -> list[TopicPartition]:
        return list(self._assigned)

    def is_assigned(self, partition: TopicPartition) -> bool:
        return partition in self._assigned

    def add(self, partitions: Iterable[TopicPartition]) -> None:
        for partition in partitions:
            self._assigned[partition] = NativeTopicPartition(*partition)
        self._positions_wanted = list(self._assigned.values())

    def remove(self, partitions: Iterable[TopicPartition]) -> None:
        for partition in set(partitions):
            self._forget(partition)
            self._assigned.pop(partition, None)
            self._asked.pop(partition, None)
        self._positions_wanted = list(self._assigned.values())

    def move_to(self, partition: TopicPartition, offset: int) -> None:
        """A `seek`: what was fetched of the partition is of no interest any more."""
        self._forget(partition)
        self._processed_before[partition] = NativeTopicPartition(*partition, offset)

    def _forget(self, partition: TopicPartition) -> None:
        self._processed_before = self._processed()
        self._processed_before.pop(partition, None)
        self._processed_last = []
        self._after_batch = [each for each in self._after_batch if _key(each) != partition]
        self._asked_on_from = len(_others(self._batch[: self._asked_on_from], partition))
        self._batch = _others(self._batch, partition)
        self._set_pending(_others(self.pending, partition))

    def drop_pending(self, partition: TopicPartition) -> None:
        """What was fetched of the partition, but not handed out, will be fetched again."""
        handed_out = self._batch[: self._handed_out_count()]
        self._set_pending(_others(self.pending, partition))
        self._batch = [*handed_out, *self.pending]
        self._after_batch = [each for each in self._after_batch if _key(each) != partition]
        if (offset := _offsets_after(handed_out).get(partition)) is not None:
            self._after_batch.append(offset)

    def _set_pending(self, messages: Iterable[Message]) -> None:
        rest = list(messages)
        self.pending.clear()
        self._pending.extend(rest)

    # batches

    def begin(self, messages: list[Message]) -> None:
        """A batch to hand out; all before it was handed out and asked for."""
        self._batch = messages
        if len(self._positions_wanted) > FEW_PARTITIONS:
            self._processed_before = self._processed()
            self._after_batch = list(_offsets_after(messages).values())
        else:
            self._after_batch = self._native.position(self._positions_wanted)

    @property
    def pending(self) -> deque[Message]:
        """Fetched, but not handed out: this ends a turn."""
        if self._turn:
            self._pending.extendleft(reversed(self._rest_of_turn()))
            self._turn.clear()  # whoever goes through it is at its end now, and keeps no message alive
            self._turn = []
        return self._pending

    def begin_turn(self, messages: list[Message]) -> Turn:
        """A batch, to be handed out one by one."""
        self._one_by_one = True
        return self._hand_out_in_turn(messages.copy())

    def go_on_in_turn(self) -> Turn:
        """All that is pending."""
        rest = list(self.pending)
        self._pending.clear()
        return self._hand_out_in_turn(rest)

    def _hand_out_in_turn(self, messages: list[Message]) -> Turn:
        self._turn = messages
        self._turn_iterator = iter(messages)
        return self._turn_iterator, self._turn

    def _rest_of_turn(self) -> list[Message]:
        return self._turn[len(self._turn) - length_hint(self._turn_iterator) :]

    def _pending_count(self) -> int:
        return len(self._pending) + (length_hint(self._turn_iterator) if self._turn else 0)

    def hand_out_one_by_one(self, messages: Iterable[Message]) -> None:
        self._set_pending(messages)
        self._one_by_one = True

    def hand_out_later(self, messages: Iterable[Message]) -> None:
        """Of the batch, or all of it: what cannot be handed out now."""
        self._set_pending(messages)

    def take_back(self, messages: list[Message]) -> None:
        """The last of those that were handed out did not reach anybody."""
        self.pending.extendleft(reversed(messages))

    def first_pending(self) -> dict[TopicPartition, int]:
        """The first offset of each partition that was fetched, but not handed out."""
        first: dict[TopicPartition, int] = {}
        for message in reversed(self.pending):
            first[TopicPartition(*_partition_of(message))] = message.offset() or 0  # type: ignore[arg-type]
        return first

    # how far

    def handed_out(self) -> Offsets:
        """Where each partition stands after the last record that was handed out."""
        return {**self._processed(), **self._within_batch()}

    def processed(self) -> Offsets:
        """The same without those that nobody has asked to go on from: a whole poll's, or one of an iteration."""
        return {**self._processed(), **_offsets_after(self._batch[: self._asked_on()])}

    def ask_on(self) -> None:
        """More of the batch is asked for: what was handed out of it counts as processed."""
        self._asked_on_from = self._handed_out_count()
        self._one_by_one = False

    def _asked_on(self) -> int:
        return self._handed_out_count() - 1 if self._one_by_one else self._asked_on_from

    def _handed_out_count(self) -> int:
        return len(self._batch) - self._pending_count()

    def _processed(self) -> Offsets:
        return {**self._processed_before, **_known(self._processed_last)}

    def _within_batch(self) -> Offsets:
        return (
            _offsets_after(self._batch[: self._handed_out_count()])
            if self._pending_count()
            else _known(self._after_batch)
        )

    def settle(self) -> None:
        """What was handed out counts as processed from now on."""
        if self._after_batch and not self._pending_count():
            self._processed_last = (
                self._after_batch
            )  # it has all partitions that the one before has, or forgotten ones
            self._end_batch()

    def settle_at_the_end(self, *, all_processed: bool) -> None:
        """What was handed out, or only what is known to be processed; what was not handed out is dropped."""
        self._processed_before = self.handed_out() if all_processed else self.processed()
        self._processed_last = []
        self.pending.clear()
        self._end_batch()

    def _end_batch(self) -> None:
        self._batch, self._after_batch = [], []
        self._one_by_one, self._asked_on_from = False, 0

    # what to commit

    def uncommitted(self, partitions: Iterable[TopicPartition], *, early: bool = False) -> Offsets:
        """What is processed of these (or handed out) since the last time that this was asked."""
        known = self.handed_out() if early else self._processed()
        fresh = {
            key: known[key]
            for key in partitions
            if key in known and self._asked.get(key) != known[key].offset
        }
        self._asked.update({key: offset.offset for key, offset in fresh.items()})
        return fresh

    def forget_what_was_asked(self) -> None:
        """A commit failed: the next one has all again."""
        self._asked.clear()


def _key(found: NativeTopicPartition) -> TopicPartition:
    return TopicPartition(found.topic, found.partition)


def _known(positions: Iterable[NativeTopicPartition]) -> Offsets:
    return {_key(each): each for each in positions if each.offset >= 0}


def _partition_of(message: Message) -> tuple[str | None, int | None]:
    return message.topic(), message.partition()


def _others(messages: Iterable[Message], partition: TopicPartition) -> list[Message]:
    return [message for message in messages if _partition_of(message) != partition]


def _offsets_after(messages: Iterable[Message]) -> Offsets:
    last = {_partition_of(message): message for message in messages}
    return {TopicPartition(*key): _next_offset(message) for key, message in last.items()}  # type: ignore[arg-type]


def _next_offset(message: Message) -> NativeTopicPartition:
    topic, partition, offset = message.topic(), message.partition(), message.offset()
    epoch = message.leader_epoch()
    assert topic is not None
    assert partition is not None
    assert offset is not None
    return NativeTopicPartition(topic, partition, offset + 1, leader_epoch=-1 if epoch is None else epoch)
