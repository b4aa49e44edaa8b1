"""No pattern takes longer than a moment, whoever wrote it."""

from __future__ import annotations

import time

import pytest

from penstock.bounded_patterns import UnboundedPattern, bounded_pattern

A_MOMENT_SECONDS = 2.0


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("^(a+)+$", "a" * 40 + "!"),
        ("^(a|a)*$", "a" * 40 + "!"),
        ("(x{0,1000})" * 40, "x" * 300),
        ("^(?=a)(a+)+$", "a" * 40 + "!"),
        ("^(?=a)(a|a)*$", "a" * 40 + "!"),
        ("(?!b)(a{0,16}){0,16}$", "a" * 300 + "b"),
        ("(?!b)" + "a?" * 40 + "a" * 40, "a" * 40),
        ("(?!b)a*a*a*a*$", "a" * 250 + "b"),
        ("(?!b)a*a*$", "a" * 249 + "b"),
        (r"(a*)\1(a*)$", "a" * 249 + "b"),
        ("(?!b)a*$", "a" * 2_000_000 + "b"),
        (r"\p{L}" * 2000, "a"),
        ("(x{0,1000})" * 900, "x"),
        ("(.?){400}z", "t" * 10_000_000),
        ("(?!b)(?:(?:(?:(?:a?){9}){9}){9}){9}$", "a" * 200 + "b"),
    ],
)
def test_what_could_run_away_does_not(pattern: str, text: str) -> None:
    began = time.monotonic()
    try:
        assert bounded_pattern(pattern).search(text) is None or pattern.startswith("(x")
    except UnboundedPattern as refused:
        assert str(refused)  # noqa: PT017
    assert time.monotonic() - began < A_MOMENT_SECONDS


@pytest.mark.parametrize(
    "pattern", ["(.?){400}z", "(a|ab|abc|b)*(x{0,500}|t{0,500})*z$", r"^\pL+(.|..){300}z"]
)
@pytest.mark.parametrize("text", ["t" * 20_000, "\u0416" * 5_000], ids=["ascii", "cyrillic"])
def test_it_says_how_long_a_search_takes_at_most(pattern: str, text: str) -> None:
    bounded = bounded_pattern(pattern)
    began = time.thread_time()
    bounded.search(text)
    assert time.thread_time() - began < 2 * bounded.seconds(text), "twice, on a busy machine"


@pytest.mark.parametrize(
    ("pattern", "text", "fits"),
    [
        ("^(a+)+$", "aaa", True),
        (r"^\p{L}+$", "żółw", True),
        ("^(?!internal_)[a-z_]+$", "orders", True),
        ("^(?!internal_)[a-z_]+$", "internal_orders", False),
        (r"^(?=.*\d)[a-z\d]{4,8}$", "abc1", True),
        (r"(.)\1", "aab", True),
        (".", "\ud800", True),
        ("^x-", "X-", False),
    ],
)
def test_others_match_as_they_should(pattern: str, text: str, fits: bool) -> None:
    assert (bounded_pattern(pattern).search(text) is not None) is fits
