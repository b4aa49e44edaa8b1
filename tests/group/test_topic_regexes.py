"""Regular expressions over many topics are matched a part at a time, since the event loop does it."""

from penstock.group.subscriptions import ResolvedRegex
from penstock.group.topic_regexes import MATCHES_AT_ONCE, resolve_some
from tests.group.consumers import Consumer, group_world, sender

TOPICS = [f"topic-{number}" for number in range(MATCHES_AT_ONCE // 2)]
REGEXES = [f"topic-{number}" for number in range(5)]


def test_so_many_at_once() -> None:
    found: dict[str, ResolvedRegex] = {}
    parts = [resolve_some(found, REGEXES, TOPICS, 1, 0) for _ in range(3)]
    assert parts == [False, False, True]
    assert {regex: resolved.topics for regex, resolved in found.items()} == {each: {each} for each in REGEXES}


def test_at_least_one() -> None:
    found: dict[str, ResolvedRegex] = {}
    assert resolve_some(found, ["t.*"], ["t"] * (MATCHES_AT_ONCE + 1), 1, 0)


def test_topics_that_changed_meanwhile_are_matched_again() -> None:
    found: dict[str, ResolvedRegex] = {}
    assert not resolve_some(found, REGEXES, TOPICS, 1, 0)
    for _ in range(len(REGEXES)):
        is_done = resolve_some(found, REGEXES, [*TOPICS, "new"], 2, 0)
    assert is_done
    assert {resolved.version for resolved in found.values()} == {2}


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
