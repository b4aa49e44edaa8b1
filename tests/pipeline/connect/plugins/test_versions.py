"""Versions and their ranges, as Maven orders them."""

from __future__ import annotations

import pytest

from penstock.errors import ConfigError
from penstock.pipeline.connect.plugins.versions import Version, parse_range

IN_ORDER = [
    "1-alpha",
    "1-beta",
    "1-milestone",
    "1-rc",
    "1-SNAPSHOT",
    "1",
    "1-sp",
    "1-xyz",
    "1.1",
    "1.2",
    "1.10",
    "2",
]


def test_order() -> None:
    assert [each.text for each in sorted(map(Version, reversed(IN_ORDER)))] == IN_ORDER


def test_trailing_zeros_say_nothing() -> None:
    assert Version("1.0.0") == Version("1") == Version("1-final")


@pytest.mark.parametrize(
    ("spec", "inside", "outside"),
    [
        ("1.2", ["1.2", "1.2.0"], ["1.1", "1.2.1"]),
        ("[1.2]", ["1.2"], ["1.3"]),
        ("[1.0,2.0)", ["1.0", "1.9.9"], ["0.9", "2.0"]),
        ("(1.0,]", ["1.0.1", "7"], ["1.0"]),
        ("(,1.0],[1.2,)", ["0.1", "1.0", "1.2", "3"], ["1.1"]),
    ],
)
def test_ranges(spec: str, inside: list[str], outside: list[str]) -> None:
    found = parse_range(spec)
    assert found is not None
    assert all(Version(each) in found for each in inside)
    assert not any(Version(each) in found for each in outside)


def test_latest_is_no_range() -> None:
    assert parse_range(None) is None
    assert parse_range("latest") is None


@pytest.mark.parametrize("spec", ["[1.0", "1.0]", "[2.0,1.0]", "(1.0)", "[1,2,3]", "[1.0,2.0)x"])
def test_what_is_no_range(spec: str) -> None:
    with pytest.raises(ConfigError, match=r"range|Range"):
        parse_range(spec)
