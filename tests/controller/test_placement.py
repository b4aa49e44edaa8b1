"""Where replicas go: spread over racks, and over brokers."""

from __future__ import annotations

from collections import Counter
from itertools import chain

from hypothesis import assume, given
from hypothesis import strategies as st

from penstock.controller.image import BrokerImage
from penstock.controller.placement import decide_replicas, in_line, racks_to_fill

any_racks = st.dictionaries(st.integers(0, 50), st.sampled_from(["", "a", "b", "c", "d"]), min_size=1)
partitions = st.builds(
    lambda first, count: range(first, first + count), st.integers(0, 20), st.integers(1, 40)
)


def test_brokers_of_different_racks_in_turn() -> None:
    assert in_line({1: "a", 2: "a", 3: "a", 4: "b", 5: "c", 6: "c"}) == [1, 4, 5, 2, 6, 3]
    assert in_line({3: "", 1: "", 2: ""}) == [1, 2, 3]


def test_who_leaves_gets_nothing_new() -> None:
    brokers = {
        1: BrokerImage(1, {}, "a"),
        2: BrokerImage(2, {}, "b", is_leaving=True),
        3: BrokerImage(3, {}, None),
    }
    assert racks_to_fill(brokers) == {1: "a", 3: ""}


def test_without_racks_followers_shift_with_each_turn() -> None:
    assert decide_replicas(range(6), 2, {1: "", 2: "", 3: ""}, 0) == {
        0: (1, 2),
        1: (2, 3),
        2: (3, 1),
        3: (1, 3),
        4: (2, 1),
        5: (3, 2),
    }


@given(any_racks, partitions, st.integers(1, 6), st.integers(0, 100))
def test_on_as_many_racks_as_possible(
    racks: dict[int, str], indexes: range, replication_factor: int, start: int
) -> None:
    assume(replication_factor <= len(racks))
    placed = decide_replicas(indexes, replication_factor, racks, start)
    assert list(placed) == list(indexes)
    for replicas in placed.values():
        assert len(replicas) == len(set(replicas)) == replication_factor
        assert len({racks[one] for one in replicas}) == min(replication_factor, len(set(racks.values())))


@given(any_racks, partitions, st.integers(1, 6), st.integers(0, 100))
def test_leaders_are_balanced(
    racks: dict[int, str], indexes: range, replication_factor: int, start: int
) -> None:
    assume(replication_factor <= len(racks))
    led = Counter(dict.fromkeys(racks, 0))
    led.update(each[0] for each in decide_replicas(indexes, replication_factor, racks, start).values())
    assert max(led.values()) - min(led.values()) <= 1


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 5), st.integers(1, 16), st.integers(0, 100))
def test_replicas_are_balanced_where_racks_are_equal(
    rack_count: int, brokers_of_each: int, turns: int, replication_factor: int, start: int
) -> None:
    racks = {number: f"rack-{number % rack_count}" for number in range(rack_count * brokers_of_each)}
    assume(replication_factor <= len(racks))
    placed = decide_replicas(range(turns * len(racks)), replication_factor, racks, start)
    has = Counter(chain.from_iterable(placed.values()))
    assert set(has.values()) == {turns * replication_factor}


def test_what_a_broker_leads_is_followed_by_all_others() -> None:
    """When it fails, they share its work."""
    racks = {number: f"rack-{number % 3}" for number in range(9)}
    placed = decide_replicas(range(9 * 12), 3, racks, 0)
    for leader in racks:
        followers = {one for each in placed.values() if each[0] == leader for one in each[1:]}
        assert followers == {one for one in racks if racks[one] != racks[leader]}
