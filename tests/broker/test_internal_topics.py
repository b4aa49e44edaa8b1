"""Which partition of an internal topic a key belongs to; the hashes are what Java's `String.hashCode` says."""

import pytest

from penstock.broker.internal_topics import partition_for
from penstock.java_hash import java_hash


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("", 0),
        ("a", 97),
        ("hello", 99162322),
        ("consumers", -421004483),
        ("polygenelubricants", -(1 << 31)),
        ("\U0001f600", 1772899),
    ],
)
def test_java_hash(key: str, code: int) -> None:
    assert java_hash(key) == code


def test_partition_for() -> None:
    assert partition_for("hello", 50) == 22
    assert partition_for("consumers", 50) == 33
    assert partition_for("polygenelubricants", 50) == 0
