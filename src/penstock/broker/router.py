"""From a frame to the handler of its API.

Each file in `broker.handlers` registers its handlers in the table here, with the versions that they serve;
what ApiVersions answers and `docs/reference/protocol.md` lists is derived from that table.
"""

import asyncio
import importlib
import logging
import pkgutil
import resource
import sys
from collections import Counter, deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from penstock.broker import forwarding
from penstock.broker.asked_once import ANSWERED_ONCE, Once, leave_out_repetitions
from penstock.broker.connection import Answer, Connection, RequestContext
from penstock.broker.long_requests import LONG_FROM, LONG_FROM_BYTES, SLICED, answer_at_length
from penstock.broker.loop_meter import LoopMeter
from penstock.broker.produce_memo import ParkedMemo
from penstock.broker.receive_buffers import ReceiveBuffers
from penstock.errors import ProtocolError
from penstock.wire.api_keys import ApiKey
from penstock.wire.codec import MAX_ELEMENTS, TooManyElements, decode_message, is_flexible
from penstock.wire.frames import decode_client_id, decode_request_start, skip_header_tags
from penstock.wire.messages.produce import ProduceRequest
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

log = logging.getLogger("penstock.broker.router")

__all__ = ["RequestContext", "Router", "handles", "load_handlers"]


RESERVED_DESCRIPTORS = 64
"""Of those that the process may have; clients are refused before they take the ones for ZooKeeper and the logs."""
FINISH_SECONDS = 10.0
"""For what is at work when the broker stops."""
SHORTAGE_LOG_SECONDS = 10.0
"""A shortage of descriptors is told once in this time, not for each client."""

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
    at_controller: type[ApiMessage] | None = None,
) -> Callable[[HandlerT], HandlerT]:
    """Registers a handler for a request in these versions; one that only the controller serves names its answer."""

    def register(handler: HandlerT) -> HandlerT:
        assert request.API_KEY not in APIS, request
        assert request.VERSIONS[0] <= versions[0] <= versions[1] <= request.VERSIONS[1], (request, versions)
        first = versions[0] if advertised_from is None else advertised_from
        serve = handler if at_controller is None else forwarding.at_controller(handler, at_controller)
        APIS[request.API_KEY] = Api(request, versions, serve, first, refuse_version)
        return handler

    return register


def load_handlers() -> None:
    """Imports every file of `broker.handlers`, which fills the table."""
    package = importlib.import_module("penstock.broker.handlers")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"penstock.broker.handlers.{module.name}")


def _descriptors_for_clients() -> float:
    """The system hands out the lowest number that is free: one beyond this means that the reserve is touched."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if limit == resource.RLIM_INFINITY:
        return float("inf")
    return limit - min(RESERVED_DESCRIPTORS, limit // 4)


class Route(NamedTuple):
    """One version of an API, as far as it can be worked out beforehand."""

    request: type[ApiMessage]
    handler: Handler
    flexible: bool
    max_elements: int
    max_bytes: int
    """Of a request that is read and answered at once."""
    once: Once | None


ROUTES: dict[tuple[int, int], Route] = {}


class Router:
    """Dispatches the frames of all connections of one broker."""

    def __init__(self, broker: "Broker", loop: asyncio.AbstractEventLoop) -> None:
        self.broker = broker
        self.loop = loop
        self.connections: set[Connection] = set()
        self.connections_by_ip: Counter[str] = Counter()
        self.receive_buffers = ReceiveBuffers()
        self.meter = LoopMeter()
        self._turns: deque[Connection] = deque()
        self._kept: set[asyncio.Future[None]] = set()
        self._shortage_told_at = -SHORTAGE_LOG_SECONDS

    def on_connected(self, connection: Connection) -> None:
        self.connections.add(connection)
        self.connections_by_ip[connection.peer_ip] += 1
        settings = self.broker.settings
        if connection.descriptor >= _descriptors_for_clients():
            self._refuse_for_want_of_descriptors(connection)
        if len(self.connections) > settings.max_connections:
            self._refuse(connection, f"max.connections is {settings.max_connections}")
        limit = settings.max_connections_by_ip.get(connection.peer_ip, settings.max_connections_per_ip)
        if self.connections_by_ip[connection.peer_ip] > limit:
            self._refuse(connection, f"max.connections.per.ip is {limit}")

    def _refuse(self, connection: Connection, why: str) -> None:
        log.warning("closing the connection of %s: %s", connection.peer, why)
        connection.close()

    def _refuse_for_want_of_descriptors(self, connection: Connection) -> None:
        connection.close()
        if self.loop.time() - self._shortage_told_at >= SHORTAGE_LOG_SECONDS:
            self._shortage_told_at = self.loop.time()
            log.error(
                "closing new connections, since the process is short of file descriptors: it may have %d (ulimit -n)"
                " and keeps the last ones for itself; %d connections are open",
                resource.getrlimit(resource.RLIMIT_NOFILE)[0],
                len(self.connections),
            )

    def on_disconnected(self, connection: Connection) -> None:
        self.connections.discard(connection)
        self.connections_by_ip[connection.peer_ip] -= 1
        if not self.connections_by_ip[connection.peer_ip]:
            del self.connections_by_ip[connection.peer_ip]
        self.broker.coordinators.sharing.on_disconnected(connection)

    def keep(self, work: "asyncio.Future[None]") -> None:
        """Until it is done, whether the connection that began it is still there or not."""
        self._kept.add(work)
        work.add_done_callback(self._kept.discard)

    async def finish_kept(self) -> None:
        """Before the logs are closed: what is at work still writes to them."""
        if self._kept:
            _, unfinished = await asyncio.wait(self._kept, timeout=FINISH_SECONDS)
            for work in unfinished:
                work.cancel()

    def queue_turn(self, connection: Connection) -> None:
        """Calls the connection again after all others that wait for a turn, one in each round of the loop."""
        self._turns.append(connection)
        if len(self._turns) == 1:
            self.loop.call_soon(self._give_turn)

    def _give_turn(self) -> None:
        """The loop looks at its sockets before the next one, so that nobody waits longer than one turn to be read."""
        try:
            self._turns[0].take_turn()
        finally:
            self._turns.popleft()
            if self._turns:
                self.loop.call_soon(self._give_turn)

    def dispatch(self, connection: Connection, frame: memoryview) -> None:
        """Decodes a request, runs its handler and hands the answer back to the connection."""
        key, version, correlation_id, client_id_size = decode_request_start(frame)
        if key == ProduceRequest.API_KEY:
            out = connection.produce_memos.try_append(frame, correlation_id, self.broker.clock.now_ms())
            if out is not None:
                if isinstance(out, ParkedMemo):
                    connection.answer(out, version, correlation_id)
                else:
                    connection.answer_encoded(out)
                return
        route = ROUTES.get((key, version))
        if route is None:
            route = self._find_route(connection, key, version, correlation_id)
            if route is None:
                return
        context = connection.context
        context.version = version
        context.client_id, position = decode_client_id(frame, client_id_size)
        if route.flexible:
            position = skip_header_tags(frame, position)
        if len(frame) > route.max_bytes:
            self._answer_at_length(connection, route, frame, position, correlation_id)
            return
        try:
            request = decode_message(route.request, version, frame, position, route.max_elements)
        except TooManyElements:
            self._answer_at_length(connection, route, frame, position, correlation_id)
            return
        if route.once is not None:
            leave_out_repetitions(request, route.once)
        try:
            answer = route.handler(self.broker, request, context)
        except Exception as error:
            if isinstance(error, ProtocolError):
                raise
            log.exception("%s v%d of %s failed", ApiKey(key).name, version, connection.peer)
            raise ProtocolError("the request failed in the broker") from error
        connection.answer(answer, version, correlation_id)
        if isinstance(request, ProduceRequest) and answer is not None:
            connection.produce_memos.remember(request, version, frame)

    def _answer_at_length(
        self, connection: Connection, route: "Route", frame: memoryview, position: int, correlation_id: int
    ) -> None:
        context, version = connection.context, connection.context.version
        kept = memoryview(bytearray(frame))  # the buffer goes on to others

        def handle(request: ApiMessage) -> Answer:
            return route.handler(self.broker, request, context)

        answer = answer_at_length(connection, route.request, version, kept, position, correlation_id, handle)
        connection.answer(answer, version, correlation_id)

    def _find_route(
        self, connection: Connection, key: int, version: int, correlation_id: int
    ) -> "Route | None":
        """The route of an API that is asked for the first time; None if the request is answered already."""
        api = APIS.get(key)
        if api is None:
            raise ProtocolError(f"API key {key} is not one that this broker serves")
        if api.versions[0] <= version <= api.versions[1]:
            at_once = LONG_FROM.get(api.request, MAX_ELEMENTS)
            flexible = is_flexible(api.request, version)
            max_bytes = LONG_FROM_BYTES if api.request in SLICED else sys.maxsize
            once = ANSWERED_ONCE.get(api.request)
            route = ROUTES[key, version] = Route(api.request, api.handler, flexible, at_once, max_bytes, once)
            return route
        if api.refuse_version is None:
            raise ProtocolError(f"version {version} of {ApiKey(key).name} is not served: {api.versions}")
        connection.answer(api.refuse_version(self.broker), 0, correlation_id)
        return None
