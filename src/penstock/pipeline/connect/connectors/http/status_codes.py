"""Which status codes are asked again: `408,429,500-` is two of them, and all from 500 on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from penstock.pipeline.connect.api.config_def import invalid

_RANGE = re.compile(r"(\d{3})(-(\d{3})?)?")
HIGHEST = 599


def are_codes(name: str, value: Any) -> None:
    for part in value or ():
        if not _RANGE.fullmatch(part):
            raise invalid(name, part, "takes codes and ranges, such as 408,429,500-599 or 500-")


def is_among(status: int, ranges: Sequence[str]) -> bool:
    return any(first <= status <= last for first, last in map(_bounds, ranges))


def _bounds(text: str) -> tuple[int, int]:
    first, dash, last = text.partition("-")
    return int(first), int(last or HIGHEST) if dash else int(first)
