"""What the producer's performance test counts, and the lines it prints; latencies are whole milliseconds.

Latencies come in lists, as many as one poll brought: they are added up as lists, never one by one.
"""

from collections.abc import Sequence

from penstock.cli.tools.clients.java_text import fixed, ratio

MOST_SAMPLES = 500_000
PERCENTILES = ((0.5, "50th"), (0.95, "95th"), (0.99, "99th"), (0.999, "99.9th"))
BYTES_PER_MB = 1024.0 * 1024.0


class Window:
    """Counts since some moment."""

    def __init__(self, now_ms: int) -> None:
        self.started_ms = now_ms
        self.count = 0
        self.bytes = 0
        self.total_latency_ms = 0
        self.max_latency_ms = 0

    def add(self, latencies_ms: Sequence[int], sent_bytes: int) -> None:
        self.count += len(latencies_ms)
        self.bytes += sent_bytes
        self.total_latency_ms += sum(latencies_ms)
        self.max_latency_ms = max(self.max_latency_ms, max(latencies_ms, default=0))

    def rates(self, now_ms: int) -> tuple[float, float]:
        """Records and megabytes per second."""
        elapsed_ms = now_ms - self.started_ms
        return ratio(1000.0 * self.count, elapsed_ms), ratio(1000.0 * self.bytes, elapsed_ms) / BYTES_PER_MB


class ProducerStats:
    def __init__(
        self, records: int, reporting_interval_ms: int, now_ms: int, *, is_steady_state: bool = False
    ) -> None:
        self._sampling = records // min(records, MOST_SAMPLES)
        self._samples: list[int] = []
        self._next_sample = 0
        self._interval_ms = reporting_interval_ms
        self._is_steady_state = is_steady_state
        self.total = Window(now_ms)
        self.window = Window(now_ms)
        self.is_quiet = False

    def record(self, latencies_ms: Sequence[int], sent_bytes: int, now_ms: int) -> list[str]:
        """Counts records that were acknowledged; returns lines to print, if it is time."""
        self._samples += latencies_ms[self._next_sample :: self._sampling]
        self._next_sample = (self._next_sample - len(latencies_ms)) % self._sampling
        self.total.add(latencies_ms, sent_bytes)
        self.window.add(latencies_ms, sent_bytes)
        if now_ms - self.window.started_ms < self._interval_ms or not self.window.count:
            return []
        lines = self._interval_lines(now_ms)
        self.window = Window(now_ms)
        return lines

    def _interval_lines(self, now_ms: int) -> list[str]:
        is_first = self._is_steady_state and self.total.count == self.window.count
        lines = ["In steady state."] if is_first else []
        return lines if self.is_quiet else [*lines, self.window_line(now_ms)]

    def window_line(self, now_ms: int) -> str:
        window = self.window
        records_per_second, mb_per_second = window.rates(now_ms)
        return (
            f"{window.count} records sent, {fixed(records_per_second, 1)} records/sec "
            f"({fixed(mb_per_second, 2)} MB/sec), "
            f"{fixed(ratio(window.total_latency_ms, window.count), 1)} ms avg latency, "
            f"{fixed(window.max_latency_ms, 1)} ms max latency."
        )

    def total_line(self, now_ms: int) -> str:
        total = self.total
        records_per_second, mb_per_second = total.rates(now_ms)
        steady = " steady state" if self._is_steady_state else ""
        percentiles = ", ".join(f"{value} ms {name}" for value, name in self.percentiles())
        return (
            f"{total.count}{steady} records sent, {fixed(records_per_second, 6)} records/sec "
            f"({fixed(mb_per_second, 2)} MB/sec), "
            f"{fixed(ratio(total.total_latency_ms, total.count), 2)} ms avg latency, "
            f"{fixed(total.max_latency_ms, 2)} ms max latency, {percentiles}."
        )

    def percentiles(self) -> list[tuple[int, str]]:
        ordered = sorted(self._samples)
        return [(ordered[int(share * len(ordered))] if ordered else 0, name) for share, name in PERCENTILES]
