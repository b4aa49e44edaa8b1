"""Transactions under producers that come, go and are replaced, messages that arrive late, crashes, and time.

Each story is random; what must hold is checked all along and, when everything has settled, in full: the coordinator's
log replays to its state, what was acknowledged as committed is visible and nothing of what was aborted is, a
transaction is visible in all its partitions or in none, none hangs, and no producer that was replaced ever commits.
"""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.txn.transaction import BETWEEN_TRANSACTIONS
from tests.support.examples import examples
from tests.txn.simulation import PARTITIONS, Cluster, SimulatedProducer

IDS = ("a", "b")
STEPS = 150


class Story:
    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.cluster = Cluster()
        self.protocols = [self.random.choice((1, 2, 2)) for _ in range(4)]
        self.producers = [self._new_instance(number) for number in range(4)]
        self.values = 0

    def _new_instance(self, number: int) -> SimulatedProducer:
        """Two instances share a transactional id, and may well not know of each other."""
        return SimulatedProducer(self.cluster, IDS[number % 2], self.protocols[number])

    def step(self) -> None:
        weighted = {
            self.init: 4,
            self.send: 12,
            self.deliver: 10,
            self.end: 5,
            self.write_marker: 8,
            self.write_all_markers: 3,
            self.crash_coordinator: 1,
            self.restart_partition: 1,
            self.pass_time: 1,
        }
        self.random.choices(list(weighted), list(weighted.values()))[0]()

    # producers

    def init(self) -> None:
        """Mostly of those that can't go on; now and then of one that takes over."""
        number = self.random.randrange(4)
        producer = self.producers[number]
        if producer.is_ready and self.random.random() < 0.8:
            return
        if producer.must_init and not producer.is_fenced:
            producer.init_again()
            return
        if producer.transaction is not None or producer.is_fenced:
            self.producers[number] = self._new_instance(number)
        self.producers[number].init()

    def send(self) -> None:
        producer, partition = self.random.choice(self.producers), self.random.randrange(PARTITIONS)
        if producer.is_ready and not producer.must_abort and not self._has_in_flight(producer, partition):
            self.values += 1
            producer.send(partition, b"%d" % self.values)

    def _has_in_flight(self, producer: SimulatedProducer, partition: int | None = None) -> bool:
        return any(
            one.producer is producer and partition in (None, one.partition) for one in self.cluster.in_flight
        )

    def end(self) -> None:
        """A client commits when it has heard of all its records; it may run out of patience, and abort."""
        producer = self.random.choice(self.producers)
        if not producer.is_ready or producer.transaction is None:
            return
        if not self._has_in_flight(producer):
            producer.end(is_commit=not producer.must_abort and self.random.random() < 0.6)
        elif self.random.random() < 0.3:
            producer.end(is_commit=False)
            producer.must_init = producer.transaction is None

    # the network, crashes, time

    def deliver(self) -> None:
        if self.cluster.in_flight:
            self.cluster.deliver(self.random.randrange(len(self.cluster.in_flight)))

    def write_marker(self) -> None:
        if self.cluster.markers:
            transactional_id = self.random.choice(sorted(self.cluster.markers))
            self.cluster.write_marker(transactional_id, self.random.randrange(PARTITIONS))

    def write_all_markers(self) -> None:
        self.cluster.write_all_markers()

    def crash_coordinator(self) -> None:
        self.cluster.crash_coordinator()

    def restart_partition(self) -> None:
        self.random.choice(self.cluster.partitions).restart()

    def pass_time(self) -> None:
        self.cluster.world.advance(self.random.choice((1_000, 5_000, 20_000)))

    # what must hold

    def check(self) -> None:
        world = self.cluster.world
        assert world.replayed().transactions == world.machine.transactions
        visible = {value for one in self.cluster.partitions for value in one.visible()}
        for transaction in self.cluster.transactions:
            if transaction.outcome is False:
                assert not visible & transaction.written.keys(), "an aborted record is visible"

    def check_settled(self) -> None:
        self.cluster.settle()
        self.check()
        for transaction in self.cluster.world.machine.transactions.values():
            assert transaction.state in BETWEEN_TRANSACTIONS, "a transaction did not end"
        for partition in self.cluster.partitions:
            assert not partition.has_open_transactions(), "a transaction hangs"
            assert partition.partition.last_stable_offset == partition.log.log_end_offset
        visible = [set(partition.visible()) for partition in self.cluster.partitions]
        for known in self.cluster.transactions:
            seen = [value in visible[partition] for value, partition in known.written.items()]
            assert all(seen) or not any(seen), "a transaction was committed in part"
            if known.outcome is not None:
                assert all(one is known.outcome for one in seen), (known, seen)


@settings(max_examples=examples(200))
@given(seed=st.integers(0, 2**32))
def test_transactions_are_all_or_nothing(seed: int) -> None:
    story = Story(seed)
    for number in range(STEPS):
        story.step()
        if number % 10 == 0:
            story.check()
    story.check_settled()
