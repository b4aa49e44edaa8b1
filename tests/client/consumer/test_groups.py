"""Members of one group: who reads what, who is told, and that nothing gets lost while partitions move."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from penstock.client.consumer.kafka_consumer import KafkaConsumer
from penstock.client.consumer.rebalance import RebalanceListener
from penstock.types import TopicPartition
from penstock.wire_client.errors import FatalError, KafkaError
from tests.client.consumer.conftest import MakeConsumer, Produce
from tests.client.consumer.reading import committed_offset, numbers, poll_until, read, values

PROTOCOLS = {
    "eager": {"group_protocol": "classic", "partition_assignment_strategy": "range"},
    "cooperative": {"group_protocol": "classic", "partition_assignment_strategy": "cooperative-sticky"},
    "consumer": {"group_protocol": "consumer"},
}
QUICK = {"heartbeat_interval_ms": 200}


@pytest.fixture(params=list(PROTOCOLS))
def protocol(request: pytest.FixtureRequest) -> dict[str, object]:
    settings: dict[str, object] = {**PROTOCOLS[request.param]}
    return settings if request.param == "consumer" else {**settings, **QUICK}


class Diary(RebalanceListener):
    def __init__(self) -> None:
        self.lines: list[tuple[str, list[TopicPartition]]] = []

    def on_assigned(self, partitions: list[TopicPartition]) -> None:
        self.lines.append(("assigned", sorted(partitions)))

    def on_revoked(self, partitions: list[TopicPartition]) -> None:
        self.lines.append(("revoked", sorted(partitions)))

    def has(self) -> set[TopicPartition]:
        """What is left when all that was told is followed."""
        mine: set[TopicPartition] = set()
        for what, partitions in self.lines:
            mine = mine | set(partitions) if what == "assigned" else mine - set(partitions)
        return mine


def test_two_members_share_and_lose_nothing(
    consumer: MakeConsumer,
    make_topic: Callable[[int], str],
    produce: Produce,
    group: str,
    protocol: dict[str, object],
) -> None:
    topic = make_topic(4)
    everything = {TopicPartition(topic, number) for number in range(4)}
    for partition in range(4):
        produce(topic, numbers(50, 1_000 * partition), partition)
    diaries = [Diary(), Diary()]
    first = consumer(topic, group_id=group, listener=diaries[0], max_poll_records=7, **protocol)
    seen = read(first, 7)
    second = consumer(topic, group_id=group, listener=diaries[1], max_poll_records=7, **protocol)
    seen += poll_until(lambda: len(first.assignment()) == len(second.assignment()) == 2, first, second)
    assert set(first.assignment()) | set(second.assignment()) == everything
    for member, diary in zip((first, second), diaries, strict=True):
        assert diary.has() == set(member.assignment())
    for partition in range(4):
        produce(topic, numbers(50, 1_000 * partition + 50), partition)
    wanted = {value for partition in range(4) for value in numbers(100, 1_000 * partition)}
    seen += poll_until(lambda: ends_reached(topic, 100, first, second), first, second)
    assert set(values(seen)) == wanted
    second.close()
    assert not diaries[1].has()
    poll_until(lambda: set(first.assignment()) == everything, first)
    first.close()
    assert {committed_offset(consumer(group_id=group), topic, number) for number in range(4)} == {100}


def ends_reached(topic: str, end: int, *members: KafkaConsumer) -> bool:
    positions = {key: each.offset for member in members for key, each in member.positions().items()}
    return positions == {TopicPartition(topic, number): end for number in range(4)}


def test_what_was_processed_is_committed_before_partitions_go(
    consumer: MakeConsumer,
    make_topic: Callable[[int], str],
    produce: Produce,
    group: str,
    protocol: dict[str, object],
) -> None:
    """So that whoever gets them does not read again what was processed long ago, whatever the interval is."""
    topic = make_topic(2)
    for partition in range(2):
        produce(topic, numbers(10), partition)
    first = consumer(topic, group_id=group, auto_commit_interval_ms=600_000, **protocol)
    read(first, 20)
    assert first.poll(0.05) == []
    second = consumer(topic, group_id=group, **protocol)
    again = poll_until(lambda: len(first.assignment()) == len(second.assignment()) == 1, first, second)
    assert again == []
    moved = second.assignment()[0]
    assert committed_offset(second, topic, moved.partition) == 10


def test_seek_in_a_listener_decides_where_reading_starts(
    consumer: MakeConsumer, topic: str, produce: Produce, group: str, protocol: dict[str, object]
) -> None:
    produce(topic, numbers(10))
    one = consumer(group_id=group, **protocol)
    one.subscribe(topic, on_assigned=lambda partitions: [one.seek(each, 7) for each in partitions])
    assert values(read(one, 3)) == numbers(3, 7)


def test_commit_and_pause_in_listeners(
    consumer: MakeConsumer, topic: str, produce: Produce, group: str
) -> None:
    produce(topic, numbers(10))
    one = consumer(group_id=group, enable_auto_commit=False)
    one.subscribe(topic, on_assigned=one.pause, on_revoked=lambda partitions: one.commit())
    poll_until(lambda: one.paused(), one)
    assert one.poll(0.3) == []
    one.resume()
    read(one, 10)
    one.close()
    assert committed_offset(consumer(group_id=group), topic) == 10


def test_an_exception_in_a_listener_comes_out_of_poll_and_costs_no_record(
    consumer: MakeConsumer, topic: str, produce: Produce, group: str
) -> None:
    produce(topic, numbers(10))
    one = consumer(group_id=group)

    def fail(partitions: list[TopicPartition]) -> None:
        raise LookupError("no disk for these")

    one.subscribe(topic, on_assigned=fail)
    with pytest.raises(LookupError, match="no disk for these"):
        read(one, 10)
    assert values(read(one, 10)) == numbers(10)


def test_a_listener_that_cannot_listen_is_refused(consumer: MakeConsumer, topic: str, group: str) -> None:
    with pytest.raises(TypeError, match="takes an object with on_assigned, on_revoked or on_lost"):
        consumer(group_id=group).subscribe(topic, listener=object())


def test_a_member_that_was_stuck_is_told_that_it_lost_its_partitions(
    consumer: MakeConsumer, topic: str, produce: Produce, group: str
) -> None:
    """It did not poll for too long: another has them, and nothing of it may be committed any more."""
    produce(topic, numbers(10))
    lost: list[TopicPartition] = []
    stuck = consumer(group_id=group, session_timeout_ms=6_000, max_poll_interval_ms=6_000, max_poll_records=5)
    stuck.subscribe(topic, on_lost=lost.extend)
    assert values(read(stuck, 5)) == numbers(5)
    other = consumer(topic, group_id=group)
    assert values(read(other, 10)) == numbers(10)
    poll_until(lambda: lost, stuck)
    assert lost == [TopicPartition(topic, 0)]


def test_a_static_member_comes_back_without_a_rebalance(
    consumer: MakeConsumer, make_topic: Callable[[int], str], produce: Produce, group: str
) -> None:
    topic = make_topic(2)
    diary = Diary()
    stays = consumer(topic, group_id=group, group_instance_id="stays", listener=diary, **QUICK)
    leaves = consumer(topic, group_id=group, group_instance_id="leaves", **QUICK)
    poll_until(lambda: len(stays.assignment()) == len(leaves.assignment()) == 1, stays, leaves)
    before, lines = leaves.assignment(), list(diary.lines)
    leaves.close()
    comes_back = consumer(topic, group_id=group, group_instance_id="leaves", **QUICK)
    poll_until(lambda: comes_back.assignment(), stays, comes_back)
    assert comes_back.assignment() == before
    assert diary.lines == lines


def test_a_member_whose_name_another_has_taken_is_done_for(
    consumer: MakeConsumer, topic: str, group: str
) -> None:
    old = consumer(topic, group_id=group, group_instance_id="one", **QUICK)
    poll_until(lambda: old.assignment(), old)
    new = consumer(topic, group_id=group, group_instance_id="one", **QUICK)
    with pytest.raises(FatalError, match=r"group\.instance\.id"):
        poll_until(lambda: False, new, old)


def test_a_pattern_subscribes_what_it_matches_and_what_is_made_later(
    consumer: MakeConsumer, make_topic: Callable[..., str], produce: Produce, group: str
) -> None:
    orders, others = make_topic(1, f"orders{group}"), make_topic(1, f"others{group}")
    for topic in (orders, others):
        produce(topic, numbers(2))
    one = consumer(re.compile(rf"orders{group}-\d+"), group_id=group, metadata_max_age_ms=300, **QUICK)
    assert {record.topic for record in read(one, 2)} == {orders}
    assert one.subscription() == [orders]
    later = make_topic(1, f"orders{group}")
    produce(later, numbers(2))
    assert {record.topic for record in read(one, 2)} == {later}
    assert one.subscription() == sorted([orders, later])


def test_a_caret_makes_a_pattern_and_hides_internal_topics(
    consumer: MakeConsumer, make_topic: Callable[..., str], produce: Produce, group: str
) -> None:
    topic = make_topic(1, f"letters{group}")
    produce(topic, numbers(2))
    one = consumer(f"^(letters{group}|__consumer)", group_id=group)
    assert len(read(one, 2)) == 2
    assert one.subscription() == [topic]


def test_subscribe_and_assign_do_not_go_together(consumer: MakeConsumer, topic: str, group: str) -> None:
    one = consumer(topic, group_id=group)
    with pytest.raises(KafkaError, match=r"topics are subscribed; call unsubscribe\(\) first"):
        one.assign([TopicPartition(topic, 0)])
    one.unsubscribe()
    one.assign([TopicPartition(topic, 0)])
    with pytest.raises(KafkaError, match=r"assigned by hand; call unsubscribe\(\) first"):
        one.subscribe(topic)


def test_subscribe_again_takes_the_new_topics(
    consumer: MakeConsumer, make_topic: Callable[[int], str], produce: Produce, group: str
) -> None:
    before, after = make_topic(1), make_topic(1)
    produce(before, numbers(2))
    produce(after, numbers(2, 10))
    one = consumer(before, group_id=group, **QUICK)
    assert values(read(one, 2)) == numbers(2)
    one.subscribe(after)
    assert values(read(one, 2)) == numbers(2, 10)
    assert one.assignment() == [TopicPartition(after, 0)]
