"""What a process and all that it started take: CPU with that of children that have ended, and memory by kind.

Pages that a forked Python worker shares with its parent are counted in both, as `ps` does.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from tests.support.processes import rss_bytes

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
PARENT, FIRST_TIME, END_OF_TIMES = 1, 11, 15
"""Fields of /proc/<pid>/stat behind the command's name: utime, stime, cutime and cstime are in a row."""
KINDS = {"java": "JVM", "pyspark.daemon": "Python workers"}


class ProcessTree:
    def __init__(self, root: int) -> None:
        self.root = root

    def cpu_seconds_by_kind(self) -> dict[str, float]:
        return self._by_kind(_cpu_seconds)

    def rss_bytes_by_kind(self) -> dict[str, float]:
        return self._by_kind(rss_bytes)

    def memory_in_words(self) -> str:
        megabytes = (f"{kind} {each / 1e6:.0f}" for kind, each in self.rss_bytes_by_kind().items())
        return f"RSS in MB: {', '.join(megabytes)}"

    def _by_kind(self, measure: Callable[[int], float]) -> dict[str, float]:
        found: dict[str, float] = defaultdict(float)
        for pid in self._pids():
            try:
                kind, taken = self._kind(pid), measure(pid)
            except (FileNotFoundError, ProcessLookupError):
                continue
            if kind:
                found[kind] += taken
        return dict(found)

    def _pids(self) -> list[int]:
        children = _children()
        found = [self.root]
        for pid in found:
            found += children.get(pid, [])
        return found

    def _kind(self, pid: int) -> str:
        """None of them if it has ended and nobody asked how."""
        if pid == self.root:
            return "process"
        command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
        return next((kind for word, kind in KINDS.items() if word in command), "others" if command else "")


def _children() -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for path in Path("/proc").glob("[0-9]*"):
        try:
            found[int(_stat_fields(int(path.name))[PARENT])].append(int(path.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def _stat_fields(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _cpu_seconds(pid: int) -> float:
    return sum(map(int, _stat_fields(pid)[FIRST_TIME:END_OF_TIMES])) / TICKS_PER_SECOND
