"""A table that is one test fails as the tests of its rows would, and says which."""

import pytest

from tests.support.rows import each_row


def test_every_row_runs_although_others_fail() -> None:
    seen: list[tuple[int, int]] = []

    @each_row(("one", "other"), [(1, 1), (1, 2), (3, 3), (4, 5)])
    def compare(one: int, other: int) -> None:
        seen.append((one, other))
        assert one == other

    with pytest.raises(AssertionError) as caught:
        compare()
    assert seen == [(1, 1), (1, 2), (3, 3), (4, 5)]
    lines = str(caught.value).splitlines()
    assert lines[0] == "2 of 4 rows:"
    assert [line for line in lines if line.startswith("row ")] == ["row 1: 1, 2", "row 3: 4, 5"]
    assert str(caught.value.__cause__).startswith("assert 1 == 2")


def test_rows_that_are_true_pass() -> None:
    seen: list[str] = []
    each_row("text", ["a", "b"])(lambda text: seen.append(text))()
    assert seen == ["a", "b"]


def test_tables_on_tables_try_all_pairs() -> None:
    seen: list[tuple[int, str]] = []

    @each_row("number", [1, 2])
    @each_row("text", ["a", "b"], str.upper)
    def collect(number: int, text: str) -> None:
        seen.append((number, text))
        assert (number, text) != (2, "b")

    with pytest.raises(
        AssertionError, match=r"1 of 2 rows:\nrow 1: 2\n  AssertionError: 1 of 2 rows:\nrow 1: B"
    ):
        collect()
    assert seen == [(1, "a"), (1, "b"), (2, "a"), (2, "b")]


@pytest.mark.parametrize("error", [pytest.fail.Exception, pytest.skip.Exception, OSError])
def test_whatever_ends_a_row_early_is_a_failure(error: type[BaseException]) -> None:
    @each_row("number", [1, 2])
    def stop(number: int) -> None:
        raise error(number)

    with pytest.raises(AssertionError, match="2 of 2 rows"):
        stop()


@each_row("number", [1, 2])
def test_fixtures_are_given_to_all_rows(number: int, request: pytest.FixtureRequest) -> None:
    assert request.node.name == "test_fixtures_are_given_to_all_rows"
    assert number in (1, 2)


def test_a_table_has_rows_of_its_columns() -> None:
    with pytest.raises(AssertionError, match="without rows"):
        each_row("number", [])
    with pytest.raises(AssertionError, match="each row has one, other"):
        each_row(("one", "other"), [(1, 2), (1, 2, 3)])
