"""Ports for servers that are told theirs before they start, and have them again after a restart.

A free port is picked below the range from which the kernel takes the ports of outgoing connections, so that
no client can grab it between the pick and the bind of the server that it is meant for. Nor can another worker of
pytest-xdist: each has ports of its own.
"""

import os
import random
import socket
from pathlib import Path

LOWEST_PORT = 10_000
PORT_ATTEMPTS = 1_000
MOST_WORKERS = 16

_handed_out: set[int] = set()
_random = random.Random()  # its own seed: a test that seeds the global one must not make workers collide


def _first_ephemeral_port() -> int:
    try:
        return int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    except OSError:
        return 32_768


def _is_free(port: int, host: str) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def _worker() -> int:
    return int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:]) % MOST_WORKERS


def free_port(host: str = "127.0.0.1") -> int:
    """A port that nobody listens on and that this process has not been given before."""
    highest = max(_first_ephemeral_port() - 1, LOWEST_PORT + PORT_ATTEMPTS)
    for _ in range(PORT_ATTEMPTS):
        port = _random.randint(LOWEST_PORT, highest) // MOST_WORKERS * MOST_WORKERS + _worker()
        if port not in _handed_out and _is_free(port, host):
            _handed_out.add(port)
            return port
    raise RuntimeError(f"no free port between {LOWEST_PORT} and {highest}")
