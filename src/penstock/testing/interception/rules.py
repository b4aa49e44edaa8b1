"""A rule: which requests it takes, what becomes of them, and how often that happened.

Rules are written by the test's thread and asked by the broker's loop; the interceptor's lock stands between the two.
"""

import asyncio
import random
from collections.abc import Callable, Coroutine
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from penstock.testing.interception.seen import SeenRequest
from penstock.wire.api_keys import ApiKey
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.testing.interception.exchange import Exchange
    from penstock.testing.interception.interceptor import Interceptor

Action = Callable[["Rule", "Exchange"], Coroutine[Any, Any, ApiMessage | None]]
"""What a rule does with a request; returns the answer, or None if there is none to send."""


class Rule:
    """Takes requests until it is removed; as a context manager it is removed at the end of the block."""

    def __init__(
        self,
        interceptor: "Interceptor",
        text: str,
        action: Action,
        *,
        api: ApiKey | None,
        topic: str | None,
        client_id: str | None,
        where: Callable[[SeenRequest], bool] | None,
        after: int,
        times: int | None,
        probability: float,
        seed: int,
    ) -> None:
        self.action = action
        self.matched = 0
        """How many requests it has taken."""
        self._interceptor = interceptor
        self._text = text
        self._api, self._topic, self._client_id, self._where = api, topic, client_id, where
        self._after, self._times = after, times
        self._fitting = 0
        self._probability, self._random = probability, random.Random(seed)
        self._removed = False
        self._held: set[asyncio.Future[None]] = set()

    def __repr__(self) -> str:
        return self._text

    # the test's side

    def wait(self, times: int = 1, timeout_seconds: float = 30) -> Self:
        """Waits until it has taken that many requests; TimeoutError says how many it took."""
        self._interceptor.wait_until(
            lambda: self.matched >= times,
            timeout_seconds,
            lambda: f"{self} to take {times} requests; it took {self.matched}",
        )
        return self

    def assert_matched(self, times: int | None = None) -> None:
        """Fails if it took no request, or not as many as said."""
        expected = self.matched > 0 if times is None else self.matched == times
        if not expected:
            wanted = "at least one request" if times is None else f"{times} requests"
            raise AssertionError(f"{self} should have taken {wanted}; it took {self.matched}")

    def remove(self) -> None:
        """Takes no more requests, and lets go of those that it holds."""
        with self._interceptor.lock:
            self._interceptor.rules = tuple(rule for rule in self._interceptor.rules if rule is not self)
            self._removed = True
            for future in self._held:
                future.get_loop().call_soon_threadsafe(_release, future)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.remove()

    # the broker's side

    def fits(self, request: SeenRequest) -> bool:
        """Whether a request is of the kind that the rule is about; counts it if so."""
        fits = (
            self._api in (None, request.api)
            and self._client_id in (None, request.client_id)
            and (self._topic is None or self._topic in request.topics)
            and (self._where is None or self._holds(self._where, request))
        )
        self._fitting += fits
        return fits

    def takes(self) -> bool:
        """Whether it takes the request that it was just found to fit."""
        if self._fitting <= self._after or (self._times is not None and self.matched >= self._times):
            return False
        if self._probability < 1 and self._random.random() >= self._probability:
            return False
        self.matched += 1
        return True

    def _holds(self, where: Callable[[SeenRequest], bool], request: SeenRequest) -> bool:
        try:
            return where(request)
        except Exception as error:
            self._interceptor.on_failure(error)
            return False

    async def hold(self, seconds: float | None) -> None:
        """Waits, at most until the rule is removed."""
        future = asyncio.get_running_loop().create_future()
        with self._interceptor.lock:
            if self._removed:
                return
            self._held.add(future)
        try:
            await asyncio.wait_for(future, seconds)
        except TimeoutError:
            pass
        finally:
            with self._interceptor.lock:
                self._held.discard(future)


def _release(future: "asyncio.Future[None]") -> None:
    if not future.done():
        future.set_result(None)
