"""A network and a few directories of one's own, for tests of commands whose ports and paths are fixed.

A process that does nothing holds the namespaces open; commands are run inside with `nsenter`. Directories of the test
are mounted over the fixed paths, so that nobody else sees what is written there, and the test does.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

ENTER = ("--net", "--mount")
HOLD = """
set -e
ip link set lo up
while [ $# -gt 0 ]; do mount --bind "$1" "$2"; shift 2; done
echo ready
exec cat
"""


def _unavailable(reason: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def _as_root() -> tuple[str, ...]:
    return () if os.geteuid() == 0 else ("--user", "--map-root-user")


class Namespace:
    def __init__(self, holder: subprocess.Popen[str]) -> None:
        self._holder = holder

    def command(self, directory: Path, *words: str) -> list[str]:
        """The words with what runs them inside, in a directory; the process is the command's own."""
        user = () if os.geteuid() == 0 else ("--user", "--preserve-credentials")
        return ["nsenter", "--target", str(self._holder.pid), *user, *ENTER, f"--wdns={directory}", *words]


@contextmanager
def network_namespace(mounts: Mapping[Path, Path] | None = None) -> Iterator[Namespace]:
    """`mounts` maps fixed paths to the directories that stand in for them."""
    for program in ("unshare", "nsenter", "ip", "mount"):
        if shutil.which(program) is None:
            _unavailable(f"no {program} on PATH to make a network namespace with")
    for fixed in mounts or {}:
        fixed.mkdir(exist_ok=True)  # it stays, empty: another test may have mounted over it
    pairs = [str(path) for fixed, own in (mounts or {}).items() for path in (own, fixed)]
    holder = subprocess.Popen(
        ["unshare", *_as_root(), *ENTER, "sh", "-c", HOLD, "hold", *pairs],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert holder.stdout is not None
        said = holder.stdout.readline()
        if said != "ready\n":
            _unavailable(f"no network namespace can be made here: {said.strip()}")
        yield Namespace(holder)
    finally:
        _kill_all_in(Path(f"/proc/{holder.pid}/ns/net"), but=holder.pid)
        holder.communicate(timeout=30)  # the end of its input is its end


def _kill_all_in(network: Path, but: int) -> None:
    """What was started inside and went into the background ends with the namespace."""
    if (name := _link(network)) is None or name == _link(Path("/proc/self/ns/net")):
        return
    for process in Path("/proc").glob("[0-9]*"):
        if _link(process / "ns/net") == name and int(process.name) != but:
            with suppress(ProcessLookupError):
                os.kill(int(process.name), signal.SIGKILL)


def _link(path: Path) -> str | None:
    try:
        return os.readlink(path)
    except OSError:
        return None
