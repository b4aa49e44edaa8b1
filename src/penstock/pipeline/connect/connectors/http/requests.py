"""Records as requests: runs of records that have the same method, URL and headers. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from penstock.pipeline.connect.connectors.http.templates import parse_headers, rendered, within_header
from penstock.pipeline.connect.converters.json_converter import JsonConverter
from penstock.pipeline.connect.data import SinkRecord
from penstock.pipeline.connect.data.java_text import java_text


@dataclass(frozen=True, slots=True)
class Target:
    method: str
    url: str
    headers: Mapping[str, str]
    has_body: bool


class Requests:
    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._headers = parse_headers("headers", settings["headers"], settings["header.separator"])
        self._method = settings["request.method"].upper()
        self._is_json = settings["request.body.format"].lower() == "json"
        self._deletes = settings["behavior.on.null.values"].lower() == "delete"
        self._prefix, self._separator, self._suffix = (
            _unescaped(settings[name]) for name in ("batch.prefix", "batch.separator", "batch.suffix")
        )
        self._json = JsonConverter()
        self._json.configure({"schemas.enable": "false", "decimal.format": "NUMERIC"}, False)
        kind = "application/json" if self._is_json else "text/plain; charset=utf-8"
        has_type = any(name.lower() == "content-type" for name in self._headers)
        self._content_type = {} if has_type else {"Content-Type": kind}

    def runs(self, records: Iterable[tuple[Target, SinkRecord]]) -> Iterator[tuple[Target, list[SinkRecord]]]:
        """In the order of the records; a record that is deleted goes alone."""
        target: Target | None = None
        run: list[SinkRecord] = []
        for its, record in records:
            is_full = len(run) >= self._settings["batch.max.size"]
            if target is not None and (its != target or is_full or not its.has_body):
                yield target, run
                run = []
            target = its
            run.append(record)
        if target is not None:
            yield target, run

    def body(self, records: Sequence[SinkRecord]) -> bytes:
        texts = [self._text(each) for each in records]
        if not self._is_json:
            return self._prefix + self._separator.join(texts) + self._suffix
        return b"[" + b",".join(texts) + b"]" if self._settings["batch.json.as.array"] else texts[0]

    def target(self, record: SinkRecord) -> Target:
        values = {
            "topic": record.topic,
            "partition": str(record.original_partition),
            "offset": str(record.original_offset),
            "key": _text_of(record.key, record.key_schema),
        }
        has_body = record.value is not None
        url = rendered(self._settings["http.api.url"], values, lambda text: quote(text, safe=""))
        headers = {name: rendered(value, values, within_header) for name, value in self._headers.items()}
        method = self._method if has_body else "DELETE"
        return Target(method, url, {**(self._content_type if has_body else {}), **headers}, has_body)

    def _text(self, record: SinkRecord) -> bytes:
        if self._is_json:
            return self._json.from_connect(record.topic, record.value_schema, record.value) or b"null"
        if isinstance(record.value, bytes):
            return record.value
        return java_text(record.value, record.value_schema).encode()


def _unescaped(text: str) -> bytes:
    """White space at the ends of a setting is lost, so it can be written with a backslash."""
    return text.replace("\\n", "\n").replace("\\t", "\t").encode()


def _text_of(value: Any, schema: Any) -> str:
    if value is None:
        return ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else java_text(value, schema)
