"""Where a service listens: `http://host:port`, and the sockets for it."""

import socket
from collections.abc import Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

from penstock.errors import ConfigError

BACKLOG = 2048


class Listener(NamedTuple):
    host: str
    port: int

    def __str__(self) -> str:
        return f"http://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"


def parse_listeners(key: str, texts: Iterable[str]) -> list[Listener]:
    listeners = [_parse(key, text.strip()) for text in texts]
    if not listeners:
        raise ConfigError(f"{key}: is empty; takes http://host:port[,http://host:port...]")
    return listeners


def _parse(key: str, text: str) -> Listener:
    if text.startswith("https:"):
        raise ConfigError(f"{key}: got {text!r}; https is not available yet, takes http://host:port")
    try:
        parts = urlsplit(text)
        if parts.scheme == "http" and parts.port is not None and not parts.path.strip("/"):
            return Listener(parts.hostname or "0.0.0.0", parts.port)
    except ValueError:
        pass
    raise ConfigError(f"{key}: got {text!r}, takes http://host:port[,http://host:port...]")


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
