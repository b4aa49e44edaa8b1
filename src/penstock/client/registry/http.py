"""HTTP to one of several registries: connections that are kept, the next address when one does not answer, retries.

Every request of the registry's API may be made twice: what is registered a second time has its id already, what is
deleted is gone. So a connection that breaks is opened again, and another registry is asked, without asking the user.

An answer that says "not now" (408, 429, 5xx) counts like none. After a round of all addresses there is a wait, which
doubles, or is as long as the registry's Retry-After says.
"""

import base64
import http.client
import json
import random
import ssl
import threading
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import SplitResult, quote, unquote, urlencode, urlsplit

from penstock.client.registry.errors import SchemaRegistryError, SchemaRegistryUnreachableError
from penstock.errors import ConfigError
from penstock.settings.kinds import Password

MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
NOT_NOW = {408, 429, 500, 502, 503, 504}
MAX_IDLE_CONNECTIONS = 8
MAX_ANSWER_BYTES = 64 * 1024 * 1024


class _NotNow(Exception):
    """Why this address gave no answer, and when it may."""

    def __init__(self, why: str, retry_after: float = 0.0, error: SchemaRegistryError | None = None) -> None:
        super().__init__(why)
        self.why = why
        self.retry_after = retry_after
        self.error = error


class RegistryHttp:
    """Safe to use from many threads: each request has a connection of its own while it lasts."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._addresses = [_Address(url, settings) for url in settings["schema.registry.url"]]
        self._first = 0
        self._retries: int = settings["max.retries"]
        self._wait_seconds = settings["retries.wait.ms"] / 1000
        self._max_wait_seconds = settings["retries.max.wait.ms"] / 1000

    @property
    def urls(self) -> list[str]:
        return [address.shown for address in self._addresses]

    def request(
        self, method: str, path: str, query: Mapping[str, object] | None = None, body: object = None
    ) -> Any:
        """What the first registry that answers says, read as JSON."""
        target = path + _query(query)
        data = None if body is None else json.dumps(body, ensure_ascii=False).encode()
        for attempt in range(self._retries + 1):
            troubles = []
            for address in self._in_order():
                try:
                    answer = address.ask(method, target, data)
                except _NotNow as trouble:
                    troubles.append((address, trouble))
                else:
                    self._first = self._addresses.index(address)
                    return answer
            if attempt < self._retries:
                time.sleep(self._wait(attempt, troubles))
        raise _no_answer(troubles, self._retries)

    def _in_order(self) -> list["_Address"]:
        """The one that answered last comes first."""
        first = self._first
        return self._addresses[first:] + self._addresses[:first]

    def _wait(self, attempt: int, troubles: list[tuple["_Address", _NotNow]]) -> float:
        doubled: float = min(self._wait_seconds * 2**attempt, self._max_wait_seconds)
        asked = min(max(trouble.retry_after for _, trouble in troubles), self._max_wait_seconds)
        return float(max(doubled * random.uniform(0.5, 1.0), asked))

    def close(self) -> None:
        for address in self._addresses:
            address.close()

    def __del__(self) -> None:
        for address in self.__dict__.get("_addresses", ()):
            address.close()


def path_of(*parts: object) -> str:
    """A path of parts with any characters in them.

    >>> from penstock.client.registry.http import path_of
    >>> path_of("subjects", "a/b", "versions", 1)
    '/subjects/a%2Fb/versions/1'
    """
    return "".join(f"/{quote(str(part), safe='')}" for part in parts)


def _query(given: Mapping[str, object] | None) -> str:
    """Without what is None or False: that is the default of every parameter."""
    wanted = {
        name: value for name, value in (given or {}).items() if value is not None and value is not False
    }
    return "?" + urlencode({k: "true" if v is True else v for k, v in wanted.items()}, True) if wanted else ""


def _no_answer(
    troubles: list[tuple["_Address", _NotNow]], retries: int
) -> SchemaRegistryError | SchemaRegistryUnreachableError:
    refusals = [trouble.error for _, trouble in troubles if trouble.error is not None]
    if refusals and len(refusals) == len(troubles) and refusals[0].http_status == 500:
        return refusals[0]
    what = "; ".join(f"{address.shown}: {trouble.why}" for address, trouble in troubles)
    asked = f" (asked {retries + 1} times)" if retries else ""
    return SchemaRegistryUnreachableError(f"no Schema Registry answers{asked}: {what}")


class _Address:
    """One registry, and the connections to it that nobody uses at the moment."""

    def __init__(self, url: str, settings: Mapping[str, Any]) -> None:
        parts = _checked(url)
        self.shown = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"
        self._host, self._port = str(parts.hostname), parts.port
        self._prefix = parts.path.rstrip("/")
        self._tls = tls_context(settings) if parts.scheme == "https" else None
        self._connect_seconds = settings["http.connect.timeout.ms"] / 1000
        self._read_seconds = settings["http.read.timeout.ms"] / 1000
        self._headers = {"Accept": f"{MEDIA_TYPE}, application/json", "Content-Type": MEDIA_TYPE}
        self._headers |= _authorization(parts, settings)
        self._idle: list[http.client.HTTPConnection] = []
        self._lock = threading.Lock()

    def ask(self, method: str, target: str, body: bytes | None) -> Any:
        while True:
            connection, is_used = self._connection()
            try:
                connection.request(method, self._prefix + target, body, self._headers)
                response = connection.getresponse()
                data = response.read(MAX_ANSWER_BYTES + 1)
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                if is_used and not isinstance(error, TimeoutError):
                    continue  # it was closed while nobody looked
                raise _NotNow(_words(error)) from error
            self._give_back(connection, response, data)
            return _answer(f"{method} {self.shown}{target.partition('?')[0]}", response, data)

    def _connection(self) -> tuple[http.client.HTTPConnection, bool]:
        with self._lock:
            if self._idle:
                return self._idle.pop(), True
        connection = self._new_connection()
        try:
            connection.connect()
        except OSError as error:
            connection.close()
            raise _NotNow(_words(error)) from error
        connection.sock.settimeout(self._read_seconds)
        return connection, False

    def _new_connection(self) -> http.client.HTTPConnection:
        if self._tls is None:
            return http.client.HTTPConnection(self._host, self._port, timeout=self._connect_seconds)
        return http.client.HTTPSConnection(
            self._host, self._port, timeout=self._connect_seconds, context=self._tls
        )

    def _give_back(
        self, connection: http.client.HTTPConnection, response: http.client.HTTPResponse, data: bytes
    ) -> None:
        with self._lock:
            if not response.will_close and response.isclosed() and len(self._idle) < MAX_IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        response.close()
        connection.close()

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return str(error) or type(error).__name__


def _answer(request: str, response: http.client.HTTPResponse, data: bytes) -> Any:
    if len(data) > MAX_ANSWER_BYTES:
        raise SchemaRegistryError(
            response.status, 0, f"the answer has over {MAX_ANSWER_BYTES} bytes", request
        )
    try:
        answer = json.loads(data) if data.strip() else None
        is_json = True
    except ValueError:
        answer, is_json = None, False
    if 200 <= response.status < 300:
        if not is_json:
            raise SchemaRegistryError(
                response.status, 0, "the answer is not JSON: is that a registry?", request
            )
        return answer
    error = _refusal(request, response, answer)
    if response.status in NOT_NOW:
        raise _NotNow(f"{response.status} {error.reason}", _retry_after(response), error)
    raise error


def _refusal(request: str, response: http.client.HTTPResponse, answer: Any) -> SchemaRegistryError:
    if isinstance(answer, dict) and "error_code" in answer:
        return SchemaRegistryError(response.status, answer["error_code"], str(answer.get("message")), request)
    return SchemaRegistryError(
        response.status, response.status, response.reason or "no reason given", request
    )


def _retry_after(response: http.client.HTTPResponse) -> float:
    text = response.getheader("Retry-After") or ""
    return float(text) if text.isdecimal() else 0.0


# --- what the settings say


def _checked(url: str) -> SplitResult:
    try:
        parts = urlsplit(url.strip())
        if parts.scheme in ("http", "https") and parts.hostname and parts.port != 0:
            return parts
    except ValueError:
        pass
    shown = url.rpartition("@")[2]
    raise ConfigError(f"schema.registry.url: got {shown!r}; takes http://host:port or https://host:port")


def _authorization(parts: SplitResult, settings: Mapping[str, Any]) -> dict[str, str]:
    token = settings["bearer.auth.token"]
    login = _login(parts, settings)
    if token is not None and login:
        raise ConfigError("bearer.auth.token: does not go with a user and a password; give one of the two")
    if token is not None:
        return {"Authorization": f"Bearer {_revealed(token)}"}
    return {"Authorization": f"Basic {base64.b64encode(login.encode()).decode()}"} if login else {}


def _login(parts: SplitResult, settings: Mapping[str, Any]) -> str | None:
    source = settings["basic.auth.credentials.source"]
    info = settings["basic.auth.user.info"]
    if source == "SASL_INHERIT":
        return _inherited(settings)
    if info is not None:
        if ":" not in _revealed(info):
            raise ConfigError("basic.auth.user.info: got a secret without a colon; takes user:password")
        return _revealed(info)
    if source == "USER_INFO":
        raise ConfigError("basic.auth.user.info: missing; basic.auth.credentials.source=USER_INFO needs it")
    if parts.username is None:
        return None
    return f"{unquote(parts.username)}:{unquote(parts.password or '')}"


def _inherited(settings: Mapping[str, Any]) -> str:
    user, password = settings.get("sasl.username"), settings.get("sasl.password")
    if not user or password is None:
        raise ConfigError(
            "basic.auth.credentials.source: SASL_INHERIT needs sasl.username and sasl.password beside it"
        )
    return f"{user}:{_revealed(password)}"


def _revealed(secret: object) -> str:
    return secret.reveal() if isinstance(secret, Password) else str(secret)


def tls_context(settings: Mapping[str, Any]) -> ssl.SSLContext:
    trusted = settings["schema.registry.ssl.truststore.location"]
    context: ssl.SSLContext = _reading(
        "truststore.location", trusted, lambda: ssl.create_default_context(cafile=trusted)
    )
    if settings["schema.registry.ssl.endpoint.identification.algorithm"] != "https":
        context.check_hostname = False
    own = settings["schema.registry.ssl.keystore.location"]
    if own is not None:
        secret = settings["schema.registry.ssl.key.password"]
        password = None if secret is None else _revealed(secret)
        _reading("keystore.location", own, lambda: context.load_cert_chain(own, password=password))
    return context


def _reading(name: str, path: str | None, read: Any) -> Any:
    try:
        return read()
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(f"schema.registry.ssl.{name}: cannot read {path} as PEM: {error}") from None
