"""HTTP services that a scenario starts beside the brokers, each a process of its own."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.processes import Process

START_SECONDS = 60.0


@contextmanager
def serving(log: Path, words: list[str]) -> Iterator[tuple[Process, int]]:
    """The process of a module that says where it is ready, and its port."""
    with Process([sys.executable, "-m", *words], log) as process:
        found: re.Match[str] | None = process.wait_until(
            lambda: re.search(r"is ready on http://127\.0\.0\.1:(\d+)", log.read_text()), START_SECONDS
        )
        assert found is not None
        yield process, int(found[1])
