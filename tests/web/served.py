"""An application served on a port of its own, in a thread with an event loop."""

from __future__ import annotations

import asyncio
import http.client
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvloop
from starlette.types import ASGIApp

from penstock.web.listeners import Listener
from penstock.web.protocol import HeadLimits
from penstock.web.serving import serving
from penstock.web.tls import TlsFiles


@contextmanager
def served(make_app: Callable[[], ASGIApp], head: HeadLimits | None = None) -> Iterator[int]:
    with served_on(make_app, [Listener("127.0.0.1", 0)], head=head) as [bound]:
        yield bound.port


@contextmanager
def served_on(
    make_app: Callable[[], ASGIApp],
    listeners: list[Listener],
    tls: TlsFiles | None = None,
    head: HeadLimits | None = None,
) -> Iterator[list[Listener]]:
    ready = threading.Event()
    bound: list[Listener] = []

    async def run() -> None:
        nonlocal loop, stop
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        async with serving(make_app(), listeners, tls=tls, head=head) as found:
            bound.extend(found)
            ready.set()
            await stop.wait()

    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event
    thread = threading.Thread(target=lambda: uvloop.run(run()))
    thread.start()
    assert ready.wait(30)
    try:
        yield bound
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(30)


def ask(
    port: int, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[http.client.HTTPResponse, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    try:
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        text = response.read()
        return response, json.loads(text) if text else None
    finally:
        connection.close()
