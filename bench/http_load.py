"""Load on an HTTP service: clients that keep their connections, each with one request under way.

A service runs in one process, on one core. The time that its process has spent, beside the time that went by, tells
what limits it: it is busy all the time, or it waits for something else.
"""

from __future__ import annotations

import http.client
import re
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import NamedTuple

from bench.http_services import START_SECONDS
from tests.support.processes import Process

CLIENTS = 8
BUSY = 0.85
"""A process that computes for so much of the time is what limits."""
_ERROR_CODES = re.compile(rb'"error_code":\s*(\w+)')


class Ask(NamedTuple):
    method: str
    path: str
    body: bytes | None = None
    content_type: str = "application/json"


class Cost(NamedTuple):
    cpu_seconds: float
    seconds: float
    latencies: list[float]
    """Shortest first."""
    broker_cpu_seconds: float = 0.0

    @property
    def cpu_per_ask(self) -> float:
        return self.cpu_seconds / len(self.latencies)

    @property
    def p99(self) -> float:
        return self.latencies[len(self.latencies) * 99 // 100]

    @property
    def mean(self) -> float:
        return sum(self.latencies) / len(self.latencies)

    @property
    def limit(self) -> str:
        """What keeps it from being faster, in words with the figures."""
        own, broker = self.cpu_seconds / self.seconds, self.broker_cpu_seconds / self.seconds
        figures = f"its process computes {own:.0%} of the time, the broker {broker:.0%}"
        if own >= BUSY:
            return f"limited by its own core: {figures}"
        if broker >= BUSY:
            return f"limited by the broker: {figures}"
        return f"limited by the clients, or by waiting for the broker's answers: {figures}"


def load(
    process: Process, port: int, asks: Sequence[Ask], *, pause: float = 0.0, broker: Process | None = None
) -> Cost:
    """Each client pauses for so long after each request."""
    before, broker_before, started = process.cpu_seconds(), _cpu(broker), perf_counter()
    with ThreadPoolExecutor(CLIENTS) as pool:
        jobs = [pool.submit(_ask_all, port, asks[client::CLIENTS], pause) for client in range(CLIENTS)]
        latencies = sorted(seconds for job in jobs for seconds in job.result())
    return Cost(
        process.cpu_seconds() - before, perf_counter() - started, latencies, _cpu(broker) - broker_before
    )


def _cpu(process: Process | None) -> float:
    return 0.0 if process is None else process.cpu_seconds()


def _ask_all(port: int, asks: Sequence[Ask], pause: float) -> list[float]:
    connection = connect(port)
    latencies = []
    for ask in asks:
        started = perf_counter()
        exchange(connection, ask)
        latencies.append(perf_counter() - started)
        if pause:
            time.sleep(pause)
    connection.close()
    return latencies


def connect(port: int) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)


def exchange(connection: http.client.HTTPConnection, ask: Ask) -> bytes:
    """The answer; one that tells of an error, in its status or within, is no answer."""
    connection.request(ask.method, ask.path, ask.body, {"Content-Type": ask.content_type})
    response = connection.getresponse()
    answer = response.read()
    if response.status not in (200, 207) or not {*_ERROR_CODES.findall(answer)} <= {b"null", b"200"}:
        raise RuntimeError(f"{response.status}: {answer[:200]!r}")
    return answer
