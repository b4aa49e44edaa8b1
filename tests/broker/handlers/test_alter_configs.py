"""Lists that grow and shrink by what is appended and subtracted."""

from __future__ import annotations

import random

from penstock.broker.handlers.alter_configs import appended, without


def test_what_is_there_is_not_appended_again() -> None:
    assert appended(["a", "b", "b"], ["c", "b", "c", "d"]) == ["a", "b", "b", "c", "d"]


def test_what_is_subtracted_once_is_taken_out_once() -> None:
    assert without(["a", "b", "a", "c", "a"], ["a", "c", "a", "x"]) == ["b", "a"]


def test_as_element_by_element() -> None:
    chance = random.Random(16)
    for _ in range(500):
        items, said = (chance.choices("abcdef", k=chance.randrange(9)) for _ in range(2))
        more, fewer = list(items), list(items)
        for item in said:
            if item not in more:
                more.append(item)
            if item in fewer:
                fewer.remove(item)
        assert appended(items, said) == more
        assert without(items, said) == fewer
