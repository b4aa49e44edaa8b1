"""The latency that a server adds, seen by a client as thin as it can be: one thread, two sockets, nothing in between.

A client library hands a record from thread to thread before it is written and after it is read, and these wake-ups are
in what it measures. Here one connection produces, another has a fetch waiting at the
broker, and one `select` watches both. All requests are encoded before the clock starts, and what was read is checked
after it stopped; only the offset of the next fetch is decoded in between.

Records are due at moments that are fixed beforehand, and a record's latency counts from the moment that it was due,
not from when it was written. So a server that stalls the client is charged for every record that it delays, as users
of it would be. A timer of the kernel wakes the client late; it therefore asks for an early one
and looks at the sockets without waiting until the moment has come.

`python -m bench.latency_client latency '{"port": ..., ...}'` does one job and prints its result as JSON.
"""

from __future__ import annotations

import gc
import json
import select
import socket
import struct
import sys
import time
from typing import Any, Self

from bench.latency_requests import (
    ask_topic_id,
    check_acknowledged,
    check_read_back,
    decode_fetched,
    encode_fetch,
    encode_produce,
)
from penstock.records.batch import Batch

Job = dict[str, Any]
RECEIVE_BYTES = 1 << 20
EARLY_NS = 150_000
PARKING_NS = 100_000_000  # until the first record is due, so that the first fetch waits at the broker
MOST_SILENCE_NS = 30_000_000_000
_SIZE = struct.Struct(">i")
now_ns = time.perf_counter_ns


class Stream:
    """A socket whose answers come as frames."""

    def __init__(self, connected: socket.socket) -> None:
        self._socket = connected
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send = self._socket.sendall
        self.fileno = self._socket.fileno
        self.close = self._socket.close
        self._received = b""

    @classmethod
    def to(cls, port: int) -> Self:
        return cls(socket.create_connection(("127.0.0.1", port)))

    def receive(self) -> list[memoryview]:
        """Reads what is there; the frames that are whole now, without their sizes."""
        data = self._socket.recv(RECEIVE_BYTES)
        if not data:
            raise ConnectionError("the other side closed the connection")
        received = memoryview(self._received + data)
        frames, position = [], 0
        while (end := _end_of_frame(received, position)) <= len(received):
            frames.append(received[position + _SIZE.size : end])
            position = end
        self._received = bytes(received[position:])
        return frames


def _end_of_frame(received: memoryview, position: int) -> int:
    start = position + _SIZE.size
    if start > len(received):
        return start
    (size,) = _SIZE.unpack_from(received, position)
    return start + int(size)


class LatencyRun:
    """Records that are due at a fixed pace, each written, acknowledged and read back, with the times of all three."""

    def __init__(self, port: int, topic: str, count: int, records_per_second: int) -> None:
        topic_id = ask_topic_id(port, topic)
        self._produces = [encode_produce(topic_id, number) for number in range(count)]
        self._fetches = [encode_fetch(topic_id, offset) for offset in range(count + 1)]
        self._producer, self._fetcher = Stream.to(port), Stream.to(port)
        self._count = count
        self._interval_ns = 1e9 / records_per_second
        self._start_ns = 0
        self.written_ns: list[int] = []
        self.acknowledged_ns: list[int] = []
        self.read_ns: list[int] = []
        self._acknowledgements: list[memoryview] = []
        self._batches: list[Batch] = []

    def run(self) -> None:
        gc.collect()
        gc.disable()
        self._fetcher.send(self._fetches[0])
        self._start_ns = now_ns() + PARKING_NS
        while len(self.read_ns) < self._count or len(self.acknowledged_ns) < self._count:
            self._write_what_is_due()
            self._read_what_is_there()
        gc.enable()
        self._producer.close()
        self._fetcher.close()
        check_acknowledged(self._acknowledgements)
        check_read_back(self._batches)

    def due_ns(self, number: int) -> int:
        return self._start_ns + int(number * self._interval_ns)

    def _write_what_is_due(self) -> None:
        number = len(self.written_ns)
        if number < self._count and (now := now_ns()) >= self.due_ns(number):
            self.written_ns.append(now)
            self._producer.send(self._produces[number])

    def _read_what_is_there(self) -> None:
        readable, _, _ = select.select((self._fetcher, self._producer), (), (), self._patience_seconds())
        received = [(stream, stream.receive(), now_ns()) for stream in readable]
        for stream, frames, arrived_ns in received:
            take = self._take_fetched if stream is self._fetcher else self._take_acknowledged
            for frame in frames:
                take(frame, arrived_ns)

    def _patience_seconds(self) -> float:
        """How long nothing has to be written; none at all shortly before a record is due."""
        if len(self.written_ns) < self._count:
            return max(0, self.due_ns(len(self.written_ns)) - EARLY_NS - now_ns()) / 1e9
        left_ns = self.due_ns(self._count) + MOST_SILENCE_NS - now_ns()
        if left_ns <= 0:
            raise RuntimeError(
                f"of {self._count} records, {len(self.acknowledged_ns)} were acknowledged"
                f" and {len(self.read_ns)} read back"
            )
        return left_ns / 1e9

    def _take_fetched(self, frame: memoryview, arrived_ns: int) -> None:
        batches = decode_fetched(frame)
        self._batches += batches
        self.read_ns += [arrived_ns] * len(batches)
        if len(self.read_ns) < self._count:
            self._fetcher.send(self._fetches[len(self.read_ns)])

    def _take_acknowledged(self, frame: memoryview, arrived_ns: int) -> None:
        self._acknowledgements.append(frame)
        self.acknowledged_ns.append(arrived_ns)

    def since_due(self, moments_ns: list[int], first: int) -> list[int]:
        return [moments_ns[number] - self.due_ns(number) for number in range(first, self._count)]


def latency(job: Job) -> Job:
    """Nanoseconds from the moment that each record was due until it was written, acknowledged and read back."""
    first = job["warm_up_records"]
    run = LatencyRun(job["port"], job["topic"], first + job["records"], job["records_per_second"])
    run.run()
    moments = {"written": run.written_ns, "acknowledged": run.acknowledged_ns, "read": run.read_ns}
    return {name: run.since_due(moments_ns, first) for name, moments_ns in moments.items()}


COMMANDS = {"latency": latency}

if __name__ == "__main__":
    print(json.dumps(COMMANDS[sys.argv[1]](json.loads(sys.argv[2]))))
