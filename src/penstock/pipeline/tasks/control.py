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
LONGEST_TEXT: Final = 4_000
"""Characters of what goes into a line, which takes up to twelve bytes for each."""
HELLO_SECONDS: Final = 10.0
MOST_STRANGERS: Final = 256
"""Connections that have not said the secret yet; more are hung up on."""
Listener = Callable[[str, dict[str, Any]], None]
"""Hears of a pack, and what it says."""


class ControlServer:
    def __init__(self, host: str, on_news: Listener) -> None:
        self.secret = secrets.token_hex(16)
        self._on_news = on_news
        self._lines: set[socket.socket] = set()
        self._strangers: set[socket.socket] = set()
        self._generation = ""
        self._is_closed = False
        self._lock = threading.Lock()
        self._socket = socket.create_server((host, 0))
        self.address = (host, self._socket.getsockname()[1], self.secret)
        threading.Thread(target=self._accept, name="streams-control", daemon=True).start()

    def expect(self, generation: str) -> None:
        """Packs of this generation are wanted from now on, until they are stopped; all others are not."""
        with self._lock:
            self._generation = generation

    def stop_packs(self) -> None:
        """Those that are there, and those that were planned and come later."""
        with self._lock:
            self._generation = ""
            for line in self._lines:
                _say(line, {"stop": True})

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            _hang_up(self._socket)  # a thread that waits in accept hears of nothing else
            self._socket.close()
            for line in self._lines | self._strangers:
                _hang_up(line)

    def _accept(self) -> None:
        while True:
            try:
                line, _ = self._socket.accept()
            except OSError:
                if self._is_closed:
                    return
                continue  # whoever called has hung up already
            with self._lock:
                if self._is_closed or len(self._strangers) >= MOST_STRANGERS:
                    line.close()
                    continue
                self._strangers.add(line)
            threading.Thread(target=self._listen, args=(line,), name="streams-pack", daemon=True).start()

    def _listen(self, line: socket.socket) -> None:
        with line, line.makefile("rb") as reader:
            try:
                line.settimeout(HELLO_SECONDS)
                hello = json.loads(reader.readline(LONGEST_LINE))
                if not hmac.compare_digest(str(hello.get("secret")).encode(), self.secret.encode()):
                    return
                line.settimeout(None)
                self._welcome(line, hello["generation"])
                while news := reader.readline(LONGEST_LINE):
                    self._on_news(str(hello["pack"]), json.loads(news))
            except (OSError, ValueError, TypeError, AttributeError, KeyError, RecursionError):
                return
            finally:
                with self._lock:
                    self._strangers.discard(line)
                    self._lines.discard(line)

    def _welcome(self, line: socket.socket, generation: object) -> None:
        with self._lock:
            self._strangers.discard(line)
            self._lines.add(line)
            if generation != self._generation:
                _say(line, {"stop": True})


class ControlLine:
    """A pack's end of it."""

    def __init__(self, address: tuple[str, int, str], pack: str, generation: str) -> None:
        host, port, secret = address
        self._line = socket.create_connection((host, port), HELLO_SECONDS)
        self._line.settimeout(None)
        self.is_to_stop = threading.Event()
        self.is_broken = False
        _say(self._line, {"secret": secret, "pack": pack, "generation": generation})
        threading.Thread(target=self._listen, name="streams-control", daemon=True).start()

    def tell(self, **news: Any) -> None:
        short = {what: told[:LONGEST_TEXT] if isinstance(told, str) else told for what, told in news.items()}
        _say(self._line, short)

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
