"""A question about a store from a request's parameters, and its answer as JSON."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Callable
from typing import Any, Final

from penstock.errors import ConfigError
from penstock.pipeline.tasks.queries import END_OF_TIME, Row, StoreQueries
from penstock.web.request import Request

PARAMETERS: Final = ("key", "first", "last", "from_ms", "to_ms", "limit")
MOST_ROWS: Final = 10_000


def question_of(request: Request) -> Callable[[StoreQueries], list[Row]]:
    """`key` for one, with `from_ms` and `to_ms` for some of its windows; `first` and `last` for a range; or all."""
    given = {name: request.texts(name)[-1] for name in request.query}
    for name in given:
        if name not in PARAMETERS:
            raise ConfigError(f"{name}: is no parameter; takes {', '.join(PARAMETERS)}")
    limit = _number(given, "limit", 1_000)
    if not 1 <= limit <= MOST_ROWS:
        raise ConfigError(f"limit: got {limit}; takes 1 to {MOST_ROWS}")
    if "key" not in given:
        first, last = given.get("first"), given.get("last")
        return lambda queries: queries.range(_key(queries, first), _key(queries, last), limit)
    key = given["key"]
    if "from_ms" not in given and "to_ms" not in given:
        return lambda queries: queries.get(queries.key_of(key))[:limit]
    from_ms, to_ms = _number(given, "from_ms", 0), _number(given, "to_ms", END_OF_TIME)
    return lambda queries: queries.fetch(queries.key_of(key), from_ms, to_ms)[:limit]


def _key(queries: StoreQueries, text: str | None) -> Any:
    return None if text is None else queries.key_of(text)


def _number(given: dict[str, str], name: str, default: int) -> int:
    text = given.get(name)
    if text is None:
        return default
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise ConfigError(f"{name}: got {text!r}; takes a number")
    return int(text)


def shown(row: Row) -> dict[str, Any]:
    answer = {"key": _as_json(row.key), "value": _as_json(row.value), "timestamp": row.timestamp}
    if row.window is not None:
        answer["window_start"], answer["window_end"] = row.window
    return answer


def _as_json(value: Any) -> Any:
    """Bytes in base64; what has fields as an object; what JSON does not know as its text."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case bytes():
            return base64.b64encode(value).decode()
        case dict():
            return {str(name): _as_json(each) for name, each in value.items()}
        case list() | tuple():
            return [_as_json(each) for each in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _as_json({field.name: getattr(value, field.name) for field in dataclasses.fields(value)})
    dump = getattr(value, "model_dump", None)
    return _as_json(dump()) if callable(dump) else str(value)
