"""From a frame to the handler of its API.

Each file in `broker.handlers` registers its handlers in the table here, with the versions that they serve;
what ApiVersions answers and `docs/reference/protocol.md` lists is derived from that table.
"""

import asyncio
import importlib
import logging
import pkgutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from penstock.broker.connection import Answer, Connection
from penstock.errors import ProtocolError
from penstock.wire.api_keys import ApiKey
from penstock.wire.codec import decode_message, is_flexible
from penstock.wire.frames import decode_request_header, peek_api
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

log = logging.getLogger("penstock.broker.router")


class RequestContext:
    """What a handler may want to know of a request besides its message."""

    __slots__ = ("client_id", "connection", "version")

    def __init__(self, version: int, client_id: str | None, connection: Connection) -> None:
        self.version = version
        self.client_id = client_id
        self.connection = connection


Handler = Callable[["Broker", Any, RequestContext], Answer]
HandlerT = TypeVar("HandlerT", bound=Callable[..., Answer])


class Api(NamedTuple):
    request: type[ApiMessage]
    versions: tuple[int, int]
    handler: Handler
    advertised_from: int
    """The lowest version in ApiVersions, where it differs from the lowest one served."""
    refuse_version: "Callable[[Broker], ApiMessage] | None"
    """The answer, in version 0, to a version that is not served; without it the connection is closed."""


APIS: dict[int, Api] = {}


def handles(
    request: type[ApiMessage],
    versions: tuple[int, int],
    *,
    advertised_from: int | None = None,
    refuse_version: "Callable[[Broker], ApiMessage] | None" = None,
) -> Callable[[HandlerT], HandlerT]:
    """Registers a handler for a request in these versions."""

    def register(handler: HandlerT) -> HandlerT:
        assert request.API_KEY not in APIS, request
        assert request.VERSIONS[0] <= versions[0] <= versions[1] <= request.VERSIONS[1], (request, versions)
        first = versions[0] if advertised_from is None else advertised_from
        APIS[request.API_KEY] = Api(request, versions, handler, first, refuse_version)
        return handler

    return register


def load_handlers() -> None:
    """Imports every file of `broker.handlers`, which fills the table."""
    package = importlib.import_module("penstock.broker.handlers")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"penstock.broker.handlers.{module.name}")


class Router:
    """Dispatches the frames of all connections of one broker."""

    def __init__(self, broker: "Broker", loop: asyncio.AbstractEventLoop) -> None:
        self.broker = broker
        self.loop = loop
        self.connections: set[Connection] = set()

    def on_connected(self, connection: Connection) -> None:
        self.connections.add(connection)
        limit = self.broker.settings.max_connections
        if len(self.connections) > limit:
            log.warning("closing the connection of %s: max.connections is %d", connection.peer, limit)
            connection.close()

    def on_disconnected(self, connection: Connection) -> None:
        self.connections.discard(connection)

    def dispatch(self, connection: Connection, frame: memoryview) -> None:
        key, version = peek_api(frame)
        api = APIS.get(key)
        if api is None:
            raise ProtocolError(f"API key {key} is not one that this broker serves")
        low, high = api.versions
        if low <= version <= high:
            self._run(connection, api, version, frame)
        elif api.refuse_version is not None:
            header, _ = decode_request_header(frame, flexible=False)
            connection.answer(api.refuse_version(self.broker), 0, header.correlation_id)
        else:
            raise ProtocolError(f"version {version} of {ApiKey(key).name} is not served: {api.versions}")

    def _run(self, connection: Connection, api: Api, version: int, frame: memoryview) -> None:
        header, position = decode_request_header(frame, is_flexible(api.request, version))
        request = decode_message(api.request, version, frame, position)
        context = RequestContext(version, header.client_id, connection)
        try:
            answer = api.handler(self.broker, request, context)
        except Exception as error:
            if isinstance(error, ProtocolError):
                raise
            log.exception("%s v%d of %s failed", ApiKey(header.api_key).name, version, connection.peer)
            raise ProtocolError("the request failed in the broker") from error
        connection.answer(answer, version, header.correlation_id)
