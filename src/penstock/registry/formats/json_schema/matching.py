"""Pairing the members of two lists, each with at most one of the other list, so that as many as can be are paired."""

from __future__ import annotations

from collections.abc import Sequence


def largest_matching(choices: Sequence[Sequence[int]]) -> dict[int, int]:
    """`choices[left]` are the right members that `left` could go with; the answer is left -> right.

    An unpaired left member looks for a right one that is free, or whose partner could take another (and so on),
    breadth first; then all on the way to the free one move over.
    """
    taken_by: dict[int, int] = {}
    pairs: dict[int, int] = {}
    for start in range(len(choices)):
        asked_by: dict[int, int] = {}
        free = _free_right(start, choices, taken_by, asked_by)
        while free is not None:
            left = asked_by[free]
            taken_by[free] = left
            given_up = pairs.get(left)
            pairs[left] = free
            free = given_up
    return pairs


def _free_right(
    start: int, choices: Sequence[Sequence[int]], taken_by: dict[int, int], asked_by: dict[int, int]
) -> int | None:
    asking = [start]
    for left in asking:
        for right in choices[left]:
            if right in asked_by:
                continue
            asked_by[right] = left
            if right not in taken_by:
                return right
            asking.append(taken_by[right])
    return None
