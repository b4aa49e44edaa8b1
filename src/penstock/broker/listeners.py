"""The sockets that a broker listens on."""

import asyncio
import errno
import os
import socket

from penstock.broker.connection import Connection
from penstock.broker.router import Router
from penstock.errors import ConfigError
from penstock.settings.broker import BrokerSettings
from penstock.settings.endpoints import Endpoint

PLAINTEXT = "PLAINTEXT"
OPERATING_SYSTEM_DEFAULT = -1


class Listeners:
    def __init__(self, router: Router) -> None:
        self.router = router
        self._sockets: list[tuple[Endpoint, socket.socket]] = []
        self._servers: list[asyncio.Server] = []

    async def bind(self, settings: BrokerSettings) -> dict[str, tuple[str, int]]:
        """Takes the ports; returns the addresses to advertise, by listener name."""
        for endpoint in settings.endpoints:
            if endpoint.security_protocol != PLAINTEXT:
                raise ConfigError(
                    f"listeners: got {endpoint} with {endpoint.security_protocol}; takes {PLAINTEXT} listeners"
                )
            self._sockets.append((endpoint, _bind(endpoint, settings)))
        self._settings = settings
        ports = {endpoint.listener_name: sock.getsockname()[1] for endpoint, sock in self._sockets}
        return {
            endpoint.listener_name: (endpoint.host, endpoint.port or ports[endpoint.listener_name])
            for endpoint in settings.advertised_endpoints
        }

    async def serve(self) -> None:
        settings = self._settings
        for endpoint, sock in self._sockets:
            server = await self.router.loop.create_server(
                lambda name=endpoint.listener_name: Connection(  # type: ignore[misc]
                    self.router, name, settings.socket_request_max_bytes
                ),
                sock=sock,
                backlog=settings.socket_listen_backlog_size,
            )
            self._servers.append(server)

    async def close(self) -> None:
        for server in self._servers:
            server.close()
        for connection in list(self.router.connections):
            connection.close()
        for _, sock in self._sockets:
            sock.close()
        await asyncio.sleep(0)


def _bind(endpoint: Endpoint, settings: BrokerSettings) -> socket.socket:
    family = socket.AF_INET6 if ":" in endpoint.host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    for option, size in (
        (socket.SO_SNDBUF, settings.socket_send_buffer_bytes),
        (socket.SO_RCVBUF, settings.socket_receive_buffer_bytes),
    ):
        if size != OPERATING_SYSTEM_DEFAULT:
            sock.setsockopt(socket.SOL_SOCKET, option, size)  # connections inherit it
    try:
        sock.bind((endpoint.host, endpoint.port))
    except OSError as error:
        sock.close()
        why = "the port is in use" if error.errno == errno.EADDRINUSE else os.strerror(error.errno or 0)
        raise ConfigError(f"listeners: got {endpoint}; {why}") from error
    sock.setblocking(False)
    return sock
