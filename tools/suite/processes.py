"""Which tests start child processes: those marked `processes`. `make quick` runs the others.

A file, class or test says so with `pytest.mark.processes`; a fixture with `@starts_processes`, and whatever uses it is
marked. That the marks are all there is checked in every run: a test that starts a process without one fails and says
what to mark. A process that is kept for the next caller is noted by who hands it out, `note_a_process()`. Only the main
thread is watched: a server of the session may start something in its own thread at any time.
"""

from __future__ import annotations

import multiprocessing.util
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

import pytest

MARK = "processes"
IN_A_MARK_OF_THE_FILE = re.compile(rf"^pytestmark = .*\bmark\.{MARK}\b", re.MULTILINE)
F = TypeVar("F", bound=Callable[..., Any])
CALLS: tuple[tuple[type | ModuleType, str], ...] = (
    (subprocess.Popen, "__init__"),
    (os, "fork"),
    (os, "forkpty"),
    (os, "posix_spawn"),
    (os, "posix_spawnp"),
    (multiprocessing.util, "spawnv_passfds"),
)


def starts_processes(function: F) -> F:
    """Stands below `@pytest.fixture`: the fixture starts a process when it is set up."""
    function.starts_processes = True  # type: ignore[attr-defined]
    return function


def note_a_process() -> None:
    """The test at work uses a process, which may have been started before."""
    for watch in _watching:
        watch.note()


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f"{MARK}: starts child processes; `make quick` leaves it out")
    config.pluginmanager.register(Watch(), "watch-processes")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files that are marked as a whole are not even imported where no test of theirs is wanted."""
    if not config.option.markexpr.startswith(f"not {MARK}") or not collection_path.name.startswith("test_"):
        return None
    return True if IN_A_MARK_OF_THE_FILE.search(collection_path.read_text()) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.get_closest_marker(MARK) is None and _uses_a_fixture_that_starts(item):
            item.add_marker(MARK)


def _uses_a_fixture_that_starts(item: pytest.Item) -> bool:
    if not isinstance(item, pytest.Function):
        return False
    definitions = item._fixtureinfo.name2fixturedefs.values()
    return any(_is_said_to_start(chain[-1]) for chain in definitions if chain)


def _is_said_to_start(fixture: pytest.FixtureDef[Any]) -> bool:
    return getattr(fixture.func, "starts_processes", False)


_watching: list[Watch] = []


class Watch:
    """Who is at work in the main thread, and who of them started a process without saying so."""

    def __init__(self) -> None:
        self._item: pytest.Item | None = None
        self._fixtures: list[pytest.FixtureDef[Any]] = []
        self._unsaid: str | None = None
        self._patch = pytest.MonkeyPatch()
        _watching.append(self)
        for owner, name in CALLS:
            self._patch.setattr(owner, name, self._noting(getattr(owner, name)))

    def pytest_unconfigure(self) -> None:
        self._patch.undo()
        _watching.remove(self)

    def _noting(self, call: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(call)
        def noted(*arguments: Any, **named: Any) -> Any:
            self.note()
            return call(*arguments, **named)

        return noted

    def note(self) -> None:
        if (item := self._item) is None or threading.current_thread() is not threading.main_thread():
            return
        if self._fixtures and not any(map(_is_said_to_start, self._fixtures)):
            where = self._fixtures[-1]
            self._unsaid = (
                f"fixture {where.argname!r} of {where.baseid} starts a child process: `@starts_processes` it"
            )
        elif item.get_closest_marker(MARK) is None:
            self._unsaid = (
                "the test starts a child process: mark it, or its file, with `pytest.mark.processes`"
            )

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        self._item = item
        try:
            return (yield)
        finally:
            self._item = None

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: pytest.FixtureDef[Any]) -> Iterator[None]:
        self._fixtures.append(fixturedef)
        try:
            return (yield)
        finally:
            self._fixtures.pop()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        yield
        unsaid, self._unsaid = self._unsaid, None
        if unsaid:
            pytest.fail(unsaid)
