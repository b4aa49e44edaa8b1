"""Names between `${` and `}` in a URL, a header or a body."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.errors import ConfigError
from penstock.pipeline.connect.errors import DataError

_NAME = re.compile(r"\$\{([^}]*)\}")


def unknown_names(text: str, known: Sequence[str]) -> list[str]:
    return [name for name in _NAME.findall(text) if name not in known]


def rendered(text: str, values: Mapping[str, str], quote: Callable[[str], str] = str) -> str:
    return _NAME.sub(lambda match: quote(values[match[1]]), text) if "${" in text else text


def within_header(text: str) -> str:
    if not text.isprintable() or not text.isascii():
        raise DataError(f"a header takes printable ASCII characters, got {text!r}")
    return text


def require_known(settings: Mapping[str, Any], key: str, known: Sequence[str]) -> None:
    given = settings[key]
    names = unknown_names(given, known)
    if names:
        takes = ", ".join(f"${{{name}}}" for name in known)
        raise ConfigError(f"{key}: got ${{{names[0]}}} in {given!r}; takes {takes}")


def parse_headers(key: str, text: str, separator: str) -> dict[str, str]:
    headers: dict[str, str] = {}
    for part in filter(None, (each.strip() for each in text.split(separator))):
        name, colon, value = part.partition(":")
        if not colon or not name.strip() or not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", name.strip()):
            raise ConfigError(
                f"{key}: got {part!r}; takes name:value, with {separator!r} between two of them"
            )
        if not part.isascii() or not part.isprintable():
            raise ConfigError(f"{key}: got {part!r}; takes printable ASCII characters")
        headers[name.strip()] = value.strip()
    return headers
