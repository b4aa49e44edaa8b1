"""What waits to be processed: a queue for each input, and which of them is next.

Next is the one whose first record is the earliest. Among inputs whose first records are of one time, the order is that
of Java's priority queue, which Kafka Streams uses: the same records then come out in the same order.
"""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from penstock.pipeline.operators.base import NO_TIME
from penstock.pipeline.operators.processor_api import Headers


@dataclass(slots=True)
class Arrived:
    """A record, decoded."""

    key: Any
    value: Any
    timestamp: int
    headers: Headers
    offset: int


@dataclass(eq=False)
class InputQueue:
    topic: str
    records: deque[Arrived] = field(default_factory=deque)
    latest: int = NO_TIME
    """The latest timestamp that was taken from it."""


class InputQueues:
    """Those that have records, as a heap; it is kept as Java does, where equal ones never change places."""

    def __init__(self) -> None:
        self._heap: list[InputQueue] = []

    def __bool__(self) -> bool:
        return bool(self._heap)

    def first(self) -> InputQueue:
        """The one whose record is next."""
        return self._heap[0]

    def add(self, queue: InputQueue, arrived: Arrived) -> None:
        queue.records.append(arrived)
        if len(queue.records) == 1:
            self._offer(queue)

    def take(self) -> tuple[InputQueue, Arrived]:
        queue = self._poll()
        arrived = queue.records.popleft()
        queue.latest = max(queue.latest, arrived.timestamp)
        if queue.records:
            self._offer(queue)
        return queue, arrived

    def _offer(self, queue: InputQueue) -> None:
        heap, time = self._heap, queue.records[0].timestamp
        heap.append(queue)
        place = len(heap) - 1
        while place > 0:
            parent = (place - 1) // 2
            if time >= heap[parent].records[0].timestamp:
                break
            heap[place], place = heap[parent], parent
        heap[place] = queue

    def _poll(self) -> InputQueue:
        heap = self._heap
        first, last = heap[0], heap.pop()
        if heap:
            self._sift_down(last)
        return first

    def _sift_down(self, queue: InputQueue) -> None:
        heap, time, place = self._heap, queue.records[0].timestamp, 0
        while (child := 2 * place + 1) < len(heap):
            right = child + 1
            if right < len(heap) and _time(heap[child]) > _time(heap[right]):
                child = right
            if time <= _time(heap[child]):
                break
            heap[place], place = heap[child], child
        heap[place] = queue


def _time(queue: InputQueue) -> int:
    return queue.records[0].timestamp
