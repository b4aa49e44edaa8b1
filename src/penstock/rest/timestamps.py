"""Times in milliseconds since 1970 as ISO 8601, and back."""

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from penstock.rest.errors import bad_field

REMEMBERED_SECONDS = 64
_TAKES = "a time as in 2021-02-05T19:14:42Z"


def time_text(milliseconds: int) -> str:
    seconds, rest = divmod(milliseconds, 1000)
    return f"{_second_text(seconds)}.{rest:03}Z" if rest else f"{_second_text(seconds)}Z"


@lru_cache(maxsize=REMEMBERED_SECONDS)
def _second_text(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S")


def parse_time(name: str, text: Any) -> int:
    """Milliseconds since 1970."""
    if not isinstance(text, str) or "T" not in text:
        raise bad_field(name, text, _TAKES)
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise bad_field(name, text, _TAKES) from None
    if time.tzinfo is None or time.year < 1970:
        raise bad_field(name, text, f"{_TAKES}, from 1970 on")
    return round(time.timestamp() * 1000)
