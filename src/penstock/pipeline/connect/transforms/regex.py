"""A setting that is a regular expression, as Java has them."""

from __future__ import annotations

from typing import Any

from penstock.pipeline.connect.api.config_def import invalid
from penstock.pipeline.connect.data.java_regex import PatternError, compile_java


def check_regex(name: str, value: Any) -> None:
    try:
        compile_java(value)
    except PatternError as error:
        raise invalid(name, value, f"Invalid regex: {error}") from None
