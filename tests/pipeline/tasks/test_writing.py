"""Transactions of packs, and what those who restore stores see of them."""

import threading
from collections.abc import Iterator
from uuid import uuid4

import pytest

from penstock import KafkaAdmin
from penstock.client import OffsetAndMetadata
from penstock.pipeline.operators.task import Produced
from penstock.pipeline.tasks.reading import Reader
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.pipeline.tasks.writing import Writer
from penstock.testing import InProcessBroker
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError
from tests.pipeline.tasks.running import make_topics, pipe
from tests.support.kafka_streams import Piped
from tests.support.topic_records import records_to_end

SECONDS = 20.0


class Room:
    """Topics, a group and writers of one test."""

    def __init__(self, broker: InProcessBroker) -> None:
        self.broker, self.name = broker, uuid4().hex[:8]
        self.out, self.changelog = f"{self.name}-out", f"{self.name}-changelog"
        make_topics(broker, {self.out: 3, self.changelog: 3})
        self.settings = StreamsSettings.from_configs(
            {"bootstrap.servers": broker.bootstrap_servers, "consumer.isolation.level": "read_uncommitted"}
        )
        self.writers: list[Writer] = []
        self.readers: list[Reader] = []

    def writer(self, transactional_id: str = "t") -> Writer:
        writer = Writer(self.settings, f"{self.name}-{transactional_id}", "client", b"")
        self.writers.append(writer)
        writer.lock_out_earlier()
        return writer

    def reader(self) -> Reader:
        self.readers.append(Reader(self.settings, self.name, "client", tells_ends_soon=True))
        return self.readers[-1]

    def committed(self, topic: str) -> list[list[bytes | None]]:
        """By partition."""
        values: list[list[bytes | None]] = [[], [], []]
        for each in records_to_end(self.broker.bootstrap_servers, topic, range(3)):
            values[each.partition].append(each.value)
        return values

    def close(self) -> None:
        for writer in self.writers:
            writer.close()
        for reader in self.readers:
            reader.close()


@pytest.fixture
def room(streams_broker: InProcessBroker) -> Iterator[Room]:
    room = Room(streams_broker)
    yield room
    room.close()


def commit(writer: Writer) -> None:
    """Without positions: those need a member of a group."""
    writer._producer.commit_transaction()
    writer.is_open = False


def test_changes_of_stores_go_into_the_partition_of_the_task(room: Room) -> None:
    writer = room.writer()
    changelog = TopicPartition(room.changelog, 1)
    for number in range(20):
        key = b"%d" % number
        writer.begin()
        two = Produced(room.out, key, b"result", 1_000, (("h", b"1"),) if number % 2 else ())
        writer.write([two])
        writer.write_changes(changelog, {key: (b"change", 1_000)})
    commit(writer)
    assert [len(values) for values in room.committed(room.changelog)] == [0, 20, 0]
    assert all(room.committed(room.out)), "by key"


def test_records_keep_their_order_with_headers_and_without(room: Room) -> None:
    writer = room.writer()
    writer.begin()
    for number in range(30):
        headers = (("number", b"%d" % number),) if number % 5 == 0 else ()
        writer.write([Produced(room.out, b"k", b"%d" % number, 1_000 + number, headers)])
    commit(writer)
    (values,) = filter(None, room.committed(room.out))
    assert values == [b"%d" % number for number in range(30)]


def test_a_program_may_choose_the_partition(room: Room) -> None:
    writer = room.writer()
    writer.begin()
    chosen = [Produced(room.out, b"k", b"%d" % each, 1_000, (), _at(each)) for each in range(3)]
    writer.write([*chosen, Produced(room.out, b"k", b"by key", 1_000, (), lambda partitions: None)])
    commit(writer)
    assert [values[0] for values in room.committed(room.out)] == [b"0", b"1", b"2"]


def _at(number: int):  # type: ignore[no-untyped-def]
    return lambda partitions: {3: number}[partitions]


def test_what_is_not_committed_is_never_seen(room: Room) -> None:
    writer = room.writer()
    writer.begin()
    writer.write([Produced(room.out, b"k", b"never", 1_000, ())])
    writer.send_aside(room.out, b"k", b"never", 1_000, [("why", b"not")])
    writer.close()
    with KafkaAdmin(bootstrap_servers=room.broker.bootstrap_servers) as admin:
        (state,) = [
            each.state for each in admin.list_transactions() if each.transactional_id == f"{room.name}-t"
        ]
    assert state.endswith("Abort"), "readers of its results do not wait for it"
    assert room.committed(room.out) == [[], [], []]


def test_who_comes_later_locks_out_who_was_there(room: Room) -> None:
    earlier = room.writer()
    earlier.begin()
    earlier.write([Produced(room.out, b"k", b"earlier", 1_000, ())])
    later = room.writer()
    later.begin()
    later.write([Produced(room.out, b"k", b"later", 1_000, ())])
    with pytest.raises(KafkaError, match="not committed"):
        commit(earlier)
    commit(later)
    assert [value for values in room.committed(room.out) for value in values] == [b"later"]


# --- the other side


def read_all(reader: Reader, where: TopicPartition, *, waits: bool) -> list[bytes | None]:
    found: list[bytes | None] = []
    reader.assign({where: 0})
    while not reader.has_read_all([where], waits_for_transactions=waits):
        for _, messages in reader.poll(0.05):
            found += [message.value() for message in messages]
    return found


def test_a_store_is_restored_to_the_end_of_transactions_that_are_not_over(room: Room) -> None:
    """The broker of a changelog may be the last to hear that a transaction was committed."""
    where = TopicPartition(room.changelog, 0)
    pipe(room.broker, [Piped(room.changelog, 1_000, b"k", b"old", ())], 0)
    open_writer = room.writer()
    open_writer.begin()
    open_writer.write_changes(TopicPartition(room.changelog, 0), {b"k": (b"new", 1_000)})
    open_writer._producer.flush(SECONDS)
    assert read_all(room.reader(), where, waits=False) == [b"old"]
    threading.Timer(0.4, commit, [open_writer]).start()
    assert read_all(room.reader(), where, waits=True) == [b"old", b"new"]


def test_nor_does_one_that_is_aborted_hold_it_up_for_ever(room: Room) -> None:
    where = TopicPartition(room.changelog, 0)
    open_writer = room.writer()
    open_writer.begin()
    open_writer.write_changes(TopicPartition(room.changelog, 0), {b"k": (b"new", 1_000)})
    open_writer._producer.flush(SECONDS)
    threading.Timer(0.2, open_writer.abort).start()
    assert read_all(room.reader(), where, waits=True) == []
    assert read_all(room.reader(), TopicPartition(room.changelog, 2), waits=True) == [], "an empty one"


def test_positions_with_their_notes(room: Room) -> None:
    """Whatever their length: librdkafka reads beyond the end of some."""
    reader, where = room.reader(), TopicPartition(room.out, 0)
    assert reader.committed([]) == {}
    assert reader.committed([where]) == {}
    assert reader.bounds(where) == (0, 0)
    with KafkaAdmin(bootstrap_servers=room.broker.bootstrap_servers) as admin:
        for length in range(1, 120, 7):
            admin.alter_group_offsets(room.name, {where: OffsetAndMetadata(length, "n" * length)})
            assert reader.committed([where, TopicPartition(room.out, 1)]) == {where: (length, "n" * length)}
