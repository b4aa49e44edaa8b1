"""Where a consumer reads: seeking, pausing, and what it does where there is no offset to start from."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client.errors import KafkaError
from tests.client.consumer.conftest import MakeConsumer, Produce
from tests.client.consumer.reading import numbers, poll_until, read, values


@pytest.fixture
def letters(topic: str, produce: Produce) -> TopicPartition:
    """A partition of ten records, a second apart."""
    for number in range(10):
        produce(topic, numbers(1, number), timestamp=1_000 * (number + 1))
    return TopicPartition(topic, 0)


def test_seek_before_the_first_poll_and_after(consumer: MakeConsumer, letters: TopicPartition) -> None:
    one = consumer()
    one.assign([letters])
    one.seek(letters, 7)
    assert one.position(letters) == 7
    assert values(read(one, 3)) == numbers(3, 7)
    for offset in (2, 9, 0, 0):
        one.seek(letters, offset)
        assert one.position(letters) == offset
        assert values(read(one, 10 - offset)) == numbers(10 - offset, offset)
    assert one.position(letters) == 10


def test_seek_within_an_iteration(consumer: MakeConsumer, letters: TopicPartition) -> None:
    one = consumer(consumer_timeout_ms=30_000)
    one.assign([letters])
    seen = []
    for record in one:
        seen.append(record.value)
        if len(seen) == 3:
            one.seek(letters, 8)
        if len(seen) == 5:
            break
    assert seen == [*numbers(3), *numbers(2, 8)]


def test_seek_to_times_and_ends(consumer: MakeConsumer, letters: TopicPartition, produce: Produce) -> None:
    one = consumer()
    one.assign([letters])
    one.seek_to_time(4_500)
    assert read(one, 6)[0].timestamp_ms == 5_000
    one.seek_to_beginning()
    assert values(read(one, 10)) == numbers(10)
    one.seek_to_end([letters])
    produce(letters.topic, [b"new"])
    assert values(read(one, 1)) == [b"new"]
    one.seek_to_time(10_000_000_000_000)
    assert one.position(letters) == 11


def test_offsets_that_the_cluster_knows(consumer: MakeConsumer, letters: TopicPartition) -> None:
    one = consumer()
    assert one.beginning_offsets([letters]) == {letters: 0}
    assert one.end_offsets([letters]) == {letters: 10}
    assert one.offsets_for_times({letters: 2_000}) == {letters: 1}
    assert one.offsets_for_times({letters: 10_000_000_000_000}) == {letters: None}
    assert one.partitions_for(letters.topic) == [letters]
    assert one.topics()[letters.topic] == [letters]
    with pytest.raises(KafkaError, match="topic no-such-topic does not exist"):
        one.partitions_for("no-such-topic")
    with pytest.raises(KafkaError, match=r"offsets of .*-7: ") as raised:
        one.end_offsets([TopicPartition(letters.topic, 7)])
    assert raised.value.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_what_is_not_assigned_cannot_be_sought(consumer: MakeConsumer, letters: TopicPartition) -> None:
    one = consumer()
    for call in (
        lambda: one.seek(letters, 1),
        lambda: one.pause([letters]),
        lambda: one.resume([letters]),
        lambda: one.position(letters),
    ):
        with pytest.raises(KafkaError, match="is not assigned to this consumer"):
            call()
    one.assign([letters])
    with pytest.raises(ValueError, match="got offset -1"):
        one.seek(letters, -1)


def test_assign_again_keeps_what_stays(
    consumer: MakeConsumer, make_topic: Callable[[int], str], produce: Produce
) -> None:
    topic = make_topic(2)
    first, second = TopicPartition(topic, 0), TopicPartition(topic, 1)
    produce(topic, numbers(4), 0)
    produce(topic, numbers(4, 100), 1)
    one = consumer()
    one.assign([first])
    assert values(read(one, 4)) == numbers(4)
    one.assign([first, second])
    assert values(read(one, 4)) == numbers(4, 100)
    one.assign({first: 2})
    assert one.assignment() == [first]
    assert values(read(one, 2)) == numbers(2, 2)


def test_paused_partitions_rest_and_others_do_not(
    consumer: MakeConsumer, make_topic: Callable[[int], str], produce: Produce
) -> None:
    topic = make_topic(2)
    resting, working = TopicPartition(topic, 0), TopicPartition(topic, 1)
    produce(topic, numbers(4), 0)
    produce(topic, numbers(4, 100), 1)
    one = consumer()
    one.assign([resting, working])
    one.pause([resting])
    assert one.paused() == [resting]
    assert values(read(one, 4)) == numbers(4, 100)
    produce(topic, numbers(1, 200), 1)
    assert values(read(one, 1)) == numbers(1, 200)
    one.resume()
    assert values(read(one, 4)) == numbers(4)


def test_pause_within_an_iteration_holds_back_what_was_fetched(
    consumer: MakeConsumer, letters: TopicPartition
) -> None:
    one = consumer(consumer_timeout_ms=1_000)
    one.assign([letters])
    seen = []
    for record in one:
        seen.append(record.value)
        if len(seen) == 3:
            one.pause()
    assert seen == numbers(3)
    assert one.position(letters) == 3
    one.resume()
    assert values(read(one, 7)) == numbers(7, 3)


@pytest.mark.parametrize(("reset", "expected"), [("earliest", 10), ("latest", 0)])
def test_without_an_offset_it_starts_where_it_is_told(
    consumer: MakeConsumer, letters: TopicPartition, group: str, reset: str, expected: int, produce: Produce
) -> None:
    for settings in ({"group_id": group}, {}):
        one = consumer(auto_offset_reset=reset, **settings)
        one.assign([letters])
        assert one.position(letters) == 10 - expected
        poll_until(lambda one=one: one.state.waits_for.name == "RECORDS", one)
        one.seek(letters, 0)  # what the reset gave away is not lost for good
        assert len(read(one, 10)) == 10


def test_an_offset_that_is_gone_is_reset_or_raised(
    consumer: MakeConsumer, letters: TopicPartition, group: str
) -> None:
    one = consumer(auto_offset_reset="earliest")
    one.assign({letters: 5_000})
    assert values(read(one, 10)) == numbers(10)
    for settings in ({"group_id": group}, {}):
        none = consumer(auto_offset_reset="none", **settings)
        none.assign({letters: 5_000})
        with pytest.raises(KafkaError, match=r"seek, or set auto\.offset\.reset") as raised:
            read(none, 1)
        assert raised.value.code == ErrorCode.OFFSET_OUT_OF_RANGE
        none.seek(letters, 9)
        assert values(read(none, 1)) == numbers(1, 9)


def test_a_group_without_an_offset_is_told_to_seek(
    consumer: MakeConsumer, letters: TopicPartition, group: str
) -> None:
    one = consumer(letters.topic, group_id=group, auto_offset_reset="none")
    with pytest.raises(KafkaError, match=r"auto\.offset\.reset"):
        read(one, 1)
    one.seek(letters, 4)
    assert values(read(one, 6)) == numbers(6, 4)


def test_read_of_very_many_partitions(
    consumer: MakeConsumer, make_topic: Callable[[int], str], produce: Produce, group: str
) -> None:
    topic = make_topic(120)  # more than positions are asked for
    for partition in (0, 50, 119):
        produce(topic, numbers(3), partition)
    one = consumer(topic, group_id=group)
    assert len(read(one, 9)) == 9
    assert {key.partition: each.offset for key, each in one.positions().items()} == {0: 3, 50: 3, 119: 3}
    assert {key.partition: each.offset for key, each in one.commit().items()} == {0: 3, 50: 3, 119: 3}
