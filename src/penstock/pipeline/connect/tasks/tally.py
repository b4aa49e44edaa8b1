"""What a task counts while a tick lasts."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Tally:
    polled: int = 0
    records: int = 0
    bytes: int = 0
    skipped: int = 0
    dead_lettered: int = 0
    failures: int = 0
    retries: int = 0
    transactions: int = 0
    topics: set[str] = field(default_factory=set)
    trouble: str | None = None
    """What a task that goes on waits for, or last failed with and will try again."""
