"""The steps of a join by a foreign key; see `streams.steps.foreign_keys` for how they fit together."""

from hashlib import blake2b
from typing import Any

from penstock.pipeline.operators.base import NO_TIME, Operator, Slice
from penstock.pipeline.operators.processor_api import Headers
from penstock.pipeline.operators.stores.subscriptions import SubscriptionStore
from penstock.pipeline.operators.views import lookup_of
from penstock.pipeline.plan import operations as plan
from penstock.pipeline.plan.foreign_keys import HASH_SIZE, Answer, Instruction, Subscription
from penstock.pipeline.plan.serdes import Serde

DELETES = (Instruction.DELETE_KEY_AND_PROPAGATE, Instruction.DELETE_KEY_NO_PROPAGATE)


def _hash_of(serde: Serde | None, topic: str, row: Any) -> bytes | None:
    if row is None:
        return None
    assert serde is not None
    return blake2b(serde.encode(topic, row) or b"", digest_size=HASH_SIZE).digest()


class Subscribe(Operator[plan.Subscribe]):
    one_record_at_a_time = True

    def process(self, records: Slice) -> None:
        for key, (new, old), timestamp, headers in records:
            if new is None and old is None:
                continue
            extractor = self.operation.extractor
            old_foreign = None if old is None else extractor(key, old)
            new_foreign = None if new is None else extractor(key, new)
            row_hash = _hash_of(self.operation.value_serde, self.operation.hash_topic, new)
            for foreign, instruction in self._steps(new, old_foreign, new_foreign):
                subscription = Subscription(row_hash, instruction, key, self.context.partition)
                self.emit(foreign, subscription, timestamp, headers)

    def _steps(self, new: Any, old_foreign: Any, new_foreign: Any) -> list[tuple[Any, Instruction]]:
        was_there = old_foreign is not None
        changed = was_there and self._key(new_foreign) != self._key(old_foreign)
        leave = [(old_foreign, Instruction.DELETE_KEY_NO_PROPAGATE)] if changed else []
        if self.operation.is_left:
            return [*leave, (new_foreign, Instruction.PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE)]
        if new is not None and new_foreign is None:
            self.drop()
        if new_foreign is None:
            return [(old_foreign, Instruction.DELETE_KEY_AND_PROPAGATE)] if was_there else []
        if changed:
            return [*leave, (new_foreign, Instruction.PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE)]
        return [(new_foreign, Instruction.PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE)]

    def _key(self, foreign: Any) -> bytes | None:
        serde = self.operation.foreign_key_serde
        assert serde is not None
        return serde.encode(self.operation.hash_topic, foreign)


class ReceiveSubscription(Operator[plan.ReceiveSubscription]):
    one_record_at_a_time = True

    def prepare(self) -> None:
        self.store: SubscriptionStore = self.context.stores[self.operation.store]

    def process(self, records: Slice) -> None:
        for foreign, subscription, timestamp, headers in records:
            instruction = subscription.instruction
            if foreign is None:
                if instruction != Instruction.PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE:
                    self.drop()
                    continue
            elif instruction in DELETES:
                self.store.delete(foreign, subscription.key, timestamp)
            else:
                self.store.put(foreign, subscription.key, subscription, timestamp)
            self.emit(foreign, subscription, timestamp, headers)


class JoinSubscription(Operator[plan.JoinSubscription]):
    one_record_at_a_time = True

    def prepare(self) -> None:
        self.lookup = lookup_of(self.operation.other, self.context)

    def process(self, records: Slice) -> None:
        for foreign, subscription, timestamp, headers in records:
            row, row_time = (None if foreign is None else self.lookup(foreign)) or (None, NO_TIME)
            at = max(timestamp, row_time)
            match subscription.instruction:
                case Instruction.DELETE_KEY_AND_PROPAGATE:
                    self._answer(subscription, None, at, headers)
                case Instruction.PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE:
                    self._answer(subscription, row, at, headers)
                case Instruction.PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE if row is not None:
                    self._answer(subscription, row, at, headers)

    def _answer(self, subscription: Subscription, row: Any, at: int, headers: Headers) -> None:
        answer = Answer(subscription.row_hash, row, subscription.partition)
        self.emit(subscription.key, answer, at, headers)


class AnswerSubscribers(Operator[plan.AnswerSubscribers]):
    one_record_at_a_time = True

    def prepare(self) -> None:
        self.store: SubscriptionStore = self.context.stores[self.operation.store]

    def process(self, records: Slice) -> None:
        for foreign, (new, _), timestamp, headers in records:
            if foreign is None:
                self.drop()
                continue
            for subscription in self.store.waiting_for(foreign):
                answer = Answer(subscription.row_hash, new, subscription.partition)
                self.emit(subscription.key, answer, timestamp, headers)


class ResolveAnswer(Operator[plan.ResolveAnswer]):
    one_record_at_a_time = True

    def prepare(self) -> None:
        self.lookup = lookup_of(self.operation.this, self.context)

    def process(self, records: Slice) -> None:
        operation = self.operation
        for key, answer, timestamp, headers in records:
            found = self.lookup(key)
            row = None if found is None else found[0]
            if answer.row_hash != _hash_of(operation.value_serde, operation.hash_topic, row):
                self.drop()
                continue
            is_joined = answer.foreign_row is not None or (operation.is_left and found is not None)
            result = operation.joiner(row, answer.foreign_row) if is_joined else None
            self.emit(key, result, timestamp, headers)
