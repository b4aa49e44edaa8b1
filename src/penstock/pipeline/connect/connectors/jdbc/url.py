"""Where a database is: `jdbc:postgresql://host:port/database?...` and `jdbc:sqlite:path`."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote, urlsplit

from penstock.errors import ConfigError

TAKES = "jdbc:postgresql://host[:port]/database[?key=value&...] or jdbc:sqlite:path"

_POSTGRES_KEYS = {
    "user": "user",
    "password": "password",
    "sslmode": "sslmode",
    "sslrootcert": "sslrootcert",
    "sslcert": "sslcert",
    "sslkey": "sslkey",
    "connectTimeout": "connect_timeout",
    "ApplicationName": "application_name",
    "options": "options",
}
"""What JDBC's driver calls a thing, and what libpq calls it."""


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    dialect: str
    database: str
    host: str | None = None
    port: int | None = None
    options: dict[str, str] = field(default_factory=dict)


def parse_url(text: str) -> DatabaseUrl:
    plain = text.removeprefix("jdbc:")
    scheme, _, rest = plain.partition(":")
    reader = _READERS.get(scheme)
    if reader is None or not rest:
        raise ConfigError(f"connection.url: got {text!r}; takes {TAKES}")
    return reader(text, rest)


def _sqlite(text: str, rest: str) -> DatabaseUrl:
    return DatabaseUrl("sqlite", rest.partition("?")[0])


def _postgres(text: str, rest: str) -> DatabaseUrl:
    if not rest.startswith("//"):  # of this machine, jdbc:postgresql:database
        rest = f"//localhost/{rest}"
    try:
        parts = urlsplit(f"postgresql:{rest}")
        port = parts.port
    except ValueError as error:
        raise ConfigError(f"connection.url: got {text!r}, {error}; takes {TAKES}") from None
    options = {
        _POSTGRES_KEYS[name]: value for name, value in parse_qsl(parts.query) if name in _POSTGRES_KEYS
    }
    schema = dict(parse_qsl(parts.query)).get("currentSchema")
    if schema is not None:
        options["options"] = f"{options.get('options', '')} -c search_path={schema}".strip()
    if parts.username is not None:
        options.setdefault("user", unquote(parts.username))
    if parts.password is not None:
        options.setdefault("password", unquote(parts.password))
    database = unquote(parts.path.removeprefix("/")) or options.get("user", "postgres")
    return DatabaseUrl("postgresql", database, parts.hostname or "localhost", port or 5432, options)


_READERS = {"sqlite": _sqlite, "postgresql": _postgres}
