"""What the consumer's performance test counts, and the lines it prints."""

from penstock.cli.tools.clients.java_text import fixed, ratio
from penstock.cli.tools.perf.simple_date_format import SimpleDateFormat

BYTES_PER_MB = 1024 * 1024


class ConsumerStats:
    def __init__(self, now_ms: int, date_format: SimpleDateFormat) -> None:
        self._dates = date_format
        self.started_ms = now_ms
        self.records = 0
        self.bytes = 0
        self.join_ms = 0
        self._reported_ms = now_ms
        self._reported_records = 0
        self._reported_bytes = 0
        self._joined_in_interval_ms = 0

    def add_join(self, elapsed_ms: int) -> None:
        self.join_ms += elapsed_ms
        self._joined_in_interval_ms += elapsed_ms

    def start_reporting(self, now_ms: int) -> None:
        self._reported_ms = now_ms

    def is_time_to_report(self, now_ms: int, interval_ms: int) -> bool:
        return now_ms - self._reported_ms >= interval_ms

    def interval_line(self, now_ms: int) -> str:
        elapsed_ms = now_ms - self._reported_ms
        megabytes = (self.bytes - self._reported_bytes) / BYTES_PER_MB
        records = self.records - self._reported_records
        fetch_ms = elapsed_ms - self._joined_in_interval_ms
        while_fetching = [
            1000.0 * amount / fetch_ms if fetch_ms > 0 else 0.0 for amount in (megabytes, records)
        ]
        return ", ".join(
            (
                self._dates.format(now_ms),
                "0",
                fixed(self.bytes / BYTES_PER_MB, 4),
                fixed(ratio(1000.0 * megabytes, elapsed_ms), 4),
                str(self.records),
                fixed(ratio(1000.0 * records, elapsed_ms), 4),
                str(self._joined_in_interval_ms),
                str(fetch_ms),
                *(fixed(rate, 4) for rate in while_fetching),
            )
        )

    def next_interval(self, now_ms: int) -> None:
        self._reported_ms = now_ms
        self._reported_records = self.records
        self._reported_bytes = self.bytes
        self._joined_in_interval_ms = 0

    def total_line(self, now_ms: int) -> str:
        elapsed_seconds = (now_ms - self.started_ms) / 1000
        fetch_ms = now_ms - self.started_ms - self.join_ms
        megabytes = self.bytes / BYTES_PER_MB
        return ", ".join(
            (
                self._dates.format(self.started_ms),
                self._dates.format(now_ms),
                fixed(megabytes, 4),
                fixed(ratio(megabytes, elapsed_seconds), 4),
                str(self.records),
                fixed(ratio(self.records, elapsed_seconds), 4),
                str(self.join_ms),
                str(fetch_ms),
                fixed(ratio(megabytes, fetch_ms / 1000), 4),
                fixed(ratio(self.records, fetch_ms / 1000), 4),
            )
        )
