"""Trying again: with growing pauses, until the time is up, and with the last reason in the error."""

from __future__ import annotations

from penstock.wire_client.config import ClusterConfig
from penstock.wire_client.errors import IS_IT_RUNNING, BrokerUnreachableError, KafkaError, KafkaTimeoutError
from penstock.wire_client.network import Disconnected, Network


class Attempts:
    """`async for attempt in cluster.attempts("what is waited for"):`; leave the loop when it has come about.

    `attempt.failed(error)` keeps why this turn was in vain; the error at the end says it.
    """

    def __init__(self, network: Network, config: ClusterConfig, what: str, timeout_ms: int | None) -> None:
        self._network = network
        self._config = config
        self._what = what
        self._usual_timeout_ms = config.default_api_timeout_ms if timeout_ms is None else timeout_ms
        self._timeout_ms = self._usual_timeout_ms
        self._began_at = network.now()
        self._is_nobody_there = False
        self._pause_ms = config.retry_backoff_ms
        self._reason: Exception | None = None
        self._begun = False

    def failed(self, reason: Exception, *, is_nobody_there: bool = False) -> None:
        """`is_nobody_there`: no broker has ever answered this client, for which there is a patience of its own."""
        self._reason = reason
        self._is_nobody_there = is_nobody_there
        own = self._config.first_contact_timeout_ms if is_nobody_there else None
        self._timeout_ms = self._usual_timeout_ms if own is None else min(own, self._usual_timeout_ms)

    @property
    def left_ms(self) -> int:
        deadline = self._began_at + self._timeout_ms / 1000
        return max(0, int((deadline - self._network.now()) * 1000))

    def __aiter__(self) -> Attempts:
        return self

    async def __anext__(self) -> Attempts:
        if self._begun:
            await self._pause()
        self._begun = True
        return self

    async def _pause(self) -> None:
        left_ms = self.left_ms
        if left_ms <= 0:
            raise self._timed_out() from self._reason
        await self._network.sleep(min(self._pause_ms, left_ms) / 1000)
        self._pause_ms = min(self._pause_ms * 2, max(self._config.retry_backoff_max_ms, self._pause_ms))

    def _timed_out(self) -> KafkaError:
        if self._is_nobody_there:
            return BrokerUnreachableError(f"{self._reason}; {IS_IT_RUNNING}")
        because = f": {self._reason}" if self._reason else ""
        message = f"{self._what} did not come about within {self._timeout_ms} ms{because}"
        if isinstance(self._reason, Disconnected):
            return BrokerUnreachableError(message)
        return KafkaTimeoutError(message)
