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
from penstock.web.serving import serving


@contextmanager
def served(make_app: Callable[[], ASGIApp]) -> Iterator[int]:
    ready = threading.Event()
    port = 0

    async def run() -> None:
        nonlocal port, loop, stop
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        async with serving(make_app(), [Listener("127.0.0.1", 0)]) as [bound]:
            port = bound.port
            ready.set()
            await stop.wait()

    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event
    thread = threading.Thread(target=lambda: uvloop.run(run()))
    thread.start()
    assert ready.wait(30)
    try:
        yield port
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
