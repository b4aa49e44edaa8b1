"""A network of hosts: what is sent arrives later, or when a cut link is mended, or never, if the connection breaks.

It does what TCP does. What goes one way over one connection keeps its order and is not lost alone; connections pass
each other. While a link is cut, in one direction or both, what was sent waits, and so does the news that the other
side has closed. A process that is killed has its connections closed by its machine; a machine that loses power says
nothing to anybody until it is back and knows of no connection.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Protocol

from tests.simulation.virtual_loop import Life, Process, VirtualLoop

USUAL_DELAY_SECONDS = (0.0002, 0.002)
SLOW_DELAY_SECONDS = (0.01, 0.3)


class Receiver(Protocol):
    """An end of a connection, as the process has it that holds it."""

    def on_message(self, message: object) -> None: ...

    def on_closed(self) -> None:
        """By the other side, or by the network."""


class Link:
    """One direction from host to host."""

    def __init__(self, chance: Random) -> None:
        self._chance = chance
        self.delay_seconds = USUAL_DELAY_SECONDS
        self.is_cut = False
        self.waiting: dict[Pipe, int] = {}
        """How much of what each connection has under way was to arrive while the link was cut."""

    def delay(self) -> float:
        shortest, longest = self.delay_seconds
        return shortest + (longest - shortest) * self._chance.random()

    def mend(self) -> None:
        if self.is_cut:
            self.is_cut = False
            waiting, self.waiting = self.waiting, {}
            for pipe, count in waiting.items():
                for _ in range(count):
                    pipe.schedule()


CLOSED = object()


class Pipe:
    """One direction of one connection."""

    def __init__(self, loop: VirtualLoop, link: Link, process: Process) -> None:
        self._loop = loop
        self._link = link
        self._process = process
        """Where it ends."""
        self._under_way: deque[object] = deque()
        self._last_arrival = 0.0
        self.receiver: Receiver | None = None

    def send(self, message: object) -> None:
        self._under_way.append(message)
        self.schedule()

    def schedule(self) -> None:
        self._last_arrival = max(self._last_arrival, self._loop.time() + self._link.delay())
        self._process.call_at(self._last_arrival, self._arrive)

    def _arrive(self) -> None:
        if self._link.is_cut:
            self._link.waiting[self] = self._link.waiting.get(self, 0) + 1
            return
        message, receiver = self._under_way.popleft(), self.receiver
        if receiver is None:
            return
        if message is CLOSED:
            self.receiver = None
            receiver.on_closed()
        else:
            receiver.on_message(message)


class End:
    """What a process has of a connection."""

    def __init__(self, process: Process, outgoing: Pipe, incoming: Pipe) -> None:
        self.process = process
        self.outgoing = outgoing
        self.incoming = incoming
        self.is_closed = False

    def begin(self, receiver: Receiver) -> None:
        self.incoming.receiver = receiver

    def send(self, message: object) -> None:
        if not self.is_closed:
            self.outgoing.send(message)

    def close(self) -> None:
        """Hears nothing more; the other side hears that."""
        if not self.is_closed:
            self.is_closed = True
            self.incoming.receiver = None
            self.outgoing.send(CLOSED)

    def break_off(self) -> None:
        """Both sides hear of it when they can."""
        self.incoming.send(CLOSED)
        self.outgoing.send(CLOSED)


Accept = Callable[[End], None]


class Refused(Exception):
    """Nobody listens there."""


class Network:
    def __init__(self, loop: VirtualLoop, chance: Random) -> None:
        self.loop = loop
        self._chance = chance
        self._links: dict[tuple[str, str], Link] = {}
        self._listeners: dict[str, tuple[Process, Accept]] = {}
        self._ends: dict[str, dict[End, str]] = {}
        """Of each host, with the host at the other side."""

    def link(self, source: str, target: str) -> Link:
        found = self._links.get((source, target))
        if found is None:
            found = self._links[source, target] = Link(self._chance)
        return found

    def links(self) -> list[Link]:
        return list(self._links.values())

    # listening and connecting; a host is known by its name, and has one port

    def listen(self, host: str, process: Process, accept: Accept) -> None:
        self._listeners[host] = (process, accept)

    def stop_listening(self, host: str, process: Process) -> None:
        if host in self._listeners and self._listeners[host][0] is process:
            del self._listeners[host]

    def connect(self, process: Process, source: str, target: str, done: Callable[[End | None], None]) -> None:
        """Calls `done` with the end at `source`, or None if it is refused; never, if nobody hears."""
        there, back = self.link(source, target), self.link(target, source)

        def arrive() -> None:
            if there.is_cut:
                return  # who asks will lose patience
            listening = self._listeners.get(target)
            if listening is None or listening[0].life is Life.DEAD:
                answer(None)
                return
            other, accept = listening
            outgoing, incoming = Pipe(self.loop, there, other), Pipe(self.loop, back, process)
            near, far = End(process, outgoing, incoming), End(other, incoming, outgoing)
            self._ends.setdefault(source, {})[near] = target
            self._ends.setdefault(target, {})[far] = source
            other.call_at(self.loop.time(), accept, far)
            answer(near)

        def answer(end: End | None) -> None:
            if not back.is_cut:
                process.call_at(self.loop.time() + back.delay(), done, end)

        self.loop.call_at(self.loop.time() + there.delay(), arrive)

    # faults

    def close_all_of(self, process: Process, host: str) -> None:
        """The process has ended, and its machine goes on."""
        self._forget_closed(host)
        for end in list(self._ends.get(host, ())):
            if end.process is process:
                end.close()
        self.stop_listening(host, process)

    def break_between(self, host: str, other: str) -> None:
        self._forget_closed(host)
        for end, target in list(self._ends.get(host, {}).items()):
            if target == other:
                end.break_off()

    def _forget_closed(self, host: str) -> None:
        self._ends[host] = {
            end: other for end, other in self._ends.get(host, {}).items() if not end.is_closed
        }
