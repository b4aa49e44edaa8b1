"""The line between the process that planned packs and the packs: "stop" goes one way, how they fare the other.

When the line breaks, its pack stops at once: nobody would hear of it any more, and somebody else will have its tasks.
Each side says one JSON value per line; who doesn't know the secret is hung up on after the first.
"""

from __future__ import annotations

import hmac
import json
import secrets
import socket
import threading
from collections.abc import Callable
from typing import Any, Final

LONGEST_LINE: Final = 64 * 1024
HELLO_SECONDS: Final = 10.0
Listener = Callable[[str, dict[str, Any]], None]
"""Hears of a pack, and what it says."""


class ControlServer:
    def __init__(self, host: str, on_news: Listener) -> None:
        self.secret = secrets.token_hex(16)
        self._on_news = on_news
        self._lines: set[socket.socket] = set()
        self._lock = threading.Lock()
        self._socket = socket.create_server((host, 0))
        self.address = (host, self._socket.getsockname()[1], self.secret)
        threading.Thread(target=self._accept, name="streams-control", daemon=True).start()

    def stop_packs(self) -> None:
        with self._lock:
            for line in self._lines:
                _say(line, {"stop": True})

    def close(self) -> None:
        with self._lock:
            self._socket.close()
            for line in self._lines:
                _hang_up(line)

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._listen, args=(line,), name="streams-pack", daemon=True).start()

    def _listen(self, line: socket.socket) -> None:
        with line:
            try:
                line.settimeout(HELLO_SECONDS)
                reader = line.makefile("rb")
                hello = json.loads(reader.readline(LONGEST_LINE))
                if not hmac.compare_digest(str(hello.get("secret")), self.secret):
                    return
                line.settimeout(None)
                with self._lock:
                    self._lines.add(line)
                while news := reader.readline(LONGEST_LINE):
                    self._on_news(str(hello["pack"]), json.loads(news))
            except (OSError, ValueError, AttributeError, KeyError):
                return
            finally:
                with self._lock:
                    self._lines.discard(line)


class ControlLine:
    """A pack's end of it."""

    def __init__(self, address: tuple[str, int, str], pack: str) -> None:
        host, port, secret = address
        self._line = socket.create_connection((host, port), HELLO_SECONDS)
        self._line.settimeout(None)
        self.is_to_stop = threading.Event()
        self.is_broken = False
        _say(self._line, {"secret": secret, "pack": pack})
        threading.Thread(target=self._listen, name="streams-control", daemon=True).start()

    def tell(self, **news: Any) -> None:
        _say(self._line, news)

    def close(self) -> None:
        _hang_up(self._line)

    def _listen(self) -> None:
        with self._line, self._line.makefile("rb") as reader:
            try:
                while said := reader.readline(LONGEST_LINE):
                    if json.loads(said).get("stop"):
                        self.is_to_stop.set()
            except (OSError, ValueError):
                pass
        self.is_broken = True
        self.is_to_stop.set()


def _say(line: socket.socket, what: dict[str, Any]) -> None:
    try:
        line.sendall(json.dumps(what).encode() + b"\n")
    except OSError:
        pass  # the other side is gone; who reads hears of it


def _hang_up(line: socket.socket) -> None:
    try:
        line.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
