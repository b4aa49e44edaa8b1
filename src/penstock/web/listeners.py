"""Where a service listens: `http://host:port` or `https://host:port`, and the sockets for it."""

import socket
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from penstock.errors import ConfigError

BACKLOG = 2048
HTTP, HTTPS = "http", "https"
TAKES = "takes http://host:port or https://host:port, several with commas"


class Listener(NamedTuple):
    host: str
    port: int
    scheme: str = HTTP

    def __str__(self) -> str:
        return f"{self.scheme}://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def parse_listeners(key: str, texts: Iterable[str]) -> list[Listener]:
    listeners = [_parse(key, text.strip()) for text in texts]
    if not listeners:
        raise ConfigError(f"{key}: is empty; {TAKES}")
    return listeners


def _parse(key: str, text: str) -> Listener:
    try:
        parts = urlsplit(text)
        if parts.scheme in (HTTP, HTTPS) and parts.port is not None and not parts.path.strip("/"):
            return Listener(parts.hostname or "0.0.0.0", parts.port, parts.scheme)
    except ValueError:
        pass
    raise ConfigError(f"{key}: got {text!r}, {TAKES}")


def bind(key: str, listener: Listener) -> socket.socket:
    """A socket that listens; port 0 is any that is free."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            listener.host, listener.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        bound = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(f"{key}: can't listen on {listener}: {error.strerror or error}") from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
        bound.listen(BACKLOG)
    except OSError as error:
        bound.close()
        raise ConfigError(f"{key}: can't listen on {listener}: {error.strerror or error}") from None
    return bound
