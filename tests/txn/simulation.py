"""A coordinator, partitions and producers without a network: every message waits until the test lets it arrive.

The coordinator is the real machine over a log in memory, the partitions are real logs in memory, and the way from one
to the other is the broker's: records of a transaction that is new to a partition need the coordinator's word,
which may be old by the time that they arrive.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from penstock.broker.hosted_directory import HostedDirectory
from penstock.broker.partition import Partition
from penstock.errors import ApiError, ErrorCode
from penstock.log.partition_log import PartitionLog
from penstock.log.verification import BY_ITS_TRANSACTION, Admission
from penstock.machine import Caller, Producer
from penstock.records.batch import Batch, split_batches
from penstock.records.builder import build_batch
from penstock.records.control import read_end_transaction_marker
from penstock.records.reader import Record, iterate_records
from penstock.replica.replica_set import ReplicaSet
from penstock.settings.broker import BrokerSettings
from penstock.settings.topic import TopicSettings
from penstock.testing.memory_fs import MemoryFileSystem
from penstock.txn.effects import WriteMarkers
from penstock.txn.shard import TransactionShard
from penstock.types import TopicPartition
from penstock.wire.messages.end_txn import EndTxnRequest
from penstock.wire.messages.init_producer_id import InitProducerIdRequest
from tests.scripts.world import Observer, World

TIMEOUT_MS = 30_000
PARTITIONS = 3
TOPIC = "orders"


class Unheard:
    """Wakes nobody: nobody waits."""

    def wake(self, partition: Partition) -> None: ...

    def wake_followers(self, partition: Partition) -> None: ...


class SimulatedPartition:
    """A partition whose broker may be restarted."""

    def __init__(self, index: int) -> None:
        self.where = TopicPartition(TOPIC, index)
        self._fs = MemoryFileSystem()
        self._directory = HostedDirectory(self._fs, "/logs", Unheard())
        self._fs.make_directory("/logs")
        self.now_ms = 0
        self._open()

    def _open(self) -> None:
        log = PartitionLog.open(
            self._fs, f"/logs/{self.where}", self.where, TopicSettings(), topic_id=None, now_ms=self.now_ms
        )
        replicas = ReplicaSet((0,), (0,), 0, 0)
        self.partition = Partition(self.where, b"", 0, replicas, log, self._directory, log.log_end_offset)
        self.partition.become_leader(replicas, self.now_ms)

    @property
    def log(self) -> PartitionLog:
        return self.partition.log

    def restart(self) -> None:
        self.log.close()
        self._open()

    def visible(self) -> list[bytes]:
        """What a consumer of committed records sees."""
        end = self.partition.last_stable_offset
        aborted = sorted((one.first_offset, one.producer_id) for one in self.log.aborted_transactions(0, end))
        skipped: set[int] = set()
        values: list[bytes] = []
        for batch in self._batches(end):
            while aborted and aborted[0][0] <= batch.base_offset:
                skipped.add(aborted.pop(0)[1])
            if batch.is_control:
                marker = read_end_transaction_marker(batch)
                assert marker is not None
                if not marker.is_commit:
                    skipped.discard(batch.producer_id)
            elif batch.producer_id not in skipped:
                values += [record.value or b"" for record in iterate_records(batch)]
        return values

    def _batches(self, end: int) -> list[Batch]:
        piece = self.log.read(0, 1 << 30, max_offset=end, at_least_one=True) if end else None
        return [] if piece is None else split_batches(memoryview(bytearray(piece.read())))

    def has_open_transactions(self) -> bool:
        return any(one.current_transaction_first_offset >= 0 for one in self.log.producers())


@dataclass
class ClientTransaction:
    """What a producer knows of one of its transactions."""

    written: dict[bytes, int] = field(default_factory=dict)
    """The values that were acknowledged, with their partitions."""
    outcome: bool | None = None
    """True if the commit was acknowledged, False if the abort was; None if the producer never learned it."""


@dataclass
class InFlight:
    """A batch on its way to a partition, with what the coordinator said before."""

    producer: SimulatedProducer
    transaction: ClientTransaction
    partition: int
    value: bytes
    records: bytes
    admission: Admission


class SimulatedProducer:
    """An instance of a client; it follows the protocol, and stops for good when it hears that it is fenced."""

    def __init__(self, cluster: Cluster, transactional_id: str, protocol: int) -> None:
        self.cluster = cluster
        self.transactional_id = transactional_id
        self.protocol = protocol
        self.producer: Producer | None = None
        self.is_fenced = False
        self.added: set[int] = set()
        self.sequences: dict[int, int] = {}
        self.transaction: ClientTransaction | None = None
        self.must_abort = False
        self.must_init = False

    @property
    def is_ready(self) -> bool:
        return self.producer is not None and not self.is_fenced and not self.must_init

    def _become(self, producer: Producer) -> None:
        if producer != self.producer:
            self.sequences.clear()
        self.producer = producer

    def _ask(self, handle: Callable[..., Any]) -> Any:
        answer = self.cluster.world.ask("", handle).answer
        if isinstance(answer, ApiError) and answer.code in (
            ErrorCode.PRODUCER_FENCED,
            ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ):
            self.is_fenced = True
        return answer

    def init(self) -> None:
        self._init(InitProducerIdRequest(self.transactional_id, TIMEOUT_MS))

    def init_again(self) -> None:
        """Asks for the next epoch, since it can't know what of the last one is still on its way."""
        assert self.producer is not None
        self._init(InitProducerIdRequest(self.transactional_id, TIMEOUT_MS, *self.producer))

    def _init(self, request: InitProducerIdRequest) -> None:
        caller = Caller(5)
        answer = self._ask(
            lambda shard, ticket, now: shard.handle_init_producer_id(request, caller, ticket, now)
        )
        if not isinstance(answer, ApiError) and answer.error_code == 0:
            self._become(Producer(answer.producer_id, answer.producer_epoch))
            self.must_init = False
            self.cluster.on_initialised(self)

    def send(self, partition: int, value: bytes) -> None:
        """Asks for admission, and puts the batch on its way if it is granted."""
        assert self.producer is not None
        self.transaction = self.transaction or self.cluster.begin()
        sequence = self.sequences.get(partition, 0)
        batch = build_batch(
            [Record(0, self.cluster.world.now_ms, None, value)],
            producer_id=self.producer.producer_id,
            producer_epoch=self.producer.producer_epoch,
            base_sequence=sequence,
            is_transactional=True,
        )
        if self.protocol == 1 and not self._add(partition):
            return
        admission = self._admission(partition, batch)
        if admission is None:
            self.must_abort = True
            return
        self.sequences[partition] = sequence + 1
        self.cluster.in_flight.append(
            InFlight(self, self.transaction, partition, value, bytes(batch.view), admission)
        )

    def _add(self, partition: int) -> bool:
        """Protocol 1: the producer tells the coordinator itself, once per transaction."""
        producer, where = self.producer, self.cluster.partitions[partition].where
        if partition in self.added:
            return True
        answer = self._ask(
            lambda shard, ticket, now: shard.add_partitions(
                self.transactional_id, producer, [where], 0, ticket, now
            )
        )
        if isinstance(answer, ApiError):
            return False
        self.added.add(partition)
        return True

    def _admission(self, partition: int, batch: Batch) -> Admission | None:
        """What the partition's broker does before it appends."""
        assert self.producer is not None
        producer, where = self.producer, self.cluster.partitions[partition].where
        state = self.cluster.partitions[partition].log.producer_state
        if state.is_in_transaction(batch):
            return BY_ITS_TRANSACTION
        try:
            verification = state.start_verification(
                batch, self.cluster.world.now_ms, raises_epoch=self.protocol == 2
            )
        except ApiError:
            return None

        def ask(shard: TransactionShard, ticket: Any, now: int) -> Any:
            if self.protocol == 2:
                return shard.add_partitions(self.transactional_id, producer, [where], 2, ticket, now)
            return shard.verify_partitions(self.transactional_id, producer, [where], ticket)

        answer = self._ask(ask)
        return None if isinstance(answer, ApiError) or answer else Admission(verification)

    def end(self, *, is_commit: bool) -> None:
        assert self.producer is not None
        request = EndTxnRequest(self.transactional_id, *self.producer, is_commit)
        caller = Caller(5 if self.protocol == 2 else 4)
        answer = self._ask(lambda shard, ticket, now: shard.handle_end_txn(request, caller, ticket, now))
        if isinstance(answer, ApiError):
            self.must_abort = self.must_abort or answer.code == ErrorCode.INVALID_TXN_STATE
            return
        self.cluster.on_ended(self, is_commit=is_commit)
        if self.transaction is not None:
            self.transaction.outcome = is_commit
        self.transaction, self.must_abort = None, False
        self.added.clear()
        if self.protocol == 2:
            self._become(Producer(answer.producer_id, answer.producer_epoch))


class Cluster(Observer):
    def __init__(self) -> None:
        self.settings = BrokerSettings()
        self.next_producer_id = 0
        self.markers: dict[str, tuple[WriteMarkers, set[int]]] = {}
        self.in_flight: list[InFlight] = []
        self.transactions: list[ClientTransaction] = []
        self.owners: dict[str, SimulatedProducer] = {}
        self.partitions = [SimulatedPartition(index) for index in range(PARTITIONS)]
        self.world: World[TransactionShard] = World(
            lambda world: TransactionShard(lambda: self.settings, self._new_producer_id, lambda: 2), self
        )

    def _new_producer_id(self) -> int:
        self.next_producer_id += 1
        return self.next_producer_id

    def begin(self) -> ClientTransaction:
        self.transactions.append(ClientTransaction())
        return self.transactions[-1]

    # what producers are told

    def on_initialised(self, producer: SimulatedProducer) -> None:
        self.owners[producer.transactional_id] = producer

    def on_ended(self, producer: SimulatedProducer, *, is_commit: bool) -> None:
        owner = self.owners[producer.transactional_id]
        assert owner is producer or not is_commit, "a zombie has committed"

    # what goes on between coordinator and partitions

    def on_effect(self, effect: WriteMarkers) -> None:
        self.markers[effect.transactional_id] = effect, {one.partition for one in effect.partitions}

    def write_marker(self, transactional_id: str, partition: int) -> None:
        effect, left = self.markers[transactional_id]
        if partition in left:
            self.partitions[partition].partition.append_marker(
                effect.producer, effect.is_commit, 0, effect.transaction_version, now_ms=self.world.now_ms
            )
            left.discard(partition)
        if not left:
            del self.markers[transactional_id]
            machine = self.world.machine
            outcome = machine.on_markers_written(transactional_id, effect.producer, self.world.now_ms)
            self.world.carry_out(outcome)

    def deliver(self, index: int) -> None:
        message = self.in_flight.pop(index)
        try:
            self.partitions[message.partition].partition.append(
                memoryview(bytearray(message.records)), 12, -1, self.world.now_ms, message.admission
            )
        except ApiError:
            message.producer.must_abort = True
        else:
            message.transaction.written[message.value] = message.partition

    def crash_coordinator(self) -> None:
        self.markers.clear()
        self.world.reload()

    def settle(self) -> None:
        """Everything that is on its way arrives, and every transaction ends."""
        while self.in_flight:
            self.deliver(0)
        self.write_all_markers()
        self.world.advance(10 * TIMEOUT_MS)
        self.write_all_markers()

    def write_all_markers(self) -> None:
        for transactional_id in list(self.markers):
            for partition in range(PARTITIONS):
                if transactional_id in self.markers:
                    self.write_marker(transactional_id, partition)
