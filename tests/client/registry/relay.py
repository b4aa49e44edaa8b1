"""Something between a client and a real registry that can ask for a password, encrypt, refuse, and hang up."""

import http.client
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Relay(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, registry_port: int, wanted: str | None, tls: ssl.SSLContext | None) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        if tls is not None:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.url = f"{'http' if tls is None else 'https'}://localhost:{self.server_port}"
        self.registry_port = registry_port
        self.wanted = wanted
        """The Authorization header that requests must have."""
        self.refusals: list[tuple[int, dict[str, str]]] = []
        """Status and headers of answers to the next requests, which do not reach the registry."""
        self.hang_ups = 0
        """So many answers more are cut off: the connection ends in place of them."""
        self.connections = 0
        self.requests: list[str] = []

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Relay

    def setup(self) -> None:
        self.server.connections += 1
        super().setup()

    def _relay(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.requests.append(f"{self.command} {self.path}")
        if self.server.hang_ups:
            self.server.hang_ups -= 1
            self.close_connection = True
        elif self.server.wanted is not None and self.headers.get("Authorization") != self.server.wanted:
            self._answer(401, {}, b'{"error_code": 401, "message": "Unauthorized"}')
        elif self.server.refusals:
            status, headers = self.server.refusals.pop(0)
            self._answer(status, headers, b"<html>not now</html>")
        else:
            self._answer(*self._asked(body))

    def _asked(self, body: bytes) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.registry_port, timeout=60)
        try:
            connection.request(self.command, self.path, body, {"Content-Type": self.headers["Content-Type"]})
            response = connection.getresponse()
            return response.status, {}, response.read()
        finally:
            connection.close()

    def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_DELETE = _relay  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""


@contextmanager
def running_relay(
    registry_port: int, wanted: str | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[Relay]:
    with Relay(registry_port, wanted, tls) as relay:
        thread = threading.Thread(target=relay.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield relay
        finally:
            relay.shutdown()
            thread.join()
