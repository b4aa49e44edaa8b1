"""The words of scripts about transactions.

A producer goes by a name, and its transactional id is `id` unless a command says otherwise; the script remembers the
producer id and epoch that it was last told and uses them. Markers are written when the script says so.

    init alice [id= timeout= keep=yes producer= epoch= version=]    keep: says who it was
    add alice orders-0 orders-1 [protocol= producer= epoch=]         protocol: 2 as a broker does, 0 as a client does
    offsets alice 7                                                   the group's partition in __consumer_offsets
    verify alice orders-0
    commit alice [version= producer= epoch=] / abort alice            version 5 is protocol 2
    marked [id]                                                       every partition has its marker
    crash                                                             as reload, and no marker was written
    list [states= producers= duration= pattern=]
    show [id]
    set transaction.max.timeout.ms=5000
    server 1                                                          the level of transaction.version
    epoch alice 32766                                                 as if that many transactions had gone by
    no_producer_ids [times]
    refused NOT_ENOUGH_REPLICAS init alice                            a command during which every write fails

A record is shown as the state, the producer id and epoch, the partitions, then what is not as always: when the
transaction started and was last updated are shown as seconds since the script began.
"""

from penstock.errors import ApiError, ErrorCode
from penstock.machine import Caller, Outcome, Producer, Ticket
from penstock.settings.broker import BrokerSettings
from penstock.txn.effects import WriteMarkers
from penstock.txn.listing import TransactionFilter
from penstock.txn.shard import TransactionShard
from penstock.txn.transaction import (
    NO_PRODUCER_ID,
    NO_TIME,
    Transaction,
    decode_transaction,
    encode_transaction,
)
from penstock.types import TopicPartition
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest
from penstock.wire.messages.end_txn import EndTxnRequest, EndTxnResponse
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse
from penstock.wire.messages.list_transactions import ListTransactionsRequest
from penstock.wire.schema import StoredMessage
from penstock.wire.stored.transaction import TransactionLogKey, TransactionLogValue
from tests.scripts import transcript
from tests.scripts.world import START_MS, Asked, World

USUAL_TIMEOUT_MS = 60_000
FIRST_PRODUCER_ID = 1000
NOBODY = Producer(-1, -1)


class Words(transcript.Words):
    def __init__(self) -> None:
        super().__init__()
        self.configs: dict[str, str] = {}
        self.settings = BrokerSettings()
        self.transaction_version = 2
        self.next_producer_id = FIRST_PRODUCER_ID
        self.refused_producer_ids = 0
        self.producers: dict[str, Producer] = {}
        self.markers: dict[str, WriteMarkers] = {}
        self.world: World[TransactionShard] = World(lambda world: self._make_shard(), self)

    def _make_shard(self) -> TransactionShard:
        return TransactionShard(
            lambda: self.settings, self._new_producer_id, lambda: self.transaction_version
        )

    def _new_producer_id(self) -> int:
        if self.refused_producer_ids:
            self.refused_producer_ids -= 1
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        self.next_producer_id += 1
        return self.next_producer_id - 1

    def on_write(self, key: StoredMessage, value: StoredMessage | None, producer: Producer | None) -> None:
        assert isinstance(key, TransactionLogKey)
        if value is None:
            self.say(f"write {key.transactional_id}: removed")
            return
        assert isinstance(value, TransactionLogValue)
        self.say(f"write {key.transactional_id}: {_show(decode_transaction(key, value))}")

    def on_effect(self, effect: WriteMarkers) -> None:
        self.markers[effect.transactional_id] = effect
        kind = "COMMIT" if effect.is_commit else "ABORT"
        where = " ".join(str(one) for one in sorted(effect.partitions)) or "no partition"
        protocol = f"transaction.version {effect.transaction_version}"
        producer = f"{effect.producer.producer_id}/{effect.producer.producer_epoch}"
        self.say(f"markers {effect.transactional_id}: {kind} of {producer} to {where} ({protocol})")

    def on_answer(self, asked: Asked) -> None:
        super().on_answer(asked)
        answer = asked.answer
        if isinstance(answer, (InitProducerIdResponse, EndTxnResponse)) and answer.producer_id >= 0:
            self.producers[asked.label] = Producer(answer.producer_id, answer.producer_epoch)

    # producers

    def do_init(
        self,
        name: str,
        id: str = "id",
        timeout: str = "60000",
        keep: str = "no",
        producer: str | None = None,
        epoch: str | None = None,
        version: str = "5",
    ) -> None:
        is_known = keep == "yes" or producer is not None or epoch is not None
        known = self._producer(name, producer, epoch) if is_known else NOBODY
        request = InitProducerIdRequest(id, int(timeout), *known)
        caller = Caller(int(version))
        self.world.ask(
            name, lambda shard, ticket, now_ms: shard.handle_init_producer_id(request, caller, ticket, now_ms)
        )

    def _producer(self, name: str, producer: str | None, epoch: str | None) -> Producer:
        known = self.producers.get(name, NOBODY)
        return Producer(
            known.producer_id if producer is None else int(producer),
            known.producer_epoch if epoch is None else int(epoch),
        )

    def do_add(
        self,
        name: str,
        *partitions: str,
        id: str = "id",
        protocol: str = "2",
        producer: str | None = None,
        epoch: str | None = None,
    ) -> None:
        known = self._producer(name, producer, epoch)
        added = [_partition(text) for text in partitions]

        def add(shard: TransactionShard, ticket: Ticket, now_ms: int) -> Outcome:
            return shard.add_partitions(id, known, added, int(protocol), ticket, now_ms)

        self.world.ask(name, add)

    def do_offsets(self, name: str, partition: str, id: str = "id") -> None:
        request = AddOffsetsToTxnRequest(id, *self.producers[name], "group")
        where = TopicPartition("__consumer_offsets", int(partition))
        self.world.ask(
            name,
            lambda shard, ticket, now_ms: shard.handle_add_offsets_to_txn(request, where, ticket, now_ms),
        )

    def do_verify(
        self,
        name: str,
        *partitions: str,
        id: str = "id",
        producer: str | None = None,
        epoch: str | None = None,
    ) -> None:
        known = self._producer(name, producer, epoch)
        asked = [_partition(text) for text in partitions]
        self.world.ask(name, lambda shard, ticket, now_ms: shard.verify_partitions(id, known, asked, ticket))

    def do_commit(self, name: str, **details: str) -> None:
        self._end(name, is_commit=True, **details)

    def do_abort(self, name: str, **details: str) -> None:
        self._end(name, is_commit=False, **details)

    def _end(
        self,
        name: str,
        *,
        is_commit: bool,
        id: str = "id",
        version: str = "5",
        producer: str | None = None,
        epoch: str | None = None,
    ) -> None:
        request = EndTxnRequest(id, *self._producer(name, producer, epoch), is_commit)
        caller = Caller(int(version))
        self.world.ask(
            name, lambda shard, ticket, now_ms: shard.handle_end_txn(request, caller, ticket, now_ms)
        )

    # what goes on around the coordinator

    def do_marked(self, id: str = "id") -> None:
        effect = self.markers.pop(id)
        machine = self.world.machine
        self.world.carry_out(machine.on_markers_written(id, effect.producer, self.world.now_ms))

    def do_crash(self) -> None:
        self.markers.clear()
        self.world.reload()

    def do_set(self, **configs: str) -> None:
        self.configs |= configs
        self.settings = BrokerSettings.from_configs(self.configs)

    def do_server(self, level: str) -> None:
        self.transaction_version = int(level)

    def do_no_producer_ids(self, times: str = "1") -> None:
        self.refused_producer_ids = int(times)

    def do_refused(self, code: str, command: str, *words: str, **details: str) -> None:
        self.world.refuse_writes = ApiError(ErrorCode[code])
        getattr(self, "do_" + command)(*words, **details)
        self.world.refuse_writes = None

    def do_epoch(self, name: str, epoch: str, id: str = "id") -> None:
        transaction = self.world.machine.transactions[id]
        self.producers[name] = Producer(transaction.producer_id, int(epoch))
        moved = transaction.initialised(self.producers[name], transaction.timeout_ms, self.world.now_ms)
        outcome = Outcome()
        outcome.write(*encode_transaction(moved), version=1)
        self.world.carry_out(outcome)

    # looking

    def do_list(
        self, states: str = "", producers: str = "", duration: str = "-1", pattern: str | None = None
    ) -> None:
        request = ListTransactionsRequest(
            states.split(",") if states else [],
            [int(one) for one in producers.split(",")] if producers else [],
            int(duration),
            pattern,
        )
        try:
            wanted = TransactionFilter(request, self.world.now_ms)
        except ApiError as error:
            self.say(f"refused: {error.code.name}")
            return
        for name in wanted.unknown_states:
            self.say(f"no state {name}")
        for one in self.world.machine.transactions.values():
            if not (wanted.includes(one) and wanted.includes_id(one.transactional_id)):
                continue
            self.say(f"{one.transactional_id} {one.producer_id} {one.state.kafka_name}")

    def do_show(self, id: str = "id") -> None:
        transaction = self.world.machine.transactions.get(id)
        if transaction is None:
            self.say(f"{id} is not known")
            return
        self.say(f"{id}: {_show(transaction)}")


def _show(transaction: Transaction) -> str:
    partitions = " ".join(str(one) for one in sorted(transaction.partitions))
    shown = f"{transaction.state.kafka_name} {transaction.producer_id}/{transaction.producer_epoch} [{partitions}]"
    details = {
        "started": None if transaction.start_ms == NO_TIME else _seconds(transaction.start_ms),
        "updated": _seconds(transaction.last_update_ms),
        "timeout": None if transaction.timeout_ms == USUAL_TIMEOUT_MS else transaction.timeout_ms,
        "previous": _unless(transaction.producer_id, transaction.previous_producer_id),
        "next": _unless(NO_PRODUCER_ID, transaction.next_producer_id),
        "client": transaction.client_transaction_version,
    }
    return " ".join([shown, *(f"{name}={value}" for name, value in details.items() if value is not None)])


def _seconds(time_ms: int) -> str:
    return f"{(time_ms - START_MS) / 1000:g}"


def _unless(usual: int, value: int) -> int | None:
    return None if value == usual else value


def _partition(text: str) -> TopicPartition:
    topic, _, partition = text.rpartition("-")
    return TopicPartition(topic, int(partition))
