"""That the checks of the group tests would notice what they are there for."""

import struct

import pytest

from tests.faults.group_view import GroupView, OffsetObserver, decode_assignment


def observed(*looks: list[int]) -> OffsetObserver:
    observer = OffsetObserver("127.0.0.1:1", "group", "topic", 2)
    for offsets in looks:
        observer.note(offsets)
    return observer


def test_offsets_that_grow_are_fine() -> None:
    observed([-1, -1], [-1, 5], [3, 5], [3, 6]).check()


def test_an_offset_that_goes_back_is_noticed() -> None:
    with pytest.raises(AssertionError, match="partition 1: from 5 to 4"):
        observed([3, 5], [4, 4], [5, 6]).check()


def test_an_offset_that_is_forgotten_is_noticed() -> None:
    with pytest.raises(AssertionError, match="partition 0: from 3 to -1"):
        observed([3, 5], [-1, 5]).check()


@pytest.mark.parametrize(
    ("state", "owned"),
    [
        ("PreparingRebalance", {"a": (0, 1), "b": (2,)}),
        ("Stable", {"a": (0, 1), "b": ()}),
        ("Stable", {"a": (0, 1), "b": (1, 2)}),
        ("Stable", {"a": (0, 1, 2)}),
    ],
)
def test_a_group_that_is_not_settled(state: str, owned: dict[str, tuple[int, ...]]) -> None:
    assert not GroupView(state, -1, owned).is_settled(members=2, partitions=3)


def test_a_settled_group() -> None:
    assert GroupView("Stable", -1, {"a": (2, 0), "b": (1,)}).is_settled(members=2, partitions=3)


def test_the_assignment_of_a_classic_member() -> None:
    assignment = struct.pack(">hih5si3ii", 0, 1, 5, b"foods", 3, 4, 0, 7, -1)
    assert decode_assignment(assignment) == [4, 0, 7]
    assert decode_assignment(b"") == []
