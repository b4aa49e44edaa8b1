"""The line between planner and packs, over sockets."""

import json
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.pipeline.tasks.control import LONGEST_LINE, LONGEST_TEXT, ControlLine, ControlServer
from tests.support.processes import wait_for

SECONDS = 10.0
GENERATION = "now"


class Planner:
    def __init__(self) -> None:
        self.heard: list[tuple[str, dict[str, Any]]] = []
        self.server = ControlServer("127.0.0.1", lambda pack, news: self.heard.append((pack, news)))
        self.server.expect(GENERATION)
        self.lines: list[ControlLine] = []

    def line(self, pack: str = "p", generation: str = GENERATION) -> ControlLine:
        self.lines.append(ControlLine(self.server.address, pack, generation))
        return self.lines[-1]

    def hear(self, count: int = 1) -> list[tuple[str, dict[str, Any]]]:
        wait_for(lambda: len(self.heard) >= count, SECONDS, "news")
        return self.heard

    def is_hung_up_on(self, said: bytes) -> bool:
        """What a stranger says ends the line, and is news to nobody."""
        with socket.create_connection(self.server.address[:2], SECONDS) as stranger:
            stranger.sendall(said)
            try:
                return stranger.recv(100) == b"" and not self.heard
            except ConnectionResetError:
                return not self.heard


def control_threads() -> set[threading.Thread]:
    return {each for each in threading.enumerate() if each.name in ("streams-control", "streams-pack")}


@pytest.fixture
def planner() -> Iterator[Planner]:
    before = control_threads()
    planner = Planner()
    yield planner
    for line in planner.lines:
        line.close()
    planner.server.close()
    wait_for(lambda: control_threads() <= before, SECONDS, "the threads of the lines to end")


def hello(**changes: Any) -> bytes:
    return (
        json.dumps({"secret": "guessed", "pack": "p", "generation": GENERATION, **changes}).encode() + b"\n"
    )


@pytest.mark.parametrize(
    "said",
    [
        hello(),
        hello(secret=""),
        hello(secret=None),
        hello(secret="geheimnißvoll"),
        b"\n",
        b"[]\n",
        b"null\n",
        b"\xff\xfe\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"{" * 500 + b"\n",
        b"[" * (LONGEST_LINE - 1) + b"\n",
        b"x" * (2 * LONGEST_LINE),
    ],
    ids=[
        *("wrong", "empty", "none", "not ascii", "line", "list", "null", "bytes", "http"),
        *("garbage", "deep", "long"),
    ],
)
def test_strangers_are_hung_up_on(planner: Planner, said: bytes) -> None:
    assert planner.is_hung_up_on(said)
    planner.line("known").tell(state="RUNNING")
    assert planner.hear() == [("known", {"state": "RUNNING"})]


@pytest.mark.parametrize("missing", ["pack", "generation"])
def test_a_hello_has_all_of_it(planner: Planner, missing: str) -> None:
    whole = json.loads(hello(secret=planner.server.secret))
    del whole[missing]
    assert planner.is_hung_up_on(json.dumps(whole).encode() + b'\n{"state": "RUNNING"}\n')


def test_who_says_nonsense_later_is_hung_up_on(planner: Planner) -> None:
    assert planner.is_hung_up_on(hello(secret=planner.server.secret) + b"nonsense\n")


def test_a_stranger_who_says_nothing_does_not_outlive_the_planner(planner: Planner) -> None:
    with socket.create_connection(planner.server.address[:2], SECONDS) as stranger:
        planner.line().tell(state="RUNNING")
        planner.hear()
        planner.server.close()
        assert stranger.recv(100) == b""


def test_many_packs_are_heard_and_stopped(planner: Planner) -> None:
    lines = {f"p{number}": planner.line(f"p{number}") for number in range(40)}
    for records in range(5):
        for line in lines.values():
            line.tell(state="RUNNING", records=records)
    for name in lines:
        own = [news["records"] for pack, news in planner.hear(200) if pack == name]
        assert own == [0, 1, 2, 3, 4]
    planner.server.stop_packs()
    for line in lines.values():
        assert line.is_to_stop.wait(SECONDS)
        assert not line.is_broken


def test_a_pack_that_comes_after_all_were_stopped_stops(planner: Planner) -> None:
    """Spark begins what was planned when it has the time."""
    planner.server.stop_packs()
    assert planner.line().is_to_stop.wait(SECONDS)
    planner.server.expect("next")
    assert planner.line(generation=GENERATION).is_to_stop.wait(SECONDS), "of a tick that is over"
    line = planner.line(generation="next")
    line.tell(state="RUNNING")
    planner.hear()
    assert not line.is_to_stop.is_set()


def test_a_pack_stops_when_its_planner_has_gone(planner: Planner) -> None:
    line = planner.line()
    line.tell(state="RUNNING")
    planner.hear()
    planner.server.close()
    assert line.is_to_stop.wait(SECONDS)
    assert line.is_broken
    line.tell(state="RUNNING")
    line.close()
    line.close()


def test_nobody_comes_to_a_planner_that_has_gone(planner: Planner) -> None:
    planner.server.close()
    with pytest.raises(OSError, match="refused"):
        planner.line()


def test_a_failure_is_heard_however_much_it_says(planner: Planner) -> None:
    line = planner.line()
    line.tell(state="FAILED", error="\N{GRINNING FACE}" * LONGEST_LINE, records=3)
    line.tell(state="RUNNING")
    failed, running = planner.hear(2)
    assert failed == ("p", {"state": "FAILED", "error": "\N{GRINNING FACE}" * LONGEST_TEXT, "records": 3})
    assert running == ("p", {"state": "RUNNING"})
