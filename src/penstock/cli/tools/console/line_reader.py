"""A line of text as a record: Kafka's LineMessageReader with its properties.

    [headers headers.delimiter] [key key.separator] value
    headers: name headers.key.separator value, with headers.separator (a regular expression) between them

Lines stay bytes all the way, so that text in any encoding arrives as it was sent.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from penstock.wire_client.errors import KafkaError

Headers = list[tuple[str, str | bytes | None]]


class Line(NamedTuple):
    key: bytes | None
    value: bytes | None
    headers: Headers


NO_HEADERS: Headers = []
MUST_DIFFER = (
    ("headers.delimiter", "headers.separator"),
    ("headers.delimiter", "headers.key.separator"),
    ("headers.separator", "headers.key.separator"),
    ("null.marker", "key.separator"),
    ("null.marker", "headers.separator"),
    ("null.marker", "headers.delimiter"),
    ("null.marker", "headers.key.separator"),
)
DEFAULTS = {
    "key.separator": "\t",
    "headers.delimiter": "\t",
    "headers.separator": ",",
    "headers.key.separator": ":",
}


class LineReader:
    def __init__(self, properties: Mapping[str, str]) -> None:
        texts = {**DEFAULTS, **properties}
        for one, other in MUST_DIFFER:
            if one in texts and texts[one] == texts[other]:
                raise KafkaError(f"{one} and {other} may not be equal")
        self.parse_key = _is_true(properties.get("parse.key"))
        self.parse_headers = _is_true(properties.get("parse.headers"))
        self.ignore_error = _is_true(properties.get("ignore.error"))
        self.key_separator = texts["key.separator"].encode()
        self.headers_delimiter = texts["headers.delimiter"].encode()
        self.headers_key_separator = texts["headers.key.separator"].encode()
        self.headers_separator = _compile(texts["headers.separator"])
        self.null_marker = texts["null.marker"].encode() if "null.marker" in texts else None
        self.line_number = 0

    @property
    def takes_lines_as_values(self) -> bool:
        """Whether each line is the value of a record and nothing else: it need not be parsed then."""
        return not self.parse_key and not self.parse_headers and self.null_marker is None

    def parse(self, line: bytes) -> Line:
        self.line_number += 1
        start = 0
        headers = key = None
        if self.parse_headers:
            headers = self._up_to(line, 0, self.headers_delimiter, "headers delimiter")
            start = 0 if headers is None else len(headers) + len(self.headers_delimiter)
        if self.parse_key:
            key = self._up_to(line, start, self.key_separator, "key separator")
            start += 0 if key is None else len(key) + len(self.key_separator)
        has_headers = headers is not None and headers != self.null_marker
        return Line(
            self._unless_null(key),
            self._unless_null(line[start:]),
            self._headers(headers) if headers is not None and has_headers else NO_HEADERS,
        )

    def _up_to(self, line: bytes, start: int, end: bytes, what: str) -> bytes | None:
        position = line.find(end, start)
        if position >= 0:
            return line[start:position]
        if self.ignore_error:
            return None
        raise KafkaError(f"No {what} found on line number {self.line_number}: '{_text(line)}'")

    def _unless_null(self, field: bytes | None) -> bytes | None:
        return None if field == self.null_marker else field

    def _headers(self, text: bytes) -> Headers:
        return [self._header(pair) for pair in split(self.headers_separator, text)]

    def _header(self, pair: bytes) -> tuple[str, str | bytes | None]:
        name, separator, value = pair.partition(self.headers_key_separator)
        if not separator:
            if self.ignore_error:
                return _text(pair), None
            raise KafkaError(
                f"No header key separator found in pair '{_text(pair)}' on line number {self.line_number}"
            )
        if name == self.null_marker:
            marker = _text(self.null_marker)
            raise KafkaError(
                f"Header keys should not be equal to the null marker '{marker}' as they can't be null"
            )
        return _text(name), self._unless_null(value)


def split(separator: re.Pattern[bytes], text: bytes) -> list[bytes]:
    """As Java splits: no empty piece before a separator of no width, none at the end."""
    parts: list[bytes] = []
    start = 0
    for found in separator.finditer(text):
        if found.end() == 0:
            continue
        parts.append(text[start : found.start()])
        start = found.end()
    parts.append(text[start:])
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return parts


def _compile(pattern: str) -> re.Pattern[bytes]:
    try:
        return re.compile(pattern.encode())
    except re.error as error:
        raise KafkaError(
            f"headers.separator: got '{pattern}'; takes a regular expression ({error.msg})"
        ) from None


def _is_true(text: str | None) -> bool:
    return text is not None and text.strip().lower() == "true"


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
