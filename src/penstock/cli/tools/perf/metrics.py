"""`--print-metrics`: the client's own numbers in the layout of Kafka's tools.

Kafka's client has other numbers than librdkafka, which gives its own as JSON: totals and averages of the client, its
brokers and its topics.
"""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

INTERVAL_MS = 500
LONGEST_WAIT_SECONDS = 5.0


class LatestStatistics:
    def __init__(self) -> None:
        self._text: str | None = None

    def settings(self) -> dict[str, object]:
        return {"statistics.interval.ms": INTERVAL_MS, "stats_cb": self._keep}

    def _keep(self, text: str) -> None:
        self._text = text

    def wait(self, poll: Callable[[float], object]) -> None:
        """For numbers that know of all that has happened until now."""
        self._text = None
        deadline = time.monotonic() + LONGEST_WAIT_SECONDS
        while self._text is None and time.monotonic() < deadline:
            poll(0.1)

    def lines(self, role: str, client_id: str) -> list[str]:
        metrics = dict(sorted(metrics_of(json.loads(self._text or "{}"), role, client_id)))
        width = max(map(len, metrics), default=0)
        return ["", f"{'Metric Name':<{width}}   Value"] + [
            f"{name:<{width}} : {_text_of(value)}" for name, value in metrics.items()
        ]


def metrics_of(statistics: dict[str, Any], role: str, client_id: str) -> Iterator[tuple[str, Any]]:
    yield from _numbers(f"{role}-metrics", statistics, f"client-id={client_id}")
    for broker in statistics.get("brokers", {}).values():
        yield from _numbers(
            f"{role}-node-metrics", broker, f"client-id={client_id}, node-id=node-{broker['nodeid']}"
        )
    for topic in statistics.get("topics", {}).values():
        yield from _numbers(f"{role}-topic-metrics", topic, f"client-id={client_id}, topic={topic['topic']}")


def _numbers(group: str, level: dict[str, Any], tags: str) -> Iterator[tuple[str, Any]]:
    for name, value in level.items():
        if isinstance(value, dict) and "avg" in value and "max" in value:
            yield f"{group}:{name}-avg:{{{tags}}}", value["avg"]
            yield f"{group}:{name}-max:{{{tags}}}", value["max"]
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{group}:{name}:{{{tags}}}", value


def _text_of(value: float) -> str:
    return f"{float(value):.3f}"
