"""What the command line of the consumer's performance test asks for."""

from dataclasses import dataclass

from penstock.cli.tools.perf.simple_date_format import SimpleDateFormat


@dataclass(frozen=True)
class Request:
    topic: str | None
    include: str | None
    records: int
    timeout_ms: int
    reporting_interval_ms: int
    date_format: SimpleDateFormat
    shows_detailed_stats: bool
    prints_metrics: bool
    configs: dict[str, str]
