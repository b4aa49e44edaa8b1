"""One shard of the transaction coordinator: the machine over one partition of `__transaction_state`."""

from collections.abc import Callable
from typing import ClassVar

from penstock.machine import Outcome, Producer, RecordContext, TimerKey
from penstock.settings.broker import BrokerSettings
from penstock.wire.schema import RecordTypes, StoredMessage
from penstock.wire.stored import transaction as transaction_records


class TransactionShard:
    RECORD_TYPES: ClassVar[RecordTypes] = transaction_records.RECORD_TYPES

    def __init__(self, settings: Callable[[], BrokerSettings]) -> None:
        self._settings = settings

    def replay(self, key: StoredMessage, value: StoredMessage | None, context: RecordContext) -> None:
        raise NotImplementedError

    def replay_end_transaction(self, producer: Producer, *, is_commit: bool) -> None:
        """Nothing of this topic is ever written in a transaction."""

    def on_loaded(self, now_ms: int) -> Outcome:
        return Outcome()

    def on_timer(self, key: TimerKey, now_ms: int) -> Outcome:
        raise NotImplementedError

    def on_topics_changed(self, names: frozenset[str], now_ms: int) -> Outcome:
        return Outcome()
