"""Finding and signalling the servers that kafka-server-start and zookeeper-server-start run.

Kafka's scripts look for a class name in `ps ax`. Here a server is a Python process that runs the start command,
belongs to this user and lives in this network namespace: a shell in one container or namespace leaves the
servers of others alone. A server that `penstock up` watches over would come back at once; it is named, and left to
`penstock down`.
"""

import os
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import ConfigError
from penstock.stack.processes import ProcessIdentity, identify

PYTHON_FLAGS_WITH_VALUE = ("-X", "-W")
PENSTOCK = ("penstock", "penstock.cli.main")


@dataclass(frozen=True, slots=True)
class RunningServer:
    process: ProcessIdentity
    arguments: tuple[str, ...]
    directory: Path
    """Where it was started: relative paths among its arguments start here."""
    is_supervised: bool


def running_servers(command: str) -> list[RunningServer]:
    """The servers that `command`, such as kafka-server-start, runs as."""
    return [server for pid in _own_processes() if (server := _server(pid, command)) is not None]


def stop_servers(servers: list[RunningServer], what: str) -> int:
    """Signals all but the supervised. Kafka's exit code: 1 if there was nobody to signal."""
    number = _signal()
    free = [server for server in servers if not server.is_supervised]
    for server in free:
        server.process.send(number)
    if free:
        return 0
    print(f"No {what} server to stop")
    for server in servers:
        print(f"The one with pid {server.process.pid} belongs to `penstock up`: `penstock down` stops it")
    return 1


def _signal() -> signal.Signals:
    """$SIGNAL, as Kafka's scripts take it: TERM, KILL or a number."""
    text = os.environ.get("SIGNAL") or "TERM"
    try:
        return (
            signal.Signals(int(text)) if text.isdigit() else signal.Signals[f"SIG{text.removeprefix('SIG')}"]
        )
    except (KeyError, ValueError):
        raise ConfigError(f"SIGNAL: got {text!r}; takes the name of a signal, such as TERM or KILL") from None


def _own_processes() -> Iterator[int]:
    user, network = os.geteuid(), _network_of(os.getpid())
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if entry.stat().st_uid == user and _network_of(int(entry.name)) == network:
                yield int(entry.name)
        except OSError:
            continue  # it has ended


def _network_of(pid: int) -> str | None:
    """The network namespace; None where the kernel does not tell."""
    try:
        return os.readlink(f"/proc/{pid}/ns/net")
    except OSError:
        return None


def _server(pid: int, command: str) -> RunningServer | None:
    arguments = _arguments_of(pid, command)
    process = identify(pid)
    if arguments is None or process is None:
        return None
    try:
        directory = Path(os.readlink(f"/proc/{pid}/cwd"))
    except OSError:
        return None
    parent, parent_arguments = _python_program(_parent_of(pid))
    return RunningServer(process, arguments, directory, parent in PENSTOCK and "up" in parent_arguments[:1])


def _arguments_of(pid: int, command: str) -> tuple[str, ...] | None:
    """What a process gave to the command, by its own name or as `penstock server-start`; None if it is another."""
    program, arguments = _python_program(pid)
    if program in (command, f"penstock.cli.tools.{command.replace('-', '_')}"):
        return arguments
    if program in PENSTOCK and arguments[:1] == (command.removeprefix("kafka-"),):
        return arguments[1:]
    return None


def _python_program(pid: int) -> tuple[str | None, tuple[str, ...]]:
    """The script or module that a Python process runs, and its arguments; None if it is no Python process."""
    words = _words_of(pid)
    if not words or not Path(words[0]).name.startswith("python"):
        return None, ()
    position = 1
    while position < len(words) and words[position].startswith("-") and words[position] != "-m":
        position += 2 if words[position] in PYTHON_FLAGS_WITH_VALUE else 1
    if words[position : position + 1] == ["-m"]:
        return next(iter(words[position + 1 : position + 2]), None), tuple(words[position + 2 :])
    return Path(words[position]).name if position < len(words) else None, tuple(words[position + 1 :])


def _words_of(pid: int) -> list[str]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    except OSError:
        return []


def _parent_of(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0
