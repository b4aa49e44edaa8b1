"""Changes that are held back until a time is past, or until there are too many of them."""

from penstock.errors import PenstockError
from penstock.pipeline.operators.base import NO_TIME, Operator, Slice
from penstock.pipeline.operators.stores.suppression import SuppressionBuffer
from penstock.pipeline.plan import operations as plan


class BufferFullError(PenstockError):
    """A strict buffer of held back changes is full; the program ends."""


class Suppress(Operator[plan.Suppress]):
    one_record_at_a_time = True
    observed = NO_TIME

    def prepare(self) -> None:
        self.buffer: SuppressionBuffer = self.context.stores[self.operation.buffer]

    def note(self) -> list[int]:
        return [self.observed]

    def recall(self, note: list[int]) -> None:
        (self.observed,) = note

    def process(self, records: Slice) -> None:
        operation, buffer = self.operation, self.buffer
        for key, (new, old), timestamp, headers in records:
            self.observed = max(self.observed, timestamp)
            time = key.window.end_ms if operation.by_window_end else timestamp
            topic = self.context.metadata.topic if self.context.metadata else ""
            buffer.put(time, key, new, old, timestamp, headers, topic)
            expired = self.observed - operation.wait_ms
            while buffer.first_time is not None and buffer.first_time <= expired:
                self._emit_first()
            if self._is_full():
                self._make_room()

    def _is_full(self) -> bool:
        most, most_bytes = self.operation.max_records, self.operation.max_bytes
        return (most is not None and len(self.buffer) > most) or (
            most_bytes is not None and self.buffer.size > most_bytes
        )

    def _make_room(self) -> None:
        if not self.operation.emits_when_full:
            raise BufferFullError(
                f"{self.name}: the buffer of changes that are held back is full, with {len(self.buffer)} "
                f"of {self.operation.max_records} records and {self.buffer.size} of "
                f"{self.operation.max_bytes} bytes, and is to shut down then"
            )
        while len(self.buffer) and self._is_full():
            self._emit_first()

    def _emit_first(self) -> None:
        key, new, old, held = self.buffer.first()
        if new is not None or not self.operation.drops_tombstones:
            self.emit(key, (new, old), held.timestamp, held.headers)
        self.buffer.remove_first(self.observed)
