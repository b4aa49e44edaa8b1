"""The floor under every figure of latency: a server that has all its answers ready before the first request comes.

It understands no more than `bench.latency_client` asks: it reads a request, and writes the bytes that were encoded
for it. What it takes is the sockets', the scheduler's and the client's own share, on this machine and in this run,
and no broker can take less.

`python -m bench.latency_floor '{"count": ...}'` prints its port, and serves until it is stopped.
"""

from __future__ import annotations

import json
import select
import socket
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from bench.client import ROOT
from bench.latency_client import Stream
from bench.latency_requests import FETCH_VERSION, METADATA_VERSION, PRODUCE_VERSION, value_of
from penstock.records.builder import build_batch
from penstock.records.reader import Record
from penstock.wire.api_keys import ApiKey
from penstock.wire.frames import encode_response_frame
from penstock.wire.messages.fetch import FetchableTopicResponse, FetchResponse, PartitionData
from penstock.wire.messages.metadata import MetadataResponse, MetadataResponseTopic
from penstock.wire.messages.produce import PartitionProduceResponse, ProduceResponse, TopicProduceResponse
from penstock.wire.schema import ApiMessage
from tests.support.processes import dying_with_us

_START = struct.Struct(">hhi")  # API key, version, correlation id


def encode(answer: ApiMessage, version: int, correlation_id: int) -> bytes:
    parts = encode_response_frame(answer, version, correlation_id)
    return b"".join(bytes(part) for part in parts)  # type: ignore[arg-type]  # none lies in a file


class ReadyAnswers:
    """To one run of the client: its records are numbered from 0, and so are its fetches."""

    def __init__(self, count: int) -> None:
        self._topic_id = uuid4().bytes
        self._acknowledgements = [self._acknowledgement(number) for number in range(count)]
        self._fetched = [self._fetched_record(number) for number in range(count)]
        self._produced = 0
        self._waiting: Stream | None = None

    def answer(self, stream: Stream, frame: memoryview) -> None:
        key, _, correlation_id = _START.unpack_from(frame)
        if key == ApiKey.PRODUCE:
            stream.send(self._acknowledgements[correlation_id])
            self._produced += 1
            if self._waiting is not None:
                self._waiting.send(self._fetched[correlation_id])
                self._waiting = None
        elif key == ApiKey.FETCH:
            if correlation_id < self._produced:
                stream.send(self._fetched[correlation_id])
            else:
                self._waiting = stream
        else:
            topic = MetadataResponseTopic(topic_id=self._topic_id)
            stream.send(encode(MetadataResponse(topics=[topic]), METADATA_VERSION, correlation_id))

    def _acknowledgement(self, number: int) -> bytes:
        topic = TopicProduceResponse(
            topic_id=self._topic_id, partition_responses=[PartitionProduceResponse(0, 0, number)]
        )
        return encode(ProduceResponse([topic]), PRODUCE_VERSION, number)

    def _fetched_record(self, number: int) -> bytes:
        batch = build_batch([Record(number, 0, None, value_of(number))])
        partition = PartitionData(partition_index=0, high_watermark=number + 1, records=batch.view)
        topic = FetchableTopicResponse(topic_id=self._topic_id, partitions=[partition])
        return encode(FetchResponse(responses=[topic]), FETCH_VERSION, number)


def serve(listener: socket.socket, answers: ReadyAnswers) -> None:
    """Until stopped."""
    streams: list[Stream] = []
    while True:
        readable, _, _ = select.select((listener, *streams), (), ())
        for ready in readable:
            if ready is listener:
                streams.append(Stream(listener.accept()[0]))
                continue
            try:
                for frame in ready.receive():
                    answers.answer(ready, frame)
            except ConnectionError:
                ready.close()
                streams.remove(ready)


@contextmanager
def running_floor(count: int) -> Iterator[int]:
    """The port of a server for that many records, in a process of its own."""
    command = dying_with_us([sys.executable, "-m", "bench.latency_floor", json.dumps({"count": count})])
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def main() -> None:
    answers = ReadyAnswers(json.loads(sys.argv[1])["count"])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)
        serve(listener, answers)


if __name__ == "__main__":
    main()
