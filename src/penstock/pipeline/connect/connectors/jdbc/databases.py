"""The database that a configuration names, and the keys that say so."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import (
    ConfigDef,
    ConfigType,
    Importance,
    Validator,
    Width,
    at_least,
    not_empty,
)
from penstock.pipeline.connect.connectors.jdbc.dialect import Dialect
from penstock.pipeline.connect.connectors.jdbc.postgres import Postgres
from penstock.pipeline.connect.connectors.jdbc.sqlite import Sqlite
from penstock.pipeline.connect.connectors.jdbc.url import DatabaseUrl, parse_url

DIALECTS: dict[str, Callable[[DatabaseUrl, str | None, str | None], Dialect]] = {
    "postgresql": Postgres,
    "sqlite": Sqlite,
}


def _is_url(name: str, value: Any) -> None:
    not_empty(name, value)
    if value is not None:
        parse_url(value)


def _is_utc(name: str, value: Any) -> None:
    if value not in ("UTC", "Etc/UTC", "GMT", "Z"):
        raise ConfigError(f"Invalid value {value} for configuration {name}: takes UTC")


CONNECTION_KEYS: Final = (
    ConfigDef()
    .define(
        "connection.url",
        ConfigType.STRING,
        importance=Importance.HIGH,
        doc="The database: jdbc:postgresql://host:port/database or jdbc:sqlite:path.",
        validator=_is_url,
        group="Database",
    )
    .define(
        "connection.user",
        ConfigType.STRING,
        None,
        importance=Importance.HIGH,
        doc="The user to log in as.",
        group="Database",
    )
    .define(
        "connection.password",
        ConfigType.PASSWORD,
        None,
        importance=Importance.HIGH,
        doc="The password to log in with.",
        group="Database",
    )
    .define(
        "connection.attempts",
        ConfigType.INT,
        3,
        importance=Importance.LOW,
        doc="Accepted; a database that cannot be reached is waited for.",
        validator=at_least(1),
        group="Database",
    )
    .define(
        "connection.backoff.ms",
        ConfigType.LONG,
        10000,
        importance=Importance.LOW,
        doc="Accepted; see connection.attempts.",
        group="Database",
    )
    .define(
        "dialect.name",
        ConfigType.STRING,
        "",
        importance=Importance.LOW,
        doc="Accepted; the dialect follows from connection.url.",
        group="Database",
    )
    .define(
        "quote.sql.identifiers",
        ConfigType.STRING,
        "always",
        importance=Importance.MEDIUM,
        doc="Accepted; names are always quoted.",
        group="Database",
    )
    .define(
        "db.timezone",
        ConfigType.STRING,
        "UTC",
        importance=Importance.MEDIUM,
        doc="The zone of the database's timestamps: UTC.",
        validator=_is_utc,
        group="Database",
    )
)


KeyRow = tuple[str, ConfigType, Any, Importance, Validator | None, str]
"""Name, type, default, importance, check and meaning."""


def with_connection(rows: Iterable[KeyRow]) -> ConfigDef:
    """The keys of a connector, behind those of its database."""
    keys = ConfigDef()
    for name, kind, default, importance, validator, doc in rows:
        keys.define(
            name, kind, default, importance=importance, validator=validator, doc=doc, width=Width.MEDIUM
        )
    return CONNECTION_KEYS.including(keys)


def database_of(settings: Mapping[str, Any]) -> Dialect:
    url = parse_url(settings["connection.url"])
    password = settings["connection.password"]
    revealed = None if password is None else password.reveal()
    return DIALECTS[url.dialect](url, settings["connection.user"], revealed)


@contextmanager
def translated_errors(database: Dialect, doing: str) -> Iterator[None]:
    """Errors of the driver leave as ConnectErrors, after what was begun is undone and the connection closed."""
    try:
        yield
    except database.driver_errors as error:
        with _nothing_more_to_lose(database):
            database.rollback()
        database.close()
        raise database.translated(error, doing) from error


@contextmanager
def _nothing_more_to_lose(database: Dialect) -> Iterator[None]:
    try:
        yield
    except database.driver_errors:
        pass
