"""A test that failed beside others is run once more at the end, by itself: `--failures-alone`.

On a busy machine one test among thousands may fail for a reason that has nothing to do with the change. A retry inside
the test, or a longer time-out, would hide that; so would a run that passes in silence. Here the whole run is over,
workers and their servers have gone, and each test that failed gets a process for itself:

- it fails again: the run has failed, and both tracebacks are shown;
- it passes: the run may pass, but closes with a list `passed only when alone:` with the first traceback of each, and
  what it had printed. The list is a debt, to be paid by the next change (CONTRIBUTING.md);
- more than `MOST_FAILURES` failed: that is no accident, nothing is run again, the run has failed.

A file that can't be collected, a worker that died outside a test, a run that was interrupted: all stay what they were.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from _pytest.terminal import TerminalReporter

MOST_FAILURES = 5
LONGEST_SECONDS = 1_800
SHOWN_LINES = 60
CATEGORY = "passed only when alone"
OF_WORKERS = ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID", "PYTEST_ADDOPTS")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("suite").addoption(
        "--failures-alone",
        action="store_true",
        help=f"run up to {MOST_FAILURES} tests that failed once more, each by itself, when all others are done",
    )


def pytest_configure(config: pytest.Config) -> None:
    is_worker = hasattr(config, "workerinput")
    if config.getoption("failures_alone") and not is_worker:
        config.pluginmanager.register(FailuresAlone(config), "failures-alone")


@dataclass
class Failure:
    """A test, and the reports of its phases that failed."""

    test: str
    reports: list[pytest.TestReport] = field(default_factory=list)

    @property
    def first_words(self) -> str:
        """The traceback of the first failure, and the end of what was printed: the seed of an experiment, say."""
        report = self.reports[0]
        printed = (
            f"{title}:\n{_end_of(text)}" for title, text in report.sections if title.startswith("Captured")
        )
        return "\n".join([report.longreprtext, *printed])


class FailuresAlone:
    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._failures: dict[str, Failure] = {}
        self._is_collected = True
        self._saved: list[Failure] = []
        self._again: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failures.setdefault(report.nodeid, Failure(report.nodeid)).reports.append(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._is_collected &= not report.failed

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> Iterator[None]:
        failed = list(self._failures.values())
        only_tests = session.exitstatus == pytest.ExitCode.TESTS_FAILED and self._is_collected
        if only_tests and len(failed) <= MOST_FAILURES:
            self._run_again(failed)
            if len(self._saved) == len(failed):
                session.exitstatus = pytest.ExitCode.OK
        return (yield)

    def _run_again(self, failed: list[Failure]) -> None:
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        assert isinstance(reporter, TerminalReporter)
        for failure in failed:
            reporter.ensure_newline()
            reporter.write_line(f"once more, alone: {failure.test}")
            if (said := self._run_alone(failure.test)) is None:
                self._saved.append(failure)
                _reclassify(reporter, failure)
            else:
                self._again.append(f"{failure.test}\n{said}")

    def _run_alone(self, test: str) -> str | None:
        """None if it passed, else the end of what pytest said."""
        environment = {name: value for name, value in os.environ.items() if name not in OF_WORKERS}
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", *_without_xdist(self._config), test]
        directory = self._config.invocation_params.dir
        try:
            done = subprocess.run(
                command,
                cwd=directory,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LONGEST_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"did not end within {LONGEST_SECONDS} s"
        if done.returncode == pytest.ExitCode.OK:
            return None
        return _end_of(done.stdout + done.stderr)

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        if len(self._failures) > MOST_FAILURES:
            terminalreporter.section("not run again")
            terminalreporter.write_line(
                f"{len(self._failures)} tests failed; {MOST_FAILURES} are the most that may"
            )
        for said in self._again:
            terminalreporter.section("failed alone, too")
            terminalreporter.write_line(said)
        if self._saved:
            terminalreporter.section("flakes")
            terminalreporter.write_line(f"{CATEGORY}:", yellow=True, bold=True)
        for failure in self._saved:
            terminalreporter.write_line(f"\n{failure.test}", bold=True)
            terminalreporter.write_line(failure.first_words)


def _end_of(text: str) -> str:
    return "\n".join(text.splitlines()[-SHOWN_LINES:])


def _without_xdist(config: pytest.Config) -> list[str]:
    return ["-n", "0"] if config.pluginmanager.hasplugin("xdist") else []


def _reclassify(reporter: TerminalReporter, failure: Failure) -> None:
    """The closing line counts it by itself, not among the failed ones."""
    for category in ("failed", "error"):
        kept = [report for report in reporter.stats.get(category, []) if report.nodeid != failure.test]
        if kept:
            reporter.stats[category] = kept
        else:
            reporter.stats.pop(category, None)
    reporter.stats.setdefault(CATEGORY, []).append(failure.reports[0])
