"""Options: `option (a.b).c = 5;`, `[deprecated = true, (x) = {k: [1, 2] m {n: "s"}}]`."""

from __future__ import annotations

from typing import Any

from penstock.registry.formats.protobuf.elements import Option, OptionName, Value, Word
from penstock.registry.formats.protobuf.tokens import TokenReader

MAX_DEPTH = 64
_CLOSING = {"{": "}", "<": ">"}


def read_option_statement(reader: TokenReader) -> Option:
    """After the word `option`."""
    option = read_option(reader)
    reader.expect(";")
    return option


def read_option_list(reader: TokenReader) -> list[Option]:
    """In brackets, or none."""
    options: list[Option] = []
    if not reader.maybe("["):
        return options
    while True:
        options.append(read_option(reader))
        if reader.maybe("]"):
            return options
        if not reader.maybe(","):
            reader.refuse(reader.peek, "',' or ']'")


def read_option(reader: TokenReader) -> Option:
    at = reader.peek.at
    names = [_name(reader)]
    while reader.maybe("."):
        names.append(_name(reader))
    reader.expect("=")
    return Option(tuple(names), read_value(reader), at)


def _name(reader: TokenReader) -> OptionName:
    if not reader.maybe("("):
        return OptionName(reader.word("the name of an option"))
    name = reader.dotted("the name of an extension")
    reader.expect(")")
    return OptionName(name, is_extension=True)


def read_value(reader: TokenReader, depth: int = 0) -> Value:
    token = reader.peek
    if depth > MAX_DEPTH:
        reader.fail(token.at, f"values are nested more than {MAX_DEPTH} deep")
    if token.kind == "string":
        return reader.string("a string")
    if token.text in _CLOSING:
        return _aggregate(reader, depth)
    if token.text == "[":
        return _list(reader, depth)
    return _word(reader)


def _word(reader: TokenReader) -> Word:
    sign = "-" if reader.maybe("-") else ""
    token = reader.take()
    is_name = token.kind == "word" and (not sign or token.text in ("inf", "nan"))
    if token.kind != "number" and not is_name:
        reader.refuse(token, "a value")
    return Word(sign + token.text)


def _list(reader: TokenReader, depth: int) -> list[Any]:
    reader.expect("[")
    values: list[Any] = []
    while not reader.maybe("]"):
        values.append(read_value(reader, depth + 1))
        if not reader.maybe(",") and reader.peek.text != "]":
            reader.refuse(reader.peek, "',' or ']'")
    return values


def _aggregate(reader: TokenReader, depth: int) -> dict[str, Any]:
    closing = _CLOSING[reader.take().text]
    entries: dict[str, Any] = {}
    while not reader.maybe(closing):
        key = _key(reader)
        if not reader.maybe(":") and reader.peek.text not in _CLOSING:
            reader.refuse(reader.peek, "':'")
        _add(entries, key, read_value(reader, depth + 1))
        if not reader.maybe(","):
            reader.maybe(";")
    return entries


def _key(reader: TokenReader) -> str:
    if not reader.maybe("["):
        return reader.word("the name of a field")
    name = reader.dotted("the name of an extension")
    while reader.maybe("/"):
        name += "/" + reader.dotted("the name of a type")
    reader.expect("]")
    return f"[{name}]"


def _add(entries: dict[str, Any], key: str, value: Value) -> None:
    """A field that is named twice is a list."""
    if key not in entries:
        entries[key] = value
        return
    before = entries[key] if isinstance(entries[key], list) else [entries[key]]
    entries[key] = before + (value if isinstance(value, list) else [value])
