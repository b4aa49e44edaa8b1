"""Tests are collected without Python's garbage collector, which finds nothing then and takes half of the time: with
each thousand new objects it looks again at the tests that are there already.

What has been collected stays until the end, so it is put where the collector never looks. Each of the workers gains
two seconds by the first and a third of a second for each full collection by the second.

`make quick` leaves out all tests of a file that is marked as a whole as one that starts processes. Such a file is told
by its text, so that no worker imports it, and what only it imports.

What is marked `long_run` is there for `make compare` and `make faults` alone, and is left out elsewhere.
"""

from __future__ import annotations

import gc
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

QUICK = "not processes and not faults"
"""What `make quick` selects."""
MARKED_AS_A_WHOLE = re.compile(
    r"^pytestmark = (?:\[[^\]]*)?pytest\.mark\.(?:processes|faults)\b(?!\()", re.MULTILINE
)

gc.disable()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    is_left_out = (
        config.option.markexpr == QUICK
        and collection_path.suffix == ".py"
        and collection_path.is_file()
        and MARKED_AS_A_WHOLE.search(collection_path.read_text("utf-8")) is not None
    )
    return True if is_left_out else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if not _is_asked_for(item)]
    if left_out:
        items[:] = [item for item in items if _is_asked_for(item)]
        config.hook.pytest_deselected(items=left_out)


def _is_asked_for(item: pytest.Item) -> bool:
    return all(mark.args[0] for mark in item.iter_markers("long_run"))
