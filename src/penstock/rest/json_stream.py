"""JSON objects one after the other, as they arrive.

`raw_decode` reads an object at the speed of C, but cannot go on where a chunk ended within one, and starting over with
each chunk would make a large object that comes in many small chunks cost the square of its size. So an object that is
not whole yet is walked by its brackets and quotes first, each character once, until its end is found.
"""

from __future__ import annotations

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterator
from typing import Any, NoReturn

from penstock.web.errors import HttpError

_SPACE = re.compile(r"[ \t\r\n]*")
_OUTSIDE = re.compile(r'["{}\[\]]')
_INSIDE = re.compile(r'["\\]')


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).raw_decode


class JsonStream:
    """`feed` takes bytes and yields the objects that they complete; `end` says that no more will come.

    An object that is no JSON ends the stream: nobody can tell where the next one begins.
    """

    def __init__(self, max_object_bytes: int) -> None:
        self._max_length = max_object_bytes
        self._utf8 = getincrementaldecoder("utf-8")()
        self._text = ""
        self._walked = 0
        self._depth = 0
        self._in_string = False

    def feed(self, chunk: bytes) -> Iterator[Any]:
        self._text += self._decoded(chunk)
        start = 0
        while (start := _skip_space(self._text, start)) < len(self._text):
            if self._text[start] != "{":
                raise _not_json(f"takes JSON objects, got {self._text[start : start + 20]!r}")
            found = self._next(start)
            if found is None:
                break
            value, start = found
            yield value
        self._text, self._walked = self._text[start:], self._walked - start if self._walked else 0
        if len(self._text) > self._max_length:
            raise HttpError(413, 413, f"One record is too large; takes at most {self._max_length} bytes")

    def end(self) -> None:
        self._decoded(b"", final=True)
        if self._text.strip():
            raise _not_json("the last object is not complete")

    def _decoded(self, chunk: bytes, final: bool = False) -> str:
        try:
            return self._utf8.decode(chunk, final)
        except UnicodeDecodeError:
            raise _not_json("it is not UTF-8") from None

    def _next(self, start: int) -> tuple[Any, int] | None:
        """The object at `start` and where it ends; None if that is yet to come."""
        if not self._walked:
            try:
                return _decode(self._text, start)
            except (ValueError, RecursionError):
                self._walked, self._depth, self._in_string = start, 0, False
        end = self._walk()
        if end is None:
            return None
        self._walked = 0
        return decode_object(self._text[start:end]), end

    def _walk(self) -> int | None:
        """Goes on from where the last walk ended; the end of the object, if it is there."""
        text, at = self._text, self._walked
        while True:
            match = (_INSIDE if self._in_string else _OUTSIDE).search(text, at)
            if match is None:
                self._walked = len(text)
                return None
            at, character = match.end(), match[0]
            if character == "\\":
                if at == len(text):
                    self._walked = at - 1
                    return None
                at += 1
            elif character == '"':
                self._in_string = not self._in_string
            else:
                self._depth += 1 if character in "{[" else -1
                if self._depth == 0:
                    return at


def objects_in(body: bytes) -> Iterator[Any]:
    """The objects of a body that is there as a whole."""
    try:
        text = body.decode()
    except UnicodeDecodeError as error:
        raise _not_json(f"it is not UTF-8 (byte {error.start})") from None
    start, length = _skip_space(text, 0), len(text)
    while start < length:
        value, end = _decode_at(text, start)
        yield value
        start = _skip_space(text, end)


def decode_object(text: str) -> Any:
    return _decode_at(text, 0)[0]


def _decode_at(text: str, start: int) -> tuple[Any, int]:
    try:
        return _decode(text, start)
    except json.JSONDecodeError as error:
        raise _not_json(f"{error.msg} at line {error.lineno}, column {error.colno}") from None
    except ValueError as error:
        raise _not_json(str(error)) from None
    except RecursionError:
        raise _not_json("it is nested too deeply") from None


def _skip_space(text: str, start: int) -> int:
    match = _SPACE.match(text, start)
    assert match is not None
    return match.end()


def _not_json(why: str) -> HttpError:
    return HttpError(400, 400, f"Error processing JSON: {why}")
