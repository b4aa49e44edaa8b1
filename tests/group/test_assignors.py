"""The assignors: a partition has one owner, among those who want it; balance first, then as little change as can be."""

from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.group.assignors import MemberSpec, assign_range, assign_uniform
from penstock.group.modern_group import Assignment
from tests.support.examples import examples

A, B, C, D = (bytes(15) + bytes([number]) for number in range(1, 5))
Assigned = Mapping[str, Assignment]


def member(
    name: str, topics: set[bytes], partitions: Assignment | None = None, instance_id: str | None = None
) -> MemberSpec:
    return MemberSpec(name, instance_id, None, frozenset(topics), partitions or {})


def after(members: list[MemberSpec], assigned: Assigned) -> list[MemberSpec]:
    """The same members, with what they were given."""
    return [one._replace(partitions=assigned[one.member_id]) for one in members]


def places(partitions: Assignment) -> set[tuple[bytes, int]]:
    return {(topic_id, partition) for topic_id in partitions for partition in partitions[topic_id]}


def sizes(assigned: Assigned) -> dict[str, int]:
    return {name: len(places(partitions)) for name, partitions in assigned.items()}


def check_complete(members: list[MemberSpec], counts: Mapping[bytes, int], assigned: Assigned) -> None:
    owned = [place for partitions in assigned.values() for place in places(partitions)]
    wanted = {topic_id for one in members for topic_id in one.topics}
    assert sorted(owned) == sorted(
        (topic_id, index) for topic_id in wanted for index in range(counts[topic_id])
    )
    for one in members:
        assert assigned[one.member_id].keys() <= one.topics
        assert all(assigned[one.member_id].values()), "no topic without partitions"


# uniform


def test_uniform_gives_everybody_the_same() -> None:
    members = [member(name, {A, B}) for name in ("m1", "m2", "m3")]
    assigned = assign_uniform(members, {A: 4, B: 4})
    assert sorted(sizes(assigned).values()) == [2, 3, 3]
    check_complete(members, {A: 4, B: 4}, assigned)


def test_uniform_moves_only_what_a_new_member_needs() -> None:
    old = [member("m1", {A}, {A: frozenset({0, 1, 2})}), member("m2", {A}, {A: frozenset({3, 4, 5})})]
    assigned = assign_uniform([*old, member("m3", {A})], {A: 6})
    assert sizes(assigned) == {"m1": 2, "m2": 2, "m3": 2}
    assert all(places(assigned[one.member_id]) < places(one.partitions) for one in old)


def test_uniform_keeps_what_members_have_when_one_leaves() -> None:
    old = [member("m1", {A}, {A: frozenset({0, 1})}), member("m2", {A}, {A: frozenset({2, 3})})]
    assigned = assign_uniform(old, {A: 6})
    assert sizes(assigned) == {"m1": 3, "m2": 3}
    assert all(places(one.partitions) < places(assigned[one.member_id]) for one in old)


def test_uniform_leaves_alone_what_is_fine() -> None:
    old = [member("m1", {A}, {A: frozenset({0, 3})}), member("m2", {A}, {A: frozenset({1, 2})})]
    assigned = assign_uniform(old, {A: 4})
    assert all(assigned[one.member_id] is one.partitions for one in old)


def test_uniform_takes_away_topics_that_nobody_wants_any_more() -> None:
    assigned = assign_uniform([member("m1", {A}, {A: frozenset({0}), B: frozenset({0, 1})})], {A: 2})
    assert assigned == {"m1": {A: frozenset({0, 1})}}


def test_uniform_with_nobody_and_nothing() -> None:
    assert assign_uniform([], {}) == {}
    assert assign_uniform([member("m1", set())], {}) == {"m1": {}}


def test_uniform_with_more_members_than_partitions() -> None:
    members = [member(name, {A}) for name in ("m1", "m2", "m3")]
    assert sorted(sizes(assign_uniform(members, {A: 2})).values()) == [0, 1, 1]


def test_uniform_balances_members_with_different_wishes() -> None:
    members = [member("m1", {A}), member("m2", {A, B}), member("m3", {B, C})]
    counts = {A: 3, B: 3, C: 3}
    assigned = assign_uniform(members, counts)
    check_complete(members, counts, assigned)
    assert sizes(assigned) == {"m1": 3, "m2": 3, "m3": 3}


def test_uniform_keeps_different_wishes_where_they_are() -> None:
    members = [member("m1", {A}), member("m2", {A, B}), member("m3", {B, C})]
    counts = {A: 5, B: 4, C: 2}
    first = assign_uniform(members, counts)
    assert assign_uniform(after(members, first), counts) == first


def test_uniform_lets_the_only_subscriber_have_it_all() -> None:
    members = [member("m1", {A, B}), member("m2", {B})]
    assigned = assign_uniform(members, {A: 6, B: 4})
    assert sizes(assigned) == {"m1": 6, "m2": 4}


TOPIC_COUNTS = st.fixed_dictionaries({topic_id: st.integers(1, 12) for topic_id in (A, B, C, D)})
WISHES = st.lists(st.sets(st.sampled_from([A, B, C, D])), min_size=1, max_size=7)


@settings(max_examples=examples(200), deadline=None)
@given(wishes=st.lists(WISHES, min_size=1, max_size=4), counts=TOPIC_COUNTS)
def test_uniform_always(wishes: list[list[set[bytes]]], counts: dict[bytes, int]) -> None:
    """Members come, go and change their minds; each time from where they were."""
    had: Assigned = {}
    for wanted in wishes:
        members = [
            member(f"m{index}", topics, had.get(f"m{index}", {})) for index, topics in enumerate(wanted)
        ]
        assigned = assign_uniform(members, counts)
        check_complete(members, counts, assigned)
        check_no_move_helps(members, assigned)
        if all(topics == wanted[0] for topics in wanted):
            check_sticky(members, assigned)
        had = assigned


def check_no_move_helps(members: list[MemberSpec], assigned: Assigned) -> None:
    loads = sizes(assigned)
    for giver in members:
        for topic_id in assigned[giver.member_id]:
            for taker in members:
                if topic_id in taker.topics:
                    assert loads[giver.member_id] - loads[taker.member_id] <= 1


def check_sticky(members: list[MemberSpec], assigned: Assigned) -> None:
    """Nobody that gets something new has lost something that it could have kept."""
    for one in members:
        had = {place for place in places(one.partitions) if place[0] in one.topics}
        has = places(assigned[one.member_id])
        assert has <= had or had <= has


# range


def test_range_gives_the_same_numbers_of_all_topics() -> None:
    assigned = assign_range([member("m2", {A, B}), member("m1", {A, B})], {A: 3, B: 3})
    assert assigned == {
        "m1": {A: frozenset({0, 1}), B: frozenset({0, 1})},
        "m2": {A: frozenset({2}), B: frozenset({2})},
    }


def test_range_puts_static_members_first_by_instance() -> None:
    members = [
        member("m1", {A}),
        member("m3", {A}, instance_id="i1"),
        member("m2", {A}, instance_id="i2"),
    ]
    assert assign_range(members, {A: 4}) == {
        "m3": {A: frozenset({0, 1})},
        "m2": {A: frozenset({2})},
        "m1": {A: frozenset({3})},
    }


def test_range_with_different_wishes() -> None:
    assigned = assign_range(
        [member("m1", {A, B}), member("m2", {A}), member("m3", {B, C})], {A: 3, B: 3, C: 2}
    )
    assert assigned == {
        "m1": {A: frozenset({0, 1}), B: frozenset({0, 1})},
        "m2": {A: frozenset({2})},
        "m3": {B: frozenset({2}), C: frozenset({0, 1})},
    }


def test_range_with_more_members_than_partitions() -> None:
    members = [member(name, {A}) for name in ("m1", "m2", "m3")]
    assert assign_range(members, {A: 2}) == {"m1": {A: frozenset({0})}, "m2": {A: frozenset({1})}, "m3": {}}


@settings(max_examples=examples(100), deadline=None)
@given(wanted=WISHES, counts=TOPIC_COUNTS)
def test_range_always(wanted: list[set[bytes]], counts: dict[bytes, int]) -> None:
    members = [member(f"m{index}", topics) for index, topics in enumerate(wanted)]
    assigned = assign_range(members, counts)
    check_complete(members, counts, assigned)
    for partitions in assigned.values():
        for mine in partitions.values():
            assert mine == set(range(min(mine), max(mine) + 1))
