"""A table of rows as one test, which runs all of them and names each that fails.

`@each_row` stands where `@pytest.mark.parametrize` would, for dozens of rows that only compute: each worker collects
all tests, and each test is set up and reported, which takes longer than such a row. A fixture is the same for all
rows. Rows that start something, take long or may be skipped are tests of their own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable
from functools import wraps
from typing import Any

import pytest

LONGEST_NAME = 200
LONGEST_WORDS = 2_000
"""Characters that are told of a row and of why it failed."""

FAILURES = (Exception, pytest.fail.Exception, pytest.skip.Exception)
Test = Callable[..., None]


def each_row(
    names: str | tuple[str, ...], rows: Iterable[Any], name_of: Callable[..., str] | None = None
) -> Callable[[Test], Test]:
    """One name and its values, or names and their tuples; a row is called by its values unless `name_of` them says."""
    is_single = isinstance(names, str)
    columns = (names,) if isinstance(names, str) else names
    table = [(row,) if is_single else tuple(row) for row in rows]
    assert table, "a table without rows"
    assert all(len(row) == len(columns) for row in table), f"each row has {', '.join(columns)}"

    def of_all_rows(test: Test) -> Test:
        assert not inspect.iscoroutinefunction(test)
        signature = inspect.signature(test)

        @wraps(test)
        def run(**others: Any) -> None:
            failed: dict[str, BaseException] = {}
            for number, row in enumerate(table):
                try:
                    test(**dict(zip(columns, row, strict=True)), **others)
                except FAILURES as error:
                    failed[f"{number}: {_short_name(row, name_of)}"] = error
            if failed:
                raise AssertionError(_told(failed, table)) from next(iter(failed.values()))

        rest = [parameter for name, parameter in signature.parameters.items() if name not in columns]
        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return run

    return of_all_rows


def _short_name(row: tuple[Any, ...], name_of: Callable[..., str] | None) -> str:
    return (name_of(*row) if name_of else ", ".join(map(repr, row)))[:LONGEST_NAME]


def _told(failed: dict[str, BaseException], table: Collection[Any]) -> str:
    lines = [f"{len(failed)} of {len(table)} rows:"]
    for name, error in failed.items():
        lines += [f"row {name}", f"  {type(error).__name__}: {error}"[:LONGEST_WORDS]]
    return "\n".join(lines)
