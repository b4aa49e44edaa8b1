"""An HTTP server that remembers what it was asked, and fails when it is told to."""

from __future__ import annotations

import ssl
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Reply:
    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    hangs_up: bool = False
    """Closes the connection in place of an answer."""
    closes: bool = False
    """Closes the connection behind the answer, without a word of it."""


@dataclass
class Server:
    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    replies: deque[Reply] = field(default_factory=deque)
    """The next ones; then what `answer` says."""
    answer: Callable[[Asked], Reply] = lambda asked: Reply()
    connections: int = 0

    @property
    def bodies(self) -> list[str]:
        return [each.body.decode() for each in self.asked]

    @property
    def paths(self) -> list[str]:
        return [each.path for each in self.asked]


def _handler(server: Server) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = 65536  # one packet for an answer

        def setup(self) -> None:
            super().setup()
            server.connections += 1

        def handle_any(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            asked = Asked(self.command, self.path, dict(self.headers.items()), body)
            server.asked.append(asked)
            reply = server.replies.popleft() if server.replies else server.answer(asked)
            self.close_connection = reply.closes or reply.hangs_up
            if reply.hangs_up:
                return
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(reply.body)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any  # noqa: N815 - the library's names

        def log_message(self, format: str, *arguments: Any) -> None:
            pass

    return Handler


@contextmanager
def running_server(port: int = 0, certificate: Path | None = None) -> Iterator[Server]:
    """With https, if it is given a file with key and certificate."""
    server = Server()
    listener = ThreadingHTTPServer(("127.0.0.1", port), _handler(server))
    listener.daemon_threads = True
    server.url = f"http://127.0.0.1:{listener.server_address[1]}"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        listener.socket = context.wrap_socket(listener.socket, server_side=True)
        listener.handle_error = lambda request, address: None  # type: ignore[method-assign]
        server.url = server.url.replace("http:", "https:")
    thread = threading.Thread(target=listener.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        listener.shutdown()
        listener.server_close()
        thread.join()
