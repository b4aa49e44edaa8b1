"""Timers of the coordinators, on the loop that the broker runs on."""

import asyncio
from collections.abc import Awaitable, Callable, Hashable

import uvloop

from penstock.broker.timers import Timers

FAR_MS = 60_000


def run(scenario: Callable[[Timers, "asyncio.Queue[Hashable]"], Awaitable[None]]) -> None:
    async def main() -> None:
        fired: asyncio.Queue[Hashable] = asyncio.Queue()
        timers = Timers(asyncio.get_running_loop(), fired.put_nowait)
        await asyncio.wait_for(scenario(timers, fired), 10)
        timers.stop_all()

    uvloop.run(main())


def test_timers_fire_in_the_order_of_their_time() -> None:
    async def scenario(timers: Timers, fired: "asyncio.Queue[Hashable]") -> None:
        timers.start("second", 30)
        timers.start("first", 0)
        assert [await fired.get(), await fired.get()] == ["first", "second"]

    run(scenario)


def test_a_timer_without_delay_is_not_put_off_by_starting_it_again() -> None:
    async def scenario(timers: Timers, fired: "asyncio.Queue[Hashable]") -> None:
        def start_again() -> None:
            timers.start("at once", 0)
            if fired.empty():
                loop.call_soon(start_again)

        loop = asyncio.get_running_loop()
        start_again()
        assert await fired.get() == "at once"

    run(scenario)


def test_a_timer_can_be_moved_either_way() -> None:
    async def scenario(timers: Timers, fired: "asyncio.Queue[Hashable]") -> None:
        timers.start("sooner", FAR_MS)
        timers.start("sooner", 5)
        timers.start("later", 5)
        timers.start("later", 30)
        assert [await fired.get(), await fired.get()] == ["sooner", "later"]
        assert fired.empty()

    run(scenario)


def test_a_stopped_timer_does_not_fire_and_can_be_started_again() -> None:
    async def scenario(timers: Timers, fired: "asyncio.Queue[Hashable]") -> None:
        timers.start("stopped", 0)
        timers.start("again", 0)
        timers.stop("stopped")
        timers.stop("again")
        timers.stop("unknown")
        timers.start("again", 1)
        assert await fired.get() == "again"
        assert fired.empty()

    run(scenario)
