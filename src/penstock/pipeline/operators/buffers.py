"""What waits to be processed: a queue for each input, and which of them is next.

Next is the one whose first record is the earliest. Among inputs whose first records are of one time, the order is that
of Java's priority queue, which Kafka Streams uses: the same records then come out in the same order.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from penstock.pipeline.operators.base import NO_TIME, Raw

Arrived: TypeAlias = tuple[Raw, int]
"""A record, decoded, and its offset."""
MOST_THAT_KEEP_PLACES = 2


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

    def add(self, queue: InputQueue, arrived: Sequence[Arrived]) -> None:
        was_empty = not queue.records
        queue.records.extend(arrived)
        if was_empty and queue.records:
            self._offer(queue)

    def take(self) -> tuple[InputQueue, Arrived]:
        queue = self._poll()
        arrived = queue.records.popleft()
        queue.latest = max(queue.latest, arrived[0][2])
        if queue.records:
            self._offer(queue)
        return queue, arrived

    def take_run(self) -> tuple[InputQueue, list[Arrived]]:
        """The next record, and those of the same queue that would come right after it.

        With more than two queues each turn may change the order among those that are of one time: there it is one.
        """
        heap = self._heap
        if len(heap) > MOST_THAT_KEEP_PLACES:
            queue, arrived = self.take()
            return queue, [arrived]
        queue = self._poll()
        records = queue.records
        if not heap:
            run = list(records)
            records.clear()
        else:
            others, run = _time(heap[0]), [records.popleft()]
            while records and records[0][0][2] < others:
                run.append(records.popleft())
        queue.latest = max(queue.latest, max(record[2] for record, _ in run))
        if records:
            self._offer(queue)
        return queue, run

    def _offer(self, queue: InputQueue) -> None:
        heap, time = self._heap, _time(queue)
        heap.append(queue)
        place = len(heap) - 1
        while place > 0:
            parent = (place - 1) // 2
            if time >= _time(heap[parent]):
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
        heap, time, place = self._heap, _time(queue), 0
        while (child := 2 * place + 1) < len(heap):
            right = child + 1
            if right < len(heap) and _time(heap[child]) > _time(heap[right]):
                child = right
            if time <= _time(heap[child]):
                break
            heap[place], place = heap[child], child
        heap[place] = queue


def _time(queue: InputQueue) -> int:
    return queue.records[0][0][2]
