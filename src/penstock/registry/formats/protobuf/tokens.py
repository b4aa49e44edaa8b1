"""The tokens of .proto text, and where each stands."""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from penstock.registry.formats.schema_format import InvalidSchema

_PATTERN = re.compile(
    r"""
    (?: [\s\ufeff]+ | //[^\n]* | /\*.*?\*/ )*+
    (?: (?P<word>    [A-Za-z_][A-Za-z0-9_]* )
      | (?P<number>  (?: 0[xX][0-9a-fA-F]+ | (?: \d+\.?\d* | \.\d+ ) (?: [eE][+-]?\d+ )? ) [fF]? )
      | (?P<string>  "(?: [^"\\\n] | \\. )*" | '(?: [^'\\\n] | \\. )*' )
      | (?P<symbol>  [^\s"'] )
      | (?P<end>     \Z )
      | (?P<open>    ["'] )
    )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
_ESCAPE = re.compile(
    rb"\\(?: [xX]([0-9a-fA-F]{1,2}) | ([0-7]{1,3}) | u([0-9a-fA-F]{4}) | U([0-9a-fA-F]{8}) | (.) )",
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = {
    b"a": b"\a",
    b"b": b"\b",
    b"f": b"\f",
    b"n": b"\n",
    b"r": b"\r",
    b"t": b"\t",
    b"v": b"\v",
    b"\\": b"\\",
    b"'": b"'",
    b'"': b'"',
    b"?": b"?",
}


class Token(NamedTuple):
    kind: str
    """word, number, string, symbol or end."""
    text: str
    at: int


def fail(text: str, at: int, problem: str) -> NoReturn:
    if at < 0:
        raise InvalidSchema(problem)
    line = text.count("\n", 0, at) + 1
    column = at - (text.rfind("\n", 0, at) + 1) + 1
    raise InvalidSchema(f"line {line}, column {column}: {problem}")


def tokens_of(text: str) -> list[Token]:
    found: list[Token] = []
    for match in _PATTERN.finditer(text):
        kind = match.lastgroup or ""
        token = Token(kind, match[kind], match.start(kind))
        if kind == "open":
            fail(text, token.at, "a string has no end on its line")
        if token.text == "/" and text.startswith("/*", token.at):
            fail(text, token.at, "a comment has no end")
        found.append(token)
        if kind == "end":
            break
    return found


def unquoted(text: str, token: Token) -> str:
    """The string's value; bytes that are no UTF-8 (of escapes such as \\xff) come as lone surrogates."""

    def replaced(match: re.Match[bytes]) -> bytes:
        hexadecimal, octal, short, long, letter = match.groups()
        if hexadecimal:
            return bytes([int(hexadecimal, 16)])
        if octal:
            return bytes([int(octal, 8) & 0xFF])
        if short or long:
            return _code_point(text, token, int(short or long, 16))
        if letter not in _ESCAPED:
            fail(text, token.at, f"\\{letter.decode('utf-8', 'replace')} is no escape sequence")
        return _ESCAPED[letter]

    raw = token.text[1:-1].encode("utf-8", "surrogatepass")
    return _ESCAPE.sub(replaced, raw).decode("utf-8", "surrogateescape")


def _code_point(text: str, token: Token, code_point: int) -> bytes:
    if code_point > 0x10FFFF or 0xD800 <= code_point < 0xE000:
        fail(text, token.at, f"{code_point:x} is no Unicode code point")
    return chr(code_point).encode()


class TokenReader:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens_of(text)
        self._next = 0
        self.peek = self._tokens[0]

    @property
    def peek_second(self) -> Token:
        return self._tokens[min(self._next + 1, len(self._tokens) - 1)]

    def take(self) -> Token:
        token = self.peek
        if token.kind != "end":
            self._next += 1
            self.peek = self._tokens[self._next]
        return token

    def maybe(self, text: str) -> bool:
        if self.peek.text != text:
            return False
        self.take()
        return True

    def expect(self, text: str) -> Token:
        token = self.take()
        if token.text != text:
            self.refuse(token, f"'{text}'")
        return token

    def refuse(self, token: Token, wanted: str) -> NoReturn:
        got = "the end of the text" if token.kind == "end" else f"'{token.text}'"
        fail(self._text, token.at, f"expected {wanted}, got {got}")

    def fail(self, at: int, problem: str) -> NoReturn:
        fail(self._text, at, problem)

    def word(self, wanted: str) -> str:
        token = self.take()
        if token.kind != "word":
            self.refuse(token, wanted)
        return token.text

    def dotted(self, wanted: str) -> str:
        """a.b.c, or .a.b.c"""
        name = "." if self.maybe(".") else ""
        name += self.word(wanted)
        while self.maybe("."):
            name += "." + self.word(wanted)
        return name

    def string(self, wanted: str) -> str:
        """Neighbours are one string."""
        if self.peek.kind != "string":
            self.refuse(self.peek, wanted)
        parts: list[str] = []
        while self.peek.kind == "string":
            parts.append(unquoted(self._text, self.take()))
        return "".join(parts).encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")

    def integer(self, wanted: str) -> int:
        sign = -1 if self.maybe("-") else 1
        token = self.take()
        try:
            return sign * _integer(token)
        except ValueError:
            self.refuse(token, wanted)


def _integer(token: Token) -> int:
    if token.kind != "number":
        raise ValueError
    if token.text[0] == "0" and token.text.isdigit():
        return int(token.text, 8)
    return int(token.text, 0)
