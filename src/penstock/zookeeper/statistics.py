"""What the server counts about itself, for the four-letter words."""

from dataclasses import dataclass


@dataclass(slots=True)
class Statistics:
    started_at_ms: int = 0
    packets_received: int = 0
    packets_sent: int = 0
    connections_refused: int = 0
    answered: int = 0
    latency_total_ms: int = 0
    latency_min_ms: int | None = None
    latency_max_ms: int = 0

    @property
    def latency_average_ms(self) -> float:
        return self.latency_total_ms / self.answered if self.answered else 0.0

    def note_sent(self, count: int, latency_ms: int) -> None:
        self.packets_sent += count
        self.answered += count
        self.latency_total_ms += count * latency_ms
        self.latency_max_ms = max(self.latency_max_ms, latency_ms)
        smallest = self.latency_min_ms
        self.latency_min_ms = latency_ms if smallest is None else min(smallest, latency_ms)
