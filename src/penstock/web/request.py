"""One request: its place, its parameters, its body within a limit."""

import asyncio
import json
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from starlette.types import Receive, Scope

from penstock.web.errors import BodyTooLarge, BodyTooSlow, HttpError

DEFAULT_BODY_TIMEOUT_MS = 30_000
SLOWEST_BYTES_PER_SECOND = 10_000
"""What has come of a body earns it more time at this pace."""


class ClientGone(Exception):
    """The client hung up; nobody is left to answer."""


class Request:
    """`path` holds the parts of the route in braces, decoded: `%2F` is a slash in a name, not a step."""

    __slots__ = (
        "_body",
        "_headers",
        "_query",
        "body_timeout_ms",
        "max_body_bytes",
        "path",
        "receive",
        "scope",
    )

    def __init__(
        self,
        scope: Scope,
        receive: Receive,
        path: Mapping[str, str],
        max_body_bytes: int,
        body_timeout_ms: int = DEFAULT_BODY_TIMEOUT_MS,
    ) -> None:
        self.scope = scope
        self.receive = receive
        self.path = path
        self.max_body_bytes = max_body_bytes
        self.body_timeout_ms = body_timeout_ms
        self._body: bytes | None = None
        self._headers: dict[bytes, bytes] | None = None
        self._query: dict[str, list[str]] | None = None

    @property
    def method(self) -> str:
        return str(self.scope["method"])

    def header(self, name: bytes) -> str:
        """Empty if there is none; `name` in lower case."""
        if self._headers is None:
            self._headers = dict(self.scope["headers"])
        return self._headers.get(name, b"").decode("latin-1")

    @property
    def query(self) -> Mapping[str, list[str]]:
        if self._query is None:
            text = self.scope["query_string"].decode("latin-1")
            self._query = parse_qs(text, keep_blank_values=True) if text else {}
        return self._query

    def text(self, name: str, default: str = "") -> str:
        values = self.query.get(name)
        return values[0] if values else default

    def texts(self, name: str) -> list[str]:
        return self.query.get(name, [])

    def flag(self, name: str, default: bool = False) -> bool:
        """As Java reads a boolean: `true` in any case, and nothing else."""
        values = self.query.get(name)
        return values[0].lower() == "true" if values else default

    def number(self, name: str, default: int) -> int:
        values = self.query.get(name)
        if not values:
            return default
        try:
            return int(values[0])
        except ValueError:
            raise HttpError(400, 400, f"{name}: got {values[0]!r}, takes an integer") from None

    async def body(self) -> bytes:
        """The whole body; raises before more than the limit is held, or when it comes too slowly."""
        if self._body is None:
            try:
                async with asyncio.timeout(self.body_timeout_ms / 1000) as clock:
                    self._body = await self._read_body(clock)
            except TimeoutError:
                raise BodyTooSlow(self.body_timeout_ms) from None
        return self._body

    async def _read_body(self, clock: asyncio.Timeout) -> bytes:
        declared = self.header(b"content-length")
        if declared.isdecimal() and int(declared) > self.max_body_bytes:
            raise BodyTooLarge(self.max_body_bytes)
        parts: list[bytes] = []
        size, more = 0, True
        while more:
            message = await self.receive()
            if message["type"] == "http.disconnect":
                raise ClientGone
            part = message.get("body", b"")
            size += len(part)
            if size > self.max_body_bytes:
                raise BodyTooLarge(self.max_body_bytes)
            parts.append(part)
            more = message.get("more_body", False)
            if more and (deadline := clock.when()) is not None:
                clock.reschedule(deadline + len(part) / SLOWEST_BYTES_PER_SECOND)
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def hung_up(self) -> None:
        """Returns when the client hangs up; what it still sends is of no interest."""
        while (await self.receive())["type"] != "http.disconnect":
            pass

    async def json(self) -> Any:
        """The body as JSON; an error says where it is none."""
        return parse_json(await self.body())

    async def json_object(self) -> dict[str, Any]:
        value = await self.json()
        if not isinstance(value, dict):
            raise HttpError(422, 422, f"Request body: got {_kind(value)}, takes a JSON object")
        return value


_MAYBE_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")


def parse_json(body: bytes) -> Any:
    if not body.strip():
        raise HttpError(422, 422, "Request body: must not be empty")
    try:
        value = json.loads(body)
        if _MAYBE_SURROGATE.search(body):
            json.dumps(value, ensure_ascii=False).encode()
        return value
    except UnicodeEncodeError as error:
        half = f"\\u{ord(error.object[error.start]):04x}"
        raise HttpError(
            400, 400, f"Request body has half a surrogate pair ({half}), which is no character"
        ) from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise HttpError(400, 400, f"Request body is not JSON: {error.msg} at {place}") from None
    except UnicodeDecodeError as error:
        raise HttpError(400, 400, f"Request body is not UTF-8 (byte {error.start})") from None
    except ValueError as error:  # a number of more digits than Python reads
        raise HttpError(400, 400, f"Request body is not JSON: {error}") from None
    except RecursionError:
        raise HttpError(400, 400, "Request body is nested too deeply") from None


_KINDS = {list: "an array", str: "a string", bool: "a boolean", int: "a number", float: "a number"}


def _kind(value: object) -> str:
    return _KINDS.get(type(value), "null")
