"""Time that is nobody's, processes that end between two callbacks, and a network between them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from random import Random
from typing import Any

import pytest

from tests.simulation.network import CLOSED, End, Network
from tests.simulation.simulation import nobody_tidies_up
from tests.simulation.virtual_loop import Process, VirtualLoop


@pytest.fixture
def loop() -> Iterator[VirtualLoop]:
    with nobody_tidies_up():
        loop = VirtualLoop(Random(1))
        yield loop
        loop.throw_away()
        del loop


async def count(into: list[float]) -> None:
    try:
        while True:
            await asyncio.sleep(1.0)
            into.append(asyncio.get_running_loop().time())
    finally:
        into.append(-1.0)


def test_time_passes_only_when_nobody_has_anything_to_do(loop: VirtualLoop) -> None:
    loop.run_until_complete(asyncio.sleep(86_400.0))
    assert loop.time() == 86_400.0
    assert loop.steps < 10


def test_of_a_killed_process_nothing_runs_any_more(loop: VirtualLoop) -> None:
    counted: list[float] = []
    process = Process(loop, "one")
    process.run(count(counted))
    loop.call_at(3.5, process.kill)
    loop.run_until_complete(asyncio.sleep(10.0))
    assert counted == [1.0, 2.0, 3.0]


def test_a_paused_process_goes_on_where_it_was(loop: VirtualLoop) -> None:
    counted: list[float] = []
    process = Process(loop, "one")
    process.run(count(counted))
    loop.call_at(1.5, process.pause)
    loop.call_at(5.25, process.go_on)
    loop.run_until_complete(asyncio.sleep(7.0))
    assert counted == [1.0, 5.25, 6.25]


def test_threads_belong_to_their_process(loop: VirtualLoop) -> None:
    done: list[str] = []

    async def work() -> None:
        done.append(await asyncio.to_thread(lambda: "written"))

    first, second = Process(loop, "one"), Process(loop, "two")
    first.run(work())
    second.run(work())
    loop.call_soon(second.kill)
    loop.run_until_complete(asyncio.sleep(1.0))
    assert done == ["written"]


# the network


class Ear:
    """Writes down what it hears."""

    def __init__(self, end: End) -> None:
        self.heard: list[object] = []
        end.begin(self)

    def on_message(self, message: object) -> None:
        self.heard.append(message)

    def on_closed(self) -> None:
        self.heard.append(CLOSED)


class Line:
    """A connection between two processes."""

    def __init__(self, loop: VirtualLoop) -> None:
        self.network = Network(loop, Random(2))
        self.client, self.server = Process(loop, "client"), Process(loop, "server")
        self.network.listen("server", self.server, self._accept)
        self.near: End | None = None
        self.network.connect(self.client, "client", "server", self._connected)
        loop.run_until_complete(asyncio.sleep(1.0))

    def _accept(self, end: End) -> None:
        self.ear = Ear(end)

    def _connected(self, end: End | None) -> None:
        self.near = end

    def send(self, *messages: bytes) -> None:
        assert self.near is not None
        for message in messages:
            self.near.send(message)


Wait = Callable[[], None]


@pytest.fixture
def wait(loop: VirtualLoop) -> Wait:
    def wait_a_second() -> None:
        second: Coroutine[Any, Any, None] = asyncio.sleep(1.0)
        loop.run_until_complete(second)

    return wait_a_second


def test_a_connection_keeps_its_order(loop: VirtualLoop, wait: Wait) -> None:
    line = Line(loop)
    messages = [b"%d" % number for number in range(100)]
    line.send(*messages)
    wait()
    assert line.ear.heard == messages


def test_what_is_sent_over_a_cut_link_waits(loop: VirtualLoop, wait: Wait) -> None:
    line = Line(loop)
    link = line.network.link("client", "server")
    line.send(b"under way")
    link.is_cut = True
    line.send(b"sent meanwhile")
    wait()
    assert not line.ear.heard
    link.mend()
    line.send(b"later")
    wait()
    assert line.ear.heard == [b"under way", b"sent meanwhile", b"later"]


def test_who_is_killed_is_said_to_have_closed(loop: VirtualLoop, wait: Wait) -> None:
    line = Line(loop)
    line.send(b"last words")
    line.client.kill()
    line.network.close_all_of(line.client, "client")
    wait()
    assert line.ear.heard == [b"last words", CLOSED]


def test_nobody_listens(loop: VirtualLoop, wait: Wait) -> None:
    answers: list[End | None] = []
    network = Network(loop, Random(3))
    network.connect(Process(loop, "client"), "client", "server", answers.append)
    wait()
    assert answers == [None]
