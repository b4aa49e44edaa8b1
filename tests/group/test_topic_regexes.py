"""Regular expressions over many topics are matched a turn at a time, since the event loop does it."""

import time
from collections.abc import Collection, Iterable

import pytest

from penstock.bounded_patterns import MOST_CHARACTER_CLASSES
from penstock.errors import ApiError, ErrorCode
from penstock.group.topic_regexes import (
    COST_AT_ONCE,
    COST_OF_A_MATCH,
    Matching,
    check_regex,
)
from tests.group.consumers import Consumer, group_world, sender

TOPICS = [f"topic-{number}" for number in range(COST_AT_ONCE // COST_OF_A_MATCH)]
REGEXES = [f"topic-{number}" for number in range(5)]
SLOW = "(.?){400}z"
"""RE2 takes 1 ms to see that it does not match a long name."""
LONG_NAMES = [f"{number:04}".ljust(249, "t") for number in range(300)]
A_TURN_SECONDS = 0.05


def turns(matching: Matching, regexes: Iterable[str], topics: Collection[str], version: int = 1) -> int:
    count = 1
    while not matching.take_turn(regexes, topics, version):
        count += 1
    return count


def found(matching: Matching, regexes: Iterable[str], topics: Collection[str]) -> dict[str, set[str]]:
    return {regex: set(each.topics) for regex, each in matching.resolved(regexes, topics, 1, 0).items()}


def test_few_topics_take_one_turn() -> None:
    matching = Matching()
    assert turns(matching, REGEXES, TOPICS[:100]) == 1
    assert found(matching, REGEXES, TOPICS) == {each: {each} for each in REGEXES}


def test_many_take_several() -> None:
    matching = Matching()
    assert turns(matching, REGEXES, TOPICS) in range(len(REGEXES), 3 * len(REGEXES))
    assert found(matching, REGEXES, TOPICS) == {each: {each} for each in REGEXES}


def test_one_expression_takes_as_many_turns_as_it_is_slow() -> None:
    matching = Matching()
    longest, is_done = 0.0, False
    while not is_done:
        began = time.thread_time()
        is_done = matching.take_turn([SLOW, "0.*"], LONG_NAMES, 1)
        longest = max(longest, time.thread_time() - began)
    assert longest < A_TURN_SECONDS
    assert found(matching, [SLOW, "0.*"], LONG_NAMES) == {SLOW: set(), "0.*": set(LONG_NAMES)}


def test_topics_that_come_and_go_meanwhile() -> None:
    """Nothing is done again, so that it ends though topics change in every turn."""
    matching, topics = Matching(), list(LONG_NAMES)
    turn, is_done = 0, False
    while not is_done:
        turn += 1
        is_done = matching.take_turn(["0.*", SLOW], topics, turn)
        topics = [*topics[1:], f"0-new-{turn}"]
    assert turn < 2 * len(LONG_NAMES)
    assert found(matching, ["0.*"], topics[:-1]) == {"0.*": set(topics[:-1])}


def test_a_group_whose_expressions_take_several_turns() -> None:
    world = group_world()
    for topic in TOPICS:
        world.put_topic(topic, 1)
    consumers = [
        Consumer(sender(world), f"m{number}", [], regex=regex) for number, regex in enumerate(REGEXES)
    ]
    for _ in range(4):
        for consumer in consumers:
            consumer.beat()
        world.advance(11_000)
    assert [len(consumer.owned) for consumer in consumers] == [1] * len(REGEXES)


def test_groups_take_turns() -> None:
    world = group_world()
    for topic in LONG_NAMES:
        world.put_topic(topic, 1)
    consumers = [
        Consumer(sender(world), "m", [], regex=f"{SLOW}|{number}.*", group_id=f"g{number}")
        for number in range(2)
    ]
    for _ in range(4):
        for consumer in consumers:
            consumer.beat()
        world.advance(11_000)
    assert [len(consumer.owned) for consumer in consumers] == [len(LONG_NAMES), 0]


def test_a_refused_write_does_not_stop_the_others() -> None:
    world = group_world()
    for topic in ("apple", "banana"):
        world.put_topic(topic, 1)
    first, second = (
        Consumer(sender(world), "m", [], regex=f"{topic}.*", group_id=topic) for topic in ("apple", "banana")
    )
    first.beat()
    second.beat()
    world.refuse_writes = ApiError(ErrorCode.NOT_ENOUGH_REPLICAS)
    world.advance(1)
    world.refuse_writes = None
    for _ in range(3):
        world.advance(11_000)
        second.beat()
    assert len(second.owned) == 1


@pytest.mark.parametrize(
    "regex",
    [
        "(x{0,1000})" * 2900,
        r"\p{L}" * (MOST_CHARACTER_CLASSES + 1),
        r"\p{L}" * 6000,
        "a" * 30_000,
        "(x{9}){2000}",
    ],
    ids=lambda regex: regex[:20],
)
def test_one_that_is_too_large_is_refused_in_a_moment(regex: str) -> None:
    began = time.thread_time()
    with pytest.raises(ApiError, match=r"pattern too large|bad repetition|invalid repetition") as refused:
        check_regex(regex)
    assert refused.value.code == ErrorCode.INVALID_REGULAR_EXPRESSION
    assert time.thread_time() - began < A_TURN_SECONDS


def test_a_long_one_of_use_is_taken() -> None:
    check_regex("|".join(rf"orders-\p{{Lu}}{number}-\d{{1,3}}" for number in range(15)))
    check_regex("|".join(f"name-of-topic-{number}" for number in range(500)))
