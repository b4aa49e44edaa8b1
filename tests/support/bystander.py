"""A client that asks ApiVersions and Metadata all the time, in a process of its own, and says what it had to wait.

How long an answer takes on a busy machine is mostly a matter of who gets a processor. So what is judged is the wait
less the time in which the broker's event loop or this process stood in line for one, as the kernel counts it
(`/proc/.../schedstat`): the rest is what the broker did, or waited for, while nobody else was served. Where the
kernel does not count, it is the whole wait.

Prints a line of JSON for each wait beyond `TOLD_SECONDS`, and the longest ones when its standard input ends.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from penstock.wire.messages.api_versions import ApiVersionsRequest
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.support.processes import dying_with_us
from tests.support.wire_client import WireClient

PAUSE_SECONDS = 0.002
TOLD_SECONDS = 0.1
READY = "asking"


@dataclass
class Waits:
    """The longest of each kind, and when the broker's own was."""

    asked: int = 0
    wall: float = 0.0
    broker: float = 0.0

    def note(self, wall: float, broker: float) -> None:
        self.asked += 1
        self.wall = max(self.wall, wall)
        self.broker = max(self.broker, broker)


def in_line_seconds(pid: int, thread: int | None = None) -> float:
    """What a thread of the process has waited for a processor; the first one, unless told, which has the event loop."""
    try:
        return int(Path(f"/proc/{pid}/task/{thread or pid}/schedstat").read_text().split()[1]) / 1e9
    except OSError:
        return 0.0


def own_in_line_seconds() -> float:
    """What all threads of this process have, for a server that shares it with its client."""
    pid = os.getpid()
    return sum(in_line_seconds(pid, int(each.name)) for each in Path(f"/proc/{pid}/task").iterdir())


def watch(bootstrap: str, pid: int, topic: str, stopping: threading.Event) -> Waits:
    requests = (ApiVersionsRequest("bystander", "1.0"), MetadataRequest([MetadataRequestTopic(name=topic)]))
    waits, own = Waits(), os.getpid()
    with WireClient(bootstrap, timeout=120.0) as client:
        client.send(requests[0])
        print(READY, flush=True)
        while not stopping.is_set():
            for request in requests:
                in_line = in_line_seconds(pid) + in_line_seconds(own)
                began = time.monotonic()
                client.send(request)
                wall = time.monotonic() - began
                broker = wall - (in_line_seconds(pid) + in_line_seconds(own) - in_line)
                waits.note(wall, broker)
                if broker > TOLD_SECONDS:
                    print(json.dumps({"at": time.time(), "wall": wall, "broker": broker}), flush=True)
            time.sleep(PAUSE_SECONDS)
    return waits


def main() -> None:
    bootstrap, pid, topic = sys.argv[1:]
    stopping = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stopping.set()), daemon=True).start()
    print(json.dumps(asdict(watch(bootstrap, int(pid), topic, stopping))), flush=True)


class Bystander:
    """The process; `finish` ends it and returns what it saw."""

    def __init__(self, bootstrap: str, pid: int, topic: str) -> None:
        argv = [sys.executable, "-m", __spec__.name if __spec__ else __name__, bootstrap, str(pid), topic]
        self._process = subprocess.Popen(
            dying_with_us(argv), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == READY

    def finish(self) -> tuple[Waits, list[str]]:
        """And the lines about long waits."""
        said, _ = self._process.communicate("", timeout=180)
        assert self._process.returncode == 0, said
        *told, last = said.splitlines()
        return Waits(**json.loads(last)), told

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


@contextmanager
def standing_by(bootstrap: str, pid: int, topic: str) -> Iterator[Waits]:
    """What it saw is there at the end."""
    seen = Waits()
    bystander = Bystander(bootstrap, pid, topic)
    try:
        yield seen
        waits, _ = bystander.finish()
        seen.asked, seen.wall, seen.broker = waits.asked, waits.wall, waits.broker
    finally:
        bystander.kill()


if __name__ == "__main__":
    main()
