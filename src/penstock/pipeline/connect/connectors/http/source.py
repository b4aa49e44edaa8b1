"""What an HTTP API answers as records.

A request stands at (offset, read): what `${offset}` is, and how many records of that answer are in Kafka already.
Behind the last record of an answer the next request stands:
- SIMPLE_INCREMENTING: at the next page, if this one had records.
- CHAINING: at what the last record says; the API answers with what lies behind it.
- CURSOR_PAGINATION: at the cursor that the answer has. The last page has none: it is asked again, and records that have
  been added to it are new.
Every record has where the request stands behind it as its offset, so a task that is started again goes on there.

Tasks are started often, and must not ask more often than they are told. So, while there is nothing new, requests are
sent when the clock passes a multiple of the interval, whoever runs then; who starts just behind one sends it, since
nobody may have been there in time. Who starts soon after records have come asks at once: there may be more.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final
from urllib.parse import quote

from penstock.pipeline.connect.api import ConfigDef, SourceConnector, SourceTask
from penstock.pipeline.connect.connectors.http.exchange import HttpExchange, RetriableStatusError
from penstock.pipeline.connect.connectors.http.http_config import (
    CHAINING,
    CURSOR,
    INCREMENTING,
    SOURCE_CHECKS,
    SOURCE_KEYS,
    errors_of,
)
from penstock.pipeline.connect.connectors.http.json_pointer import ABSENT, at_pointer
from penstock.pipeline.connect.connectors.http.templates import parse_headers, rendered, within_header
from penstock.pipeline.connect.data import SourceRecord
from penstock.pipeline.connect.errors import ConnectError, RetriableConnectError

URL, OFFSET, READ, ASKED_MS = "url", "offset", "read", "asked_ms"
MOST_WAIT_SECONDS: Final = 0.5
BETWEEN_TASKS_MS: Final = 1000
RECENT_MS: Final = 10_000


class HttpSourceTask(SourceTask):
    def start(self, configs: Mapping[str, str]) -> None:
        self._settings = settings = SOURCE_KEYS.parse(configs)
        self._exchange = HttpExchange(settings)
        self._mode = settings["http.offset.mode"].upper()
        self._partition = {URL: settings["url"]}
        stored = self.context.offsets.offset(self._partition) or {}
        first = settings["http.initial.offset"] or ("0" if self._mode == INCREMENTING else "")
        self._offset, self._read = str(stored.get(OFFSET, first)), int(stored.get(READ, 0))
        self._due_ms = first_due_ms(_now_ms(), stored.get(ASKED_MS), settings["request.interval.ms"])

    def poll(self) -> Sequence[SourceRecord] | None:
        now_ms = _now_ms()
        if self._due_ms > now_ms:
            self._wait((self._due_ms - now_ms) / 1000)
            return None
        try:
            document = self._ask()
        except RetriableConnectError as error:
            asked_ms = error.wait_ms if isinstance(error, RetriableStatusError) else None
            self._due_ms = _now_ms() + (self._settings["retry.backoff.ms"] if asked_ms is None else asked_ms)
            raise
        return self._records(document, now_ms)

    def stop(self) -> None:
        self._exchange.close()

    def _wait(self, seconds: float) -> None:
        deadline = time.monotonic() + min(seconds, MOST_WAIT_SECONDS)
        while not self.context.is_stopping() and (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, 0.05))

    def _ask(self) -> Any:
        settings, values = self._settings, {OFFSET: self._offset}
        url = rendered(settings["url"], values, _quoted)
        if settings["http.request.parameters"]:
            query = rendered(settings["http.request.parameters"], values, _quoted)
            url = f"{url}{'&' if '?' in url else '?'}{query}"
        separator = settings["http.request.headers.separator"]
        given = parse_headers("http.request.headers", settings["http.request.headers"], separator)
        headers = {"Accept": "application/json"}
        headers |= {name: rendered(value, values, within_header) for name, value in given.items()}
        body = rendered(settings["http.request.body"], values, _within_json)
        if body and not any(name.lower() == "content-type" for name in headers):
            headers["Content-Type"] = "application/json"
        answer = self._exchange.ask(
            settings["http.request.method"].upper(), url, headers, body.encode() or None
        )
        return _parsed(answer.body, url)

    def _records(self, document: Any, now_ms: int) -> list[SourceRecord]:
        values = self._values(document)
        behind = self._positions_behind(values, document)
        new = [
            SourceRecord(
                self._partition,
                {OFFSET: offset, READ: read, ASKED_MS: now_ms},
                self._settings["topic.name.pattern"],
                value,
            )
            for value, (offset, read) in list(zip(values, behind, strict=True))[self._read :]
        ]
        before = self._offset, self._read
        if values:
            self._offset, self._read = behind[-1]
        elif self._mode == CURSOR:
            self._offset, self._read = self._next_cursor(document, 0)
        if (self._offset, self._read) == before:
            self._due_ms = _now_ms() + self._settings["request.interval.ms"]
        return new

    def _values(self, document: Any) -> list[Any]:
        pointer = self._settings["http.response.data.json.pointer"]
        found = at_pointer(document, pointer)
        if found is ABSENT:
            raise ConnectError(
                f"{self._partition[URL]}: the answer has nothing at {pointer!r} "
                f"(http.response.data.json.pointer): {_shown(document)}"
            )
        if found is None:
            return []
        return found if isinstance(found, list) else [found]

    def _positions_behind(self, values: Sequence[Any], document: Any) -> list[tuple[str, int]]:
        if self._mode == CHAINING:
            return [(self._chained(value), 0) for value in values]
        count = len(values)
        behind = [(self._offset, number) for number in range(1, count)]
        if count:
            is_page = self._mode == INCREMENTING
            behind.append((str(int(self._offset) + 1), 0) if is_page else self._next_cursor(document, count))
        return behind

    def _chained(self, value: Any) -> str:
        pointer = self._settings["http.offset.json.pointer"]
        found = at_pointer(value, pointer)
        if found is ABSENT or isinstance(found, dict | list | None):
            raise ConnectError(
                f"{self._partition[URL]}: a record has no offset at {pointer!r} "
                f"(http.offset.json.pointer): {_shown(value)}"
            )
        return found if isinstance(found, str) else json.dumps(found)

    def _next_cursor(self, document: Any, count: int) -> tuple[str, int]:
        found = at_pointer(document, self._settings["http.next.page.json.pointer"])
        if found is ABSENT or found is None or found == "" or found is False:
            return self._offset, max(self._read, count)
        return found if isinstance(found, str) else json.dumps(found), 0


class HttpSourceConnector(SourceConnector):
    """Asks an HTTP API for records."""

    task_class = HttpSourceTask
    config_def: ClassVar[ConfigDef] = SOURCE_KEYS

    def validate(self, configs: Mapping[str, str]) -> dict[str, list[str]]:
        return errors_of(SOURCE_CHECKS, SOURCE_KEYS.parse(configs))

    def alter_offsets(
        self, configs: Mapping[str, str], offsets: Mapping[str, Mapping[str, Any] | None] | list[Any]
    ) -> bool:
        pairs: list[Any] = list(offsets)
        for partition, offset in pairs:
            if not isinstance(partition, Mapping) or URL not in partition:
                raise ConnectError(f"partition: got {partition!r}; takes {{'{URL}': the url}}")
            if offset is not None and not isinstance(offset.get(OFFSET), str):
                raise ConnectError(f"offset: got {offset!r}; takes {{'{OFFSET}': a text}} or null")
        return True


def first_due_ms(now_ms: int, asked_ms: int | None, interval_ms: int) -> int:
    """When a task that starts now sends its first request."""
    if interval_ms == 0 or (asked_ms is not None and now_ms - asked_ms < RECENT_MS):
        return now_ms
    since = now_ms % interval_ms
    return now_ms if since < BETWEEN_TASKS_MS else now_ms - since + interval_ms


def _parsed(body: bytes, url: str) -> Any:
    try:
        return json.loads(body) if body.strip() else None
    except ValueError as error:
        raise ConnectError(f"{url}: the answer is not JSON: {error}") from error


def _shown(document: Any) -> str:
    text = json.dumps(document, ensure_ascii=False)
    return text if len(text) <= 200 else f"{text[:200]}..."


def _quoted(text: str) -> str:
    return quote(text, safe="")


def _within_json(text: str) -> str:
    """In a body, where it may stand between quotes."""
    return json.dumps(text)[1:-1]


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
