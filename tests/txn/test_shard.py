"""What a transcript is too long-winded for."""

from penstock.machine import Caller, Outcome, Producer, Ticket, TimerKey
from penstock.settings.broker import BrokerSettings
from penstock.txn.shard import MAX_REMOVED_AT_ONCE, TransactionShard
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from penstock.wire.schema import StoredMessage
from tests.scripts.world import Observer, World

DAYS_8_MS = 8 * 86_400_000


class Steps(Observer):
    """Counts the timers that fired and the records between them."""

    def __init__(self) -> None:
        self.written: list[int] = []

    def on_timer_due(self, key: TimerKey) -> None:
        self.written.append(0)

    def on_write(self, key: StoredMessage, value: StoredMessage | None, producer: Producer | None) -> None:
        if self.written:
            self.written[-1] += 1


def test_many_expired_transactional_ids_are_removed_in_steps() -> None:
    steps = Steps()
    ids = iter(range(10**6))
    world: World[TransactionShard] = World(
        lambda world: TransactionShard(BrokerSettings, lambda: next(ids), lambda: 2), steps
    )

    def init(number: int) -> None:
        request = InitProducerIdRequest(f"id-{number}", 1000)

        def handle(shard: TransactionShard, ticket: Ticket, now_ms: int) -> Outcome:
            return shard.handle_init_producer_id(request, Caller(5), ticket, now_ms)

        world.ask("", handle)

    for number in range(2 * MAX_REMOVED_AT_ONCE + 1):
        init(number)
    world.advance(DAYS_8_MS)
    assert world.machine.transactions == {}
    assert [count for count in steps.written if count] == [MAX_REMOVED_AT_ONCE, MAX_REMOVED_AT_ONCE, 1]
