"""Builds and fetches beforehand what tests of the whole suite need, so that it is there when they ask for it.

`python -m tests.support.prepare` is started with the suite, by its plugin below, and works while pure tests run. What
can't be had here is left to the tests that need it: they say so.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from tests.faults.drivers import programs
from tests.support import (
    apache_connect,
    apache_kafka,
    java_tools,
    kafka_streams,
    kafka_streams_programs,
    toolchains,
)
from tests.support.processes import dying_with_us

STEPS: tuple[Callable[[], object], ...] = (
    apache_kafka.classpath,
    apache_kafka.tool_jvm_flags,
    java_tools.command,
    kafka_streams.command,
    kafka_streams_programs.word_count,
    toolchains.franz_go_command,
    toolchains.java_command,
    toolchains.kafkajs_command,
    programs.franz_go_member,
    programs.java_member,
    programs.kafkajs_member,
    apache_connect.JARS.classpath,
)


def pytest_sessionstart(session: pytest.Session) -> None:
    """With several workers and all folders."""
    config = session.config
    is_whole = config.args_source is pytest.Config.ArgsSource.TESTPATHS and not config.option.markexpr
    if is_whole and config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        building = subprocess.Popen(dying_with_us([sys.executable, "-m", __name__]), stdin=subprocess.DEVNULL)
        config.add_cleanup(building.wait)
        config.add_cleanup(building.kill)


def main() -> None:
    for step in STEPS:
        try:
            step()
        except (pytest.skip.Exception, pytest.fail.Exception, OSError, RuntimeError) as reason:
            print(f"{step.__name__}: {reason}", file=sys.stderr)


if __name__ == "__main__":
    main()
