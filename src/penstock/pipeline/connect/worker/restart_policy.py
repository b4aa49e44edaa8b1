"""When what failed starts again by itself: after a wait that doubles each time, and not for ever."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from penstock.errors import ConfigError
from penstock.pipeline.connect.settings import CONNECT_TABLE, ConnectSettings

WITHOUT_END = -1
KEYS = ("task.restart.max.retries", "task.restart.backoff.ms", "task.restart.backoff.max.ms")


@dataclass(frozen=True, slots=True)
class RestartPolicy:
    max_retries: int
    backoff_ms: int
    backoff_max_ms: int

    @classmethod
    def of(cls, settings: ConnectSettings, connector_configs: Mapping[str, str]) -> RestartPolicy:
        """The worker's, unless the connector says otherwise; what it says wrongly does not count."""
        return cls(*(_number(key, connector_configs, settings) for key in KEYS))

    def wait_ms(self, attempt: int) -> int | None:
        """Before restart number `attempt`, which begins with 0; None if there is to be none."""
        if self.max_retries != WITHOUT_END and attempt >= self.max_retries:
            return None
        return int(min(self.backoff_ms * 2.0 ** min(attempt, 64), self.backoff_max_ms))


def _number(key: str, connector_configs: Mapping[str, str], settings: ConnectSettings) -> int:
    if key in connector_configs:
        try:
            return int(str(CONNECT_TABLE[key].parse(connector_configs[key])))
        except ConfigError:
            pass  # validation says so; a connector that another worker wrote has to run all the same
    return int(getattr(settings, CONNECT_TABLE[key].attribute))


@dataclass(slots=True)
class Restarts:
    """How the restarts of one task go. A failure after a long good time begins the count anew."""

    policy: RestartPolicy
    attempts: int = 0
    next_at_ms: int | None = None
    has_failed: bool = False
    _good_since_ms: int | None = None

    def on_failure(self, now_ms: int) -> None:
        if self._good_since_ms is not None and now_ms - self._good_since_ms >= self.policy.backoff_max_ms:
            self.attempts = 0
        self._good_since_ms = None
        self.has_failed = True
        wait_ms = self.policy.wait_ms(self.attempts)
        self.next_at_ms = None if wait_ms is None else now_ms + wait_ms

    def on_success(self, now_ms: int) -> None:
        if self._good_since_ms is None:
            self._good_since_ms = now_ms

    def is_due(self, now_ms: int) -> bool:
        return self.has_failed and self.next_at_ms is not None and now_ms >= self.next_at_ms

    def restart(self) -> None:
        """By itself."""
        self.attempts += 1
        self.has_failed = False
        self.next_at_ms = None

    def restart_by_hand(self) -> None:
        self.attempts = 0
        self.has_failed = False
        self.next_at_ms = None

    def described(self) -> dict[str, int]:
        """Nothing as long as all went well."""
        if not self.has_failed and not self.attempts:
            return {}
        said = {"attempts": self.attempts, "max_retries": self.policy.max_retries}
        return said if self.next_at_ms is None else {**said, "next_restart_at_ms": self.next_at_ms}
