"""Calls into connectors' code: each in a thread of its own, which does not keep the process from ending if it hangs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


async def call_in_thread(name: str, function: Callable[P, T], *arguments: P.args, **keywords: P.kwargs) -> T:
    loop = asyncio.get_running_loop()
    answered: asyncio.Future[T] = loop.create_future()

    def answer(result: T | None, error: BaseException | None) -> None:
        if answered.done():
            return
        if error is not None:
            answered.set_exception(error)
        else:
            answered.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, error = None, None
        try:
            result = function(*arguments, **keywords)
        except Exception as raised:
            error = raised
        try:
            loop.call_soon_threadsafe(answer, result, error)
        except RuntimeError:
            pass  # the loop is closed: nobody waits any more

    threading.Thread(target=run, name=name, daemon=True).start()
    return await answered
