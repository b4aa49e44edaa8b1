"""The latest value of each key."""

from collections.abc import Iterator
from typing import Any

from penstock.pipeline.operators.stores.changes import Logged
from penstock.pipeline.plan.serdes import Serde

Row = tuple[Any, int]
"""A value and its timestamp."""


class KeyValueStore(Logged):
    def __init__(self, name: str, topic: str, key_serde: Serde, value_serde: Serde) -> None:
        self.name = name
        self._topic = topic
        self._encode_key, self._decode_key = key_serde.encode, key_serde.decode
        self._encode, self._decode = value_serde.encode, value_serde.decode
        self._rows: dict[bytes | None, tuple[bytes, int]] = {}

    # --- with timestamps, as tables use it

    def row(self, key: Any) -> Row | None:
        return self.row_of(self._encode_key(self._topic, key))

    def key_bytes(self, key: Any) -> bytes | None:
        """For `row_of` and `put_row_of`, which need them again and again."""
        return self._encode_key(self._topic, key)

    def row_of(self, key: bytes | None) -> Row | None:
        found = self._rows.get(key)
        return None if found is None else (self._decode(self._topic, found[0]), found[1])

    def get_value(self, key: Any) -> Any:
        found = self._rows.get(self._encode_key(self._topic, key))
        return None if found is None else self._decode(self._topic, found[0])

    def put_row(self, key: Any, value: Any, timestamp: int) -> None:
        self.put_row_of(self._encode_key(self._topic, key), value, timestamp)

    def put_row_of(self, key: bytes | None, value: Any, timestamp: int) -> None:
        data = self._encode(self._topic, value)
        if data is None:
            self._rows.pop(key, None)
        else:
            self._rows[key] = (data, timestamp)
        if self.log is not None and key is not None:
            self.log(key, data, timestamp)

    def restore(self, key: bytes, value: bytes | None, timestamp: int) -> None:
        if value is None:
            self._rows.pop(key, None)
        else:
            self._rows[key] = (value, timestamp)

    def rows(self) -> Iterator[tuple[Any, Row]]:
        for key in sorted(key for key in self._rows if key is not None):
            data, timestamp = self._rows[key]
            yield self._decode_key(self._topic, key), (self._decode(self._topic, data), timestamp)

    # --- as users see it

    def get(self, key: Any) -> Any:
        row = self.row(key)
        return None if row is None else row[0]

    def put(self, key: Any, value: Any) -> None:
        self.put_row(key, value, self.current_time)

    def put_if_absent(self, key: Any, value: Any) -> Any:
        there = self.get(key)
        if there is None:
            self.put(key, value)
        return there

    def delete(self, key: Any) -> Any:
        there = self.get(key)
        self.put(key, None)
        return there

    def all(self) -> Iterator[tuple[Any, Any]]:
        """Rows in the order of their keys' bytes."""
        return ((key, row[0]) for key, row in self.rows())

    def range(self, first: Any = None, last: Any = None) -> Iterator[tuple[Any, Any]]:
        """From the first key to the last, both inside; None is no bound."""
        low = None if first is None else self._encode_key(self._topic, first)
        high = None if last is None else self._encode_key(self._topic, last)
        for key in sorted(key for key in self._rows if key is not None):
            if (low is None or key >= low) and (high is None or key <= high):
                yield self._decode_key(self._topic, key), self._decode(self._topic, self._rows[key][0])

    def approximate_num_entries(self) -> int:
        return len(self._rows)


class TimestampedKeyValueStore(KeyValueStore):
    """What users see of it are values with their timestamps."""

    def get(self, key: Any) -> Row | None:
        return self.row(key)

    def put(self, key: Any, value: Any) -> None:
        if value is None:
            self.put_row(key, None, self.current_time)
        else:
            self.put_row(key, *value)

    def all(self) -> Iterator[tuple[Any, Any]]:
        return self.rows()
