"""Is a port free, and who holds it: from the kernel's tables under /proc."""

import errno
import os
import socket
from collections.abc import Iterable, Iterator
from pathlib import Path

from penstock.errors import ConfigError
from penstock.stack.processes import command_of
from penstock.stack.services import Service

_LISTENING = "0A"
_LONGEST_COMMAND = 120


def refuse_ports_in_use(services: Iterable[Service]) -> None:
    complaints = [complaint for service in services if (complaint := _complaint(service))]
    if complaints:
        complaints.append("Stop it, or move every port with --port-offset, as in --port-offset 1000.")
        raise ConfigError("\n".join(complaints))


def _complaint(service: Service) -> str | None:
    try:
        _bind(service.host, service.port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return f"Port {service.port} ({service.name}) is in use by {describe_holder(service.port)}."
        raise ConfigError(
            f"--host: got {service.host!r}; takes an address of this machine ({error.strerror or error})"
        ) from None
    return None


def _bind(host: str, port: int) -> None:
    family, kind, protocol, _, address = socket.getaddrinfo(
        host or "0.0.0.0", port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(address)


def describe_holder(port: int) -> str:
    """Whoever listens on a port: "pid 123: java -jar kafka.jar"."""
    sockets = dict(_listening_sockets(port))
    for pid in _pids_holding(set(sockets)):
        command = command_of(pid)
        shown = command if len(command) <= _LONGEST_COMMAND else command[: _LONGEST_COMMAND - 3] + "..."
        return f"pid {pid}: {shown}"
    for user_id in sockets.values():
        return f"a process of user {user_id}, which this user can't see"
    return "a process that can't be found"


def _listening_sockets(port: int) -> Iterator[tuple[str, str]]:
    """(inode, user id) of each socket that listens on the port."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            lines = Path(table).read_text().splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                yield fields[9], fields[7]


def _pids_holding(inodes: set[str]) -> Iterator[int]:
    links = {f"socket:[{inode}]" for inode in inodes}
    for name in os.listdir("/proc"):
        if name.isdecimal() and _holds(name, links):
            yield int(name)


def _holds(pid: str, links: set[str]) -> bool:
    directory = f"/proc/{pid}/fd"
    try:
        for descriptor in os.listdir(directory):
            try:
                if os.readlink(f"{directory}/{descriptor}") in links:
                    return True
            except OSError:
                continue
    except OSError:
        pass
    return False
