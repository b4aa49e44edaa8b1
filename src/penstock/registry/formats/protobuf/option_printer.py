"""The text of options and of their values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.registry.formats.protobuf.elements import Option, Value, Word

_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    "\\": "\\\\",
    "'": "\\'",
    '"': '\\"',
    "\0": "\\000",
} | {chr(0xDC00 + byte): f"\\{byte:03o}" for byte in range(0x80, 0x100)}
_TRANSLATION = str.maketrans(_ESCAPES)


def quoted(text: str) -> str:
    return f'"{text.translate(_TRANSLATION)}"'


def option_text(option: Option) -> str:
    """`name = value`."""
    return f"{'.'.join(map(str, option.names))} = {_top_value(option.value)}"


def option_list(options: Sequence[Option]) -> str:
    return _bracketed([option_text(each) for each in options])


def _top_value(value: Value) -> str:
    if isinstance(value, list):
        return _bracketed([value_text(each) for each in value])
    return value_text(value)


def _bracketed(items: list[str]) -> str:
    """One stands on the line; more, or none, stand on lines of their own."""
    return f"[{items[0]}]" if len(items) == 1 else f"[\n{_lines(items)}]"


def value_text(value: Any) -> str:
    if isinstance(value, Word):
        return value.text
    if isinstance(value, Mapping):
        return f"{{\n{_lines([f'{key}: {value_text(each)}' for key, each in value.items()])}}}"
    if isinstance(value, list):
        return f"[\n{_lines([value_text(each) for each in value])}]"
    return quoted(value)


def _lines(items: list[str]) -> str:
    last = len(items) - 1
    text = ""
    for index, item in enumerate(items):
        for line in (item + ("," if index != last else "")).split("\n"):
            text += f"  {line}\n"
    return text
