"""The order of Java's hash maps; what is expected was printed by Java."""

from __future__ import annotations

import pytest

from penstock.cli.tools.common.java_order import capacity_of_copy, hash_code, in_hash_order
from penstock.types import TopicPartition


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("", 0),
        ("hello", 99162322),
        ("a-topic-with-a-long-name", 2220972563),
        ("größe", 98762257),
        ("🙂", 1772965),
        (7, 7),
        (-1, 0xFFFFFFFF),
        (TopicPartition("t", 3), 31 * (31 + 3) + ord("t")),
    ],
)
def test_hashes(key: object, expected: int) -> None:
    assert hash_code(key) == expected


@pytest.mark.parametrize(
    "expected",
    [
        [1, 0, 2],
        [1, 10, 0, 12, 11, 5, 4, 3, 2, 9, 8, 7, 6],
        [
            *(18, 17, 19, 14, 13, 16, 15, 1, 10, 0, 12, 11, 5, 4, 3, 2, 9, 8, 7, 6, 29, 28, 25, 24, 27, 26),
            21,
            20,
            23,
            22,
        ],
    ],
    ids=len,
)
def test_maps_that_grow(expected: list[int]) -> None:
    keys = [f"key-{number}" for number in range(len(expected))]
    assert in_hash_order(keys) == [f"key-{number}" for number in expected]


def test_numbers_that_share_a_bucket_stay_as_they_came() -> None:
    assert in_hash_order([33, 1, 17, 2, 100, 1]) == [33, 1, 17, 2, 100]


def test_maps_with_a_capacity() -> None:
    assert in_hash_order([f"key-{number}" for number in range(5)], 5) == [
        "key-1",
        "key-0",
        "key-4",
        "key-3",
        "key-2",
    ]
    topics = ["reset", "a-topic-with-a-name-of-more-than-24-letters"]
    assert in_hash_order(topics, len(topics)) == topics
    assert in_hash_order(reversed(topics), len(topics)) == topics[::-1]


@pytest.mark.parametrize(("size", "capacity"), [(0, 16), (2, 3), (3, 5), (12, 17)])
def test_maps_that_are_copies(size: int, capacity: int) -> None:
    assert capacity_of_copy(size) == capacity
