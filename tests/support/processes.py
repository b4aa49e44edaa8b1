"""Ports, waiting and child processes, for tests and benchmarks that talk to real servers: those of the shipped kit, and
what a process costs."""

from __future__ import annotations

import os
import time
from pathlib import Path

from penstock.testing.free_ports import free_port
from penstock.testing.server_process import ServerProcess, dying_with_us
from penstock.testing.waiting import wait_for

__all__ = ["Process", "cpu_seconds", "dying_with_us", "free_port", "rss_bytes", "wait_for"]

CPUCLOCK_SCHED = 2
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")


def _stat_fields(pid: int) -> list[str]:
    # The command name, field 2, may hold spaces and parentheses: count from the last closing one.
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def cpu_seconds(pid: int) -> float:
    """User and system time of all threads of the process, its live children not included.

    The process's own CPU clock (as clock_getcpuclockid names it) counts nanoseconds; /proc counts hundredths of a
    second, too coarse for a run of a second.
    """
    return time.clock_gettime((~pid << 3) | CPUCLOCK_SCHED)


def rss_bytes(pid: int) -> int:
    return int(_stat_fields(pid)[21]) * PAGE_SIZE


class Process(ServerProcess):
    def cpu_seconds(self) -> float:
        return cpu_seconds(self.pid)

    def rss_bytes(self) -> int:
        return rss_bytes(self.pid)
