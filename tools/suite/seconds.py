"""Where the time went: seconds per folder and the ten slowest files, at the end of a run of more than one folder.

Seconds are those of all workers together, fixtures included: a server that files of a folder share counts where it was
started.
"""

from __future__ import annotations

from collections import Counter
from pathlib import PurePosixPath

import pytest
from _pytest.terminal import TerminalReporter

SLOWEST_FILES = 10
SHORTEST_SECONDS = 1.0
DEPTH = 3
"""Of a folder's path: tests, package, subpackage."""


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Seconds(), "seconds-per-folder")


class Seconds:
    def __init__(self) -> None:
        self.of_files: Counter[str] = Counter()
        self.tests_in_files: Counter[str] = Counter()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        file = report.nodeid.partition("::")[0]
        self.of_files[file] += report.duration  # type: ignore[assignment]  # Counter is for int, to mypy
        self.tests_in_files[file] += report.when == "setup"

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        folders = {_folder(file) for file in self.of_files}
        if len(folders) < 2:
            return
        terminalreporter.section("seconds per folder")
        for line in self._folder_lines():
            terminalreporter.write_line(line)
        terminalreporter.section(f"{SLOWEST_FILES} slowest files")
        for file, seconds in self.of_files.most_common(SLOWEST_FILES):
            terminalreporter.write_line(f"{seconds:8.1f} s {self.tests_in_files[file]:6} tests  {file}")

    def _folder_lines(self) -> list[str]:
        seconds: Counter[str] = Counter()
        tests: Counter[str] = Counter()
        for file, spent in self.of_files.items():
            seconds[_folder(file)] += spent
            tests[_folder(file)] += self.tests_in_files[file]
        shown = [folder for folder, spent in seconds.most_common() if spent >= SHORTEST_SECONDS]
        rest = seconds.keys() - set(shown)
        lines = [f"{seconds[folder]:8.1f} s {tests[folder]:6} tests  {folder}" for folder in shown]
        if rest:
            few = f"{sum(seconds[folder] for folder in rest):8.1f} s {sum(tests[folder] for folder in rest):6} tests"
            lines.append(f"{few}  {len(rest)} folders of less than {SHORTEST_SECONDS:g} s")
        total = f"{seconds.total():8.1f} s {tests.total():6} tests"
        return [*lines, f"{total}  all"]


def _folder(file: str) -> str:
    return "/".join(PurePosixPath(file).parent.parts[:DEPTH])
