"""Questions about a program's stores, asked from outside of its tasks.

A store is what its changelog says: whoever asks follows all of it, committed changes only, and answers from a store of
its own. So any process answers for any store, a moment behind the tasks, and no task is held up. What it costs is the
store's memory once more, in the process that is asked, until nobody has asked for a while.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Final, NamedTuple

from penstock.errors import ConfigError, PenstockError
from penstock.pipeline.operators.stores.key_value import KeyValueStore
from penstock.pipeline.operators.stores.made import store_of
from penstock.pipeline.operators.stores.session import SessionStore
from penstock.pipeline.operators.stores.window import WindowStore
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.stores import KeyValueStoreSpec, SessionStoreSpec, StoreSpec, WindowStoreSpec
from penstock.pipeline.tasks.reading import Reader
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.types import TopicPartition

POLL_SECONDS: Final = 0.1
END_OF_TIME: Final = (1 << 63) - 1
QueriedSpec = KeyValueStoreSpec | WindowStoreSpec | SessionStoreSpec


class QueryError(PenstockError):
    """A question that this store has no answer to."""


class Row(NamedTuple):
    key: Any
    value: Any
    timestamp: int | None = None
    window: tuple[int, int] | None = None
    """Start and end."""


class StoreQueries:
    """One store of a program; `close` it."""

    def __init__(
        self, settings: StreamsSettings, application_id: str, spec: StoreSpec, partitions: int
    ) -> None:
        if not isinstance(spec, QueriedSpec) or not spec.is_logged:
            raise QueryError(
                f"store {spec.name!r} is none that can be asked: it has no rows with a changelog"
            )
        self._spec, self._topic = spec, f"{application_id}-{spec.changelog}"
        self._stores = {
            TopicPartition(self._topic, number): store_of(spec, application_id)
            for number in range(partitions)
        }
        self._lock = threading.Lock()
        self._is_current = threading.Event()
        self._stopping = threading.Event()
        self._failure: Exception | None = None
        self.asked_at = time.monotonic()
        self._reader = Reader(
            settings, f"{application_id}-queries", f"{application_id}-queries", tells_ends_soon=True
        )
        self._thread = threading.Thread(target=self._follow, name=f"store {spec.name}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopping.set()
        self._thread.join()
        self._reader.close()

    def wait_until_current(self, timeout: float) -> None:
        """Until all that was committed as it began has been read."""
        if not self._is_current.wait(timeout):
            raise QueryError(f"store {self._spec.name!r} is still being read")
        if self._failure is not None:
            raise QueryError(f"store {self._spec.name!r} can't be read: {self._failure}")

    def _follow(self) -> None:
        try:
            self._reader.assign({where: self._reader.bounds(where)[0] for where in self._stores})
            while not self._stopping.is_set():
                for where, messages in self._reader.poll(POLL_SECONDS):
                    store = self._stores[where]
                    with self._lock:
                        for message in messages:
                            store.restore(message.key() or b"", message.value(), message.timestamp()[1])
                if len(self._reader.at_end) == len(self._stores):
                    self._is_current.set()
        except Exception as error:
            self._failure = error
            self._is_current.set()

    # --- questions

    def get(self, key: Any) -> list[Row]:
        """The row of a key, or all of its windows, in their order."""
        return self._found(lambda store: _rows_of(store, key))

    def fetch(self, key: Any, first_ms: int, last_ms: int) -> list[Row]:
        """Windows of a key that start in this time, or sessions that lie in it at least in part."""
        if isinstance(self._spec, KeyValueStoreSpec):
            raise QueryError(f"store {self._spec.name!r} has no windows")
        return self._found(lambda store: _windows_of(store, key, first_ms, last_ms))

    def range(self, first: Any = None, last: Any = None, limit: int = 1_000) -> list[Row]:
        """From one key to another, both with it, in the order of their bytes; without keys, all."""
        low, high = (None if key is None else self._encoded(key) for key in (first, last))

        def within(rows: Iterable[Row]) -> Iterator[Row]:
            for row in rows:
                key = self._encoded(row.key)
                if (low is None or key >= low) and (high is None or key <= high):
                    yield row

        rows = self._found(lambda store: within(_all_rows(store)))
        return list(islice(sorted(rows, key=lambda row: (self._encoded(row.key), row.window or ())), limit))

    def _found(self, ask: Callable[[Any], Iterable[Row]]) -> list[Row]:
        self.asked_at = time.monotonic()
        with self._lock:
            return [row for store in self._stores.values() for row in ask(store)]

    @property
    def _key_serde(self) -> Serde:
        assert self._spec.key_serde is not None, "a plan that is built knows all serdes"
        return self._spec.key_serde

    def _encoded(self, key: Any) -> bytes:
        return self._key_serde.encode(self._topic, key) or b""

    def key_of(self, text: str) -> Any:
        """A key from the text in which somebody gives it: itself, a number, or JSON."""
        for make in (str, int, float, json.loads):
            try:
                key = make(text)
                if self._key_serde.decode(self._topic, self._encoded(key)) == key:
                    return key
            except Exception:  # a serde may say no in its own way
                continue
        raise ConfigError(f"key: got {text!r}; store {self._spec.name!r} takes {self._key_serde.name}")


def _rows_of(store: Any, key: Any) -> Iterator[Row]:
    if isinstance(store, KeyValueStore):
        row = store.row(key)
        if row is not None:
            yield Row(key, *row)
    else:
        yield from _windows_of(store, key, 0, END_OF_TIME)


def _windows_of(store: WindowStore | SessionStore, key: Any, first_ms: int, last_ms: int) -> Iterator[Row]:
    if isinstance(store, WindowStore):
        size = store.window_size_ms
        for start, (value, timestamp) in store.rows_of(key, first_ms, last_ms):
            yield Row(key, value, timestamp, (start, start + size))
    else:
        for session, value in store.find_sessions(key, first_ms, last_ms):
            yield Row(key, value, session.window.end_ms, (session.window.start_ms, session.window.end_ms))


def _all_rows(store: Any) -> Iterator[Row]:
    match store:
        case KeyValueStore():
            yield from (Row(key, *row) for key, row in store.rows())
        case WindowStore():
            for windowed, (value, timestamp) in store.all_rows(0, END_OF_TIME):
                yield Row(windowed.key, value, timestamp, (windowed.window.start_ms, windowed.window.end_ms))
        case SessionStore():
            for session, value in store.all():
                yield Row(
                    session.key,
                    value,
                    session.window.end_ms,
                    (session.window.start_ms, session.window.end_ms),
                )
