"""Serves an application with uvicorn in the running event loop, from entering `serving` until leaving it."""

import asyncio
import contextlib
import logging
import socket
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import uvicorn
from starlette.types import ASGIApp

from penstock.web.listeners import HTTP, HTTPS, Listener, bind
from penstock.web.protocol import BoundedProtocol, HeadLimits
from penstock.web.tls import TlsFiles

KEEP_ALIVE_SECONDS = 75
GRACEFUL_STOP_SECONDS = 10


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """The process that runs the service minds the signals, not the server in it."""
        yield


@asynccontextmanager
async def serving(
    app: ASGIApp,
    listeners: Sequence[Listener],
    *,
    key: str = "listeners",
    tls: TlsFiles | None = None,
    max_connections: int | None = None,
    head: HeadLimits | None = None,
) -> AsyncIterator[list[Listener]]:
    """Yields where it really listens. On leaving, requests under way are answered, but not waited for for ever.

    `tls` is what listeners of https need. One server of uvicorn's is either with TLS or without.
    """
    contexts = {HTTPS: tls.server_context() if tls and tls.own else None, HTTP: None}
    async with contextlib.AsyncExitStack() as closing:
        sockets = [closing.enter_context(bind(key, listener)) for listener in listeners]
        for scheme in dict.fromkeys(listener.scheme for listener in listeners):
            own = [
                each for each, listener in zip(sockets, listeners, strict=True) if listener.scheme == scheme
            ]
            config = _config(app, max_connections, head or HeadLimits())
            config.load()
            config.ssl = contexts[scheme]
            assert (config.ssl is not None) == (scheme == HTTPS), "https needs a key and certificates"
            await closing.enter_async_context(_running(_Server(config), own))
        yield [_bound(each, listener) for each, listener in zip(sockets, listeners, strict=True)]


@asynccontextmanager
async def _running(server: _Server, sockets: list[socket.socket]) -> AsyncIterator[None]:
    running = asyncio.create_task(server.serve(sockets))
    await server.is_up.wait()
    try:
        yield
    finally:
        server.should_exit = True
        await running


def _config(app: ASGIApp, max_connections: int | None, head: HeadLimits) -> uvicorn.Config:
    logging.getLogger("uvicorn").setLevel(logging.WARNING)
    protocol: Any = partial(BoundedProtocol, limits=head)
    return uvicorn.Config(
        app,
        http=protocol,
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACEFUL_STOP_SECONDS,
        limit_concurrency=max_connections,
    )


def _bound(listening: socket.socket, listener: Listener) -> Listener:
    host, port, *_ = listening.getsockname()
    return Listener(host, port, listener.scheme)
