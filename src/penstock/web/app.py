"""The ASGI application of a service: finds the route, agrees on media types, calls the handler, sends the answer.

A body that is too large is refused as soon as that is known. The client may still be sending it then, and may not
look for an answer before it is done; a connection closed under its feet would take the answer with it. So the answer
goes out first, what still comes is thrown away for a moment, and only then the connection ends.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from contextlib import aclosing
from itertools import count

from starlette.types import Receive, Scope, Send

from penstock.web.authentication import Authentication
from penstock.web.errors import BodyRefused, HttpError
from penstock.web.media_types import MediaTypes
from penstock.web.request import DEFAULT_BODY_TIMEOUT_MS, ClientGone, Request
from penstock.web.response import Response, StreamedResponse, json_bytes
from penstock.web.routes import Routes

log = logging.getLogger("penstock.web")
HEALTH_PATH = "/health"

DEFAULT_MAX_BODY_BYTES = 10 * 1024 * 1024
LINGER_SECONDS = 1.0
LONGEST_REQUEST_ID = 128
_WITH_BODY = frozenset({"POST", "PUT", "PATCH"})

Translate = Callable[[Exception], HttpError | None]
Rewrite = Callable[[Scope], str]


class HttpApp:
    """`translate` makes an `HttpError` of the service's own exceptions; `rewrite` gives the path to route by.

    `authentication` says who may come in.
    """

    def __init__(
        self,
        routes: Routes,
        media_types: MediaTypes,
        *,
        max_body_bytes: int = DEFAULT_MAX_BODY_BYTES,
        translate: Translate = lambda error: None,
        rewrite: Rewrite = lambda scope: str(scope["raw_path"], "latin-1"),
        authentication: Authentication | None = None,
        body_timeout_ms: int = DEFAULT_BODY_TIMEOUT_MS,
    ) -> None:
        self._routes = routes
        self._media_types = media_types
        self._max_body_bytes = max_body_bytes
        self._body_timeout_ms = body_timeout_ms
        self._translate = translate
        self._rewrite = rewrite
        self._authentication = authentication
        self._request_numbers = count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert scope["type"] == "http", "serve without lifespan and websockets"
        request = Request(scope, receive, {}, self._max_body_bytes, self._body_timeout_ms)
        request_id = self._request_id(request)
        media_type = self._media_types.produces[0]
        try:
            if self._authentication is not None:
                self._authentication.check(request)
            route, request.path = self._routes.find(scope["method"], self._rewrite(scope))
            media_type = _agree(route.media_types or self._media_types, request)
            response = await route.handler(request)
        except ClientGone:
            return
        except BodyRefused as error:
            await self._refuse_body(error, request, send, request_id)
            return
        except HttpError as error:
            response = _error_response(error)
        except Exception as error:
            response = self._failed(error, request, request_id)
        _note(scope, response.status, request_id)
        await _send(response, media_type, request_id, send)

    def _request_id(self, request: Request) -> str:
        given = request.header(b"x-request-id")
        if given and len(given) <= LONGEST_REQUEST_ID and given.isprintable():
            return given
        return f"{next(self._request_numbers):08x}"

    def _failed(self, error: Exception, request: Request, request_id: str) -> Response:
        translated = self._translate(error)
        if translated is None:
            log.error(
                "%s %s failed (request %s)", request.method, request.scope["path"], request_id, exc_info=error
            )
            translated = HttpError(500, 500, "Internal Server Error")
        return _error_response(translated)

    async def _refuse_body(self, error: BodyRefused, request: Request, send: Send, request_id: str) -> None:
        _note(request.scope, error.status, request_id)
        refusal = _error_response(error, {"connection": "close"})
        await send(_start(refusal, self._media_types.produces[0], request_id))
        await send({"type": "http.response.body", "body": refusal.body, "more_body": True})
        if not request.header(b"expect"):
            await _throw_away_what_comes(request.receive)
        await send({"type": "http.response.body", "body": b""})


def _agree(media_types: MediaTypes, request: Request) -> str:
    if request.method in _WITH_BODY and not media_types.takes(request.header(b"content-type")):
        given = request.header(b"content-type")
        takes = ", ".join(media_types.consumes)
        raise HttpError(415, message=f"HTTP 415 Unsupported Media Type: got {given[:80]!r}, takes {takes}")
    agreed = media_types.answer_type(request.header(b"accept"))
    if agreed is None:
        raise HttpError(406)
    return agreed


def _error_response(error: HttpError, more_headers: Mapping[str, str] | None = None) -> Response:
    body = json_bytes({"error_code": error.error_code, "message": error.message})
    return Response(body, error.status, None, {**error.headers, **(more_headers or {})})


async def _throw_away_what_comes(receive: Receive) -> None:
    try:
        async with asyncio.timeout(LINGER_SECONDS):
            while (await receive()).get("more_body"):
                pass
    except TimeoutError:
        pass


def _note(scope: Scope, status: int, request_id: str) -> None:
    """Reads that went well are not worth a line each, nor is who asks again and again how the service is."""
    is_quiet = scope["method"] == "GET" and (status < 400 or scope["path"] == HEALTH_PATH)
    level = logging.DEBUG if is_quiet else logging.INFO
    if log.isEnabledFor(level):
        log.log(level, "%s %s %d (request %s)", scope["method"], scope["path"], status, request_id)


async def _send(response: Response | StreamedResponse, media_type: str, request_id: str, send: Send) -> None:
    await send(_start(response, media_type, request_id))
    if isinstance(response, StreamedResponse):
        async with aclosing(response.parts) as parts:
            async for part in parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
    else:
        await send({"type": "http.response.body", "body": response.body})


def _start(response: Response | StreamedResponse, media_type: str, request_id: str) -> dict[str, object]:
    headers = [
        (b"content-type", (response.content_type or media_type).encode("latin-1")),
        (b"x-request-id", request_id.encode("latin-1")),
    ]
    if isinstance(response, Response):
        headers.append((b"content-length", b"%d" % len(response.body)))
    for name, value in (response.headers or {}).items():
        headers.append((name.encode("latin-1"), value.encode("latin-1")))
    return {"type": "http.response.start", "status": response.status, "headers": headers}
