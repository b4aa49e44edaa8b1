"""What the endpoints stand on: the worker, what it can check, and a request's way to the worker that has to answer it.

A worker that is not the one to ask says who is, and the request is passed on with `?forward=true`: that worker may pass
it on once more, with `?forward=false`, after which it ends in 409. Two steps find the leader, or it has just changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode, urlsplit

from penstock.pipeline.connect.connector_config import ConfigCheck
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.plugins import Plugins
from penstock.pipeline.connect.worker.errors import RebalanceNeededError, RequestTargetError, status_of
from penstock.pipeline.connect.worker.interface import Worker
from penstock.web.errors import HttpError
from penstock.web.forwarding import ForwardingFailed, Patience, pass_on
from penstock.web.listeners import HTTPS, Listener
from penstock.web.request import Request
from penstock.web.response import Response
from penstock.web.routes import Handler

REQUEST_TIMEOUT_SECONDS: Final = 90.0
PATIENCE: Final = Patience(connect_ms=10_000, read_ms=95_000)
NO_LEADER: Final = (
    "Cannot complete request momentarily due to no known leader URL, likely because a rebalance was underway."
)
TOO_MANY_STEPS: Final = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"
STALE: Final = (
    "Cannot complete request momentarily due to stale configuration "
    "(typically caused by a concurrent config change)"
)


@dataclass(frozen=True, slots=True)
class Service:
    """`metrics` gives the worker's numbers in Prometheus' text format."""

    worker: Worker
    check: ConfigCheck
    plugins: Plugins
    metrics: Callable[[], str] | None = None
    request_timeout_seconds: float = REQUEST_TIMEOUT_SECONDS

    def answering(self, answer: Callable[[Request], Awaitable[Response]]) -> Handler:
        """The handler that asks the worker in time, or has another worker answer."""

        async def handler(request: Request) -> Response:
            try:
                async with asyncio.timeout(self.request_timeout_seconds):
                    return await answer(request)
            except RequestTargetError as error:
                return await _forwarded(request, error.url)
            except RebalanceNeededError:
                raise HttpError(409, 409, STALE) from None
            except TimeoutError:
                raise HttpError(500, 500, "Request timed out") from None

        return handler


async def _forwarded(request: Request, url: str | None) -> Response:
    forward = request.text("forward").lower()
    if forward and forward != "true":
        raise HttpError(409, 409, TOO_MANY_STEPS)
    if url is None:
        raise HttpError(409, 409, NO_LEADER)
    try:
        return await pass_on(request, _address(url), PATIENCE, target=_target(request, not forward))
    except ForwardingFailed as error:
        raise HttpError(500, 500, f"IO Error trying to forward REST request: {error}") from None


def _address(url: str) -> Listener:
    parts = urlsplit(url)
    if parts.scheme == HTTPS:
        raise ForwardingFailed(f"{url} is reached over https, which workers do not speak among themselves")
    return Listener(parts.hostname or "localhost", parts.port or 80)


def _target(request: Request, may_forward: bool) -> bytes:
    query = [(name, value) for name, values in request.query.items() for value in values if name != "forward"]
    query.append(("forward", "true" if may_forward else "false"))
    path: bytes = request.scope["raw_path"]
    return path + b"?" + urlencode(query).encode()


def translate(error: Exception) -> HttpError | None:
    if isinstance(error, ConnectError):
        status = status_of(error)
        return HttpError(status, status, str(error))
    return None
