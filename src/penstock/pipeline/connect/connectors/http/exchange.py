"""One request and its answer, over a connection that is kept."""

from __future__ import annotations

import base64
import http.client
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import SplitResult, urlsplit

from penstock.errors import ConfigError
from penstock.pipeline.connect.connectors.http.status_codes import is_among
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError

LONGEST_ANSWER_BYTES: Final = 64 * 1024 * 1024
SHOWN_CHARACTERS: Final = 300


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def described(self) -> str:
        """In one line."""
        text = " ".join(self.body[: SHOWN_CHARACTERS * 4].decode("utf-8", "replace").split())
        shown = text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."
        return f"status {self.status}{': ' if shown else ''}{shown}"


class StatusError(ConnectError):
    """An answer that will be the same when asked again."""


class RetriableStatusError(RetriableConnectError):
    def __init__(self, text: str, wait_ms: int | None) -> None:
        super().__init__(text)
        self.wait_ms = wait_ms
        """What the server asks for, if it does."""


class HttpExchange:
    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._authorization = _authorization(settings)
        self._tls = _tls_context(settings)
        self._connections: dict[tuple[str, str], http.client.HTTPConnection] = {}

    def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None = None) -> Answer:
        """An answer of success; others are errors, and so is a server that cannot be reached."""
        answer = self._answer(method, url, {**self._authorization, **headers}, body)
        if answer.is_success:
            return answer
        text = f"{method} {url}: {answer.described()}"
        if is_among(answer.status, self._settings["retry.on.status.codes"]):
            raise RetriableStatusError(text, _retry_after_ms(answer))
        raise StatusError(text)

    def close(self) -> None:
        for each in self._connections.values():
            each.close()
        self._connections.clear()

    def _answer(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Answer:
        parts = urlsplit(url)
        connection = self._connection(parts)
        was_open = connection.sock is not None
        try:
            try:
                return _exchange(connection, method, parts, headers, body)
            except (ConnectionError, http.client.RemoteDisconnected):
                if not was_open:
                    raise
                connection.close()  # the server has closed a connection that was kept: a new one tells more
                return _exchange(connection, method, parts, headers, body)
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            is_lasting = isinstance(error, ssl.SSLCertVerificationError)
            kind = ConnectError if is_lasting else RetriableConnectError
            raise kind(f"{method} {url}: {' '.join(str(error).split()) or type(error).__name__}") from error

    def _connection(self, parts: SplitResult) -> http.client.HTTPConnection:
        place = parts.scheme, parts.netloc
        found = self._connections.get(place)
        if found is None:
            found = self._connections[place] = self._new_connection(parts)
        return found

    def _new_connection(self, parts: SplitResult) -> http.client.HTTPConnection:
        seconds = self._settings["http.request.timeout.ms"] / 1000
        host = parts.hostname or ""
        if parts.scheme == "https":
            return http.client.HTTPSConnection(host, parts.port, timeout=seconds, context=self._tls)
        return http.client.HTTPConnection(host, parts.port, timeout=seconds)


def _exchange(
    connection: http.client.HTTPConnection,
    method: str,
    parts: SplitResult,
    headers: Mapping[str, str],
    body: bytes | None,
) -> Answer:
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    connection.request(method, target, body, dict(headers))
    response = connection.getresponse()
    data = _body(response)
    if data is None:
        connection.close()
        raise StatusError(
            f"{method} {parts.geturl()}: the answer is longer than {LONGEST_ANSWER_BYTES} bytes"
        )
    return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, data)


def _body(response: http.client.HTTPResponse) -> bytes | None:
    """None if it is too long. One that ends too early is an error, of which a read of some bytes would not tell."""
    if response.length is not None:
        return response.read() if response.length <= LONGEST_ANSWER_BYTES else None
    data = response.read(LONGEST_ANSWER_BYTES + 1)
    return data if len(data) <= LONGEST_ANSWER_BYTES else None


def _retry_after_ms(answer: Answer) -> int | None:
    """Only seconds; a date is left to the backoff."""
    text = answer.headers.get("retry-after", "").strip()
    return int(text) * 1000 if text.isascii() and text.isdecimal() else None


def _authorization(settings: Mapping[str, Any]) -> dict[str, str]:
    kind = settings["auth.type"].lower()
    if kind == "basic":
        password = settings["connection.password"]
        pair = f"{settings['connection.user']}:{password.reveal() if password else ''}"
        return {"Authorization": f"Basic {base64.b64encode(pair.encode()).decode()}"}
    if kind == "bearer":
        return {"Authorization": f"Bearer {settings['bearer.token'].reveal()}"}
    return {}


def _tls_context(settings: Mapping[str, Any]) -> ssl.SSLContext | None:
    """None for the system's certificates, which take a while to read: only a connection of https does."""
    file = settings["https.ssl.truststore.location"]
    if not file:
        return None
    try:
        return ssl.create_default_context(cafile=file)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"https.ssl.truststore.location: got {file!r}; takes a PEM file: {error}"
        ) from error
