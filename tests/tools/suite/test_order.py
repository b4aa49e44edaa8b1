"""The scheduler: each file once, in one worker, in the order that is told, with seats for those who share a server."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tools.suite import order
from tools.suite.order import COMPUTING, LONGEST, SHARING, FilesInOrder, Sharing

ROOT = Path(__file__).parents[3]


class Worker:
    """What the scheduler knows of a worker; `step` runs a test as xdist's worker does, when it knows the next one."""

    def __init__(self, name: str, tests: Sequence[str]) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.shutting_down = False
        self.ran: list[str] = []
        self._tests = tests
        self._waiting: list[int] = []

    def send_runtest_some(self, numbers: Sequence[int]) -> None:
        self._waiting += numbers

    def shutdown(self) -> None:
        self.shutting_down = True

    def step(self, scheduler: FilesInOrder) -> bool:
        if len(self._waiting) < (1 if self.shutting_down else 2):
            return False
        number = self._waiting.pop(0)
        self.ran.append(self._tests[number])
        scheduler.mark_test_complete(self, number)  # type: ignore[arg-type]
        return True

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(test.partition("::")[0] for test in self.ran))


def three_of_each(*files: str) -> list[str]:
    return [f"{file}::test_{number}" for file in files for number in range(3)]


@pytest.fixture
def scheduler(pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    def scheduled(tests: list[str], workers: int) -> tuple[FilesInOrder, list[Worker]]:
        monkeypatch.setattr(pytestconfig.option, "tx", [f"{workers}*popen"])
        made = FilesInOrder(pytestconfig)
        names = [Worker(f"gw{number}", tests) for number in range(workers)]
        for worker in names:
            made.add_node(worker)  # type: ignore[arg-type]
            made.add_node_collection(worker, tests)  # type: ignore[arg-type]
        made.schedule()
        return made, names

    return scheduled


def run_to_the_end(scheduler: FilesInOrder, workers: list[Worker]) -> None:
    going = workers
    while going:
        going = [worker for worker in workers if worker.step(scheduler)]


def test_each_test_runs_once_and_a_file_in_one_worker(scheduler: Any) -> None:
    tests = three_of_each(*(f"tests/some/test_{letter}.py" for letter in "abcdefg"))
    running, workers = scheduler(tests, 3)
    run_to_the_end(running, workers)
    assert sorted(test for worker in workers for test in worker.ran) == sorted(tests)
    assert sum(len(worker.files) for worker in workers) == 7
    assert running.tests_finished
    assert not running.has_pending


def test_long_files_begin_and_one_worker_computes(scheduler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "LONGEST", ("tests/long/", "tests/longish/"))
    monkeypatch.setattr(order, "COMPUTING", ("tests/pure/",))
    files = (
        *("tests/a/test_a.py", "tests/pure/test_1.py", "tests/longish/test_a.py"),
        "tests/long/test_a.py",
    )
    running, workers = scheduler(three_of_each(*files), 2)
    run_to_the_end(running, workers)
    assert workers[0].files[:2] == ["tests/long/test_a.py", "tests/longish/test_a.py"]
    assert workers[1].files[0] == "tests/pure/test_1.py"


def test_those_who_share_a_server_have_seats(scheduler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "SHARING", (Sharing(("tests/shared/",), seats=1),))
    shared = [f"tests/shared/test_{letter}.py" for letter in "abc"]
    others = [f"tests/other/test_{letter}.py" for letter in "abcdefghi"]
    running, workers = scheduler(three_of_each(*shared, *others), 3)
    run_to_the_end(running, workers)
    assert len([worker for worker in workers if set(worker.files) & set(shared)]) == 1


def test_others_help_when_nothing_else_is_left(scheduler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(order, "SHARING", (Sharing(("tests/shared/",), seats=1),))
    running, workers = scheduler(three_of_each(*(f"tests/shared/test_{letter}.py" for letter in "abcdef")), 2)
    run_to_the_end(running, workers)
    assert all(worker.files for worker in workers)


def test_what_a_worker_died_of_is_not_run_again(scheduler: Any) -> None:
    tests = three_of_each(*(f"tests/some/test_{letter}.py" for letter in "abcd"))
    running, (one, two) = scheduler(tests, 2)
    assert one.step(running)
    died_of = running.remove_node(one)
    run_to_the_end(running, [two])
    assert died_of is not None
    assert sorted([*one.ran, died_of, *two.ran]) == sorted(tests)


def test_the_lists_name_files_that_there_are() -> None:
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")]
    named = [*LONGEST, *COMPUTING, *(file for sharing in SHARING for file in sharing.files)]
    assert [name for name in named if not any(file.startswith(name) for file in files)] == []
