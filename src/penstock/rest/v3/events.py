"""`GET .../topics/{topic_name}/records` as server-sent events: every record of a topic as it comes.

An event's id says where each partition stands: `0:17,1:4` are the offsets that come next. A browser that reconnects
sends the last id that it saw (`Last-Event-ID`), and the stream goes on right behind that record.

A stream of all partitions reads those too that are added while it lasts, from their first record on. An id without a
partition is older than that partition, so that whoever resumes with it gets its first record too.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from penstock.errors import ApiError
from penstock.records.reader import Record
from penstock.rest.errors import bad_field, partition_not_found, translate
from penstock.rest.fetching import TopicReader
from penstock.rest.fields import Parameter, read_integer
from penstock.rest.kafka import Kafka
from penstock.rest.read_records import FORMATS, PLACES, RecordFormat, offsets_at, offsets_from, partitions_of
from penstock.rest.v3.consume import reading_cluster
from penstock.web.errors import HttpError
from penstock.web.request import Request
from penstock.web.response import StreamedResponse, json_bytes
from penstock.wire_client.errors import KafkaError

EVENT_STREAM = "text/event-stream"
LONGEST_FETCH_MS = 500
FETCH_BYTES = 1024 * 1024
SILENCE_SECONDS = 15.0
"""After so long without a record a comment goes out, so that whoever is between does not give the stream up."""
EARLIEST = "earliest"
RETRY_MS = 1_000
NEW_PARTITIONS_SECONDS = 5.0
"""How often partitions are looked for that were added to the topic."""

PARAMETERS = (
    Parameter("from", str, f"Where to begin: {PLACES} (only with one partition); latest unless given."),
    Parameter("partitions", str, "Only these partitions, with commas; all unless given."),
    *FORMATS,
)


async def stream_records(kafka: Kafka, request: Request) -> StreamedResponse:
    """Stream the records of a topic as server-sent events."""
    await kafka.require_cluster(request.path["cluster_id"])
    topic, record_format = request.path["topic_name"], RecordFormat.of(kafka, request)
    positions = await _positions(kafka, request, topic)
    if kafka.event_streams >= kafka.settings.consumer_event_streams_max:
        raise HttpError(429, 429, "There are as many streams of events as consumer.event.streams.max allows")
    headers = {"cache-control": "no-cache"}
    events = _events(kafka, request, topic, positions, record_format)
    return StreamedResponse(events, EVENT_STREAM, headers=headers)


async def _positions(kafka: Kafka, request: Request, topic: str) -> dict[int, int]:
    existing = await partitions_of(kafka.cluster, topic)
    chosen = _chosen(request, existing)
    given = _resumed(request.header(b"last-event-id"))
    place = EARLIEST if given else request.text("from", "latest")
    resumed = await offsets_at(kafka.cluster, topic, {n: given[n] for n in chosen if n in given})
    fresh = [number for number in chosen if number not in resumed]
    begun = await offsets_from(kafka.cluster, topic, fresh, place, "from") if fresh else {}
    return {number: resumed[number] if number in resumed else begun[number] for number in chosen}


def _chosen(request: Request, existing: list[int]) -> list[int]:
    text = request.text("partitions")
    if not text:
        return existing
    chosen = sorted({read_integer("partitions", each) for each in text.split(",")})
    if not set(chosen) <= set(existing):
        raise partition_not_found()
    return chosen


def _resumed(last_event_id: str) -> dict[int, int]:
    try:
        pairs = [pair.split(":") for pair in last_event_id.split(",") if pair]
        return {int(partition): int(offset) for partition, offset in pairs}
    except ValueError:
        raise bad_field("Last-Event-ID", last_event_id, "the id of an event, as in 0:17,1:4") from None


async def _events(
    kafka: Kafka, request: Request, topic: str, positions: dict[int, int], record_format: RecordFormat
) -> AsyncGenerator[bytes, None]:
    kafka.event_streams += 1
    over = asyncio.ensure_future(_over(kafka, request))
    try:
        yield b"retry: %d\n\n" % RETRY_MS
        async with reading_cluster(kafka) as cluster:
            reader = TopicReader(cluster, topic, dict(positions))
            stream = _Stream(kafka, topic, reader, positions, record_format, bool(request.text("partitions")))
            async with aclosing(stream.until(over)) as parts:
                async for part in parts:
                    yield part
    except (KafkaError, ApiError, HttpError) as error:
        translated = error if isinstance(error, HttpError) else translate(error)
        assert translated is not None
        data = json_bytes({"error_code": translated.error_code, "message": translated.message})
        yield b"event: error\ndata: " + data + b"\n\n"
    finally:
        kafka.event_streams -= 1
        over.cancel()
        with suppress(asyncio.CancelledError):
            await over


async def _over(kafka: Kafka, request: Request) -> None:
    """Returns when the client hangs up, or the proxy stops."""
    ends = [asyncio.ensure_future(each) for each in (request.hung_up(), kafka.stopping.wait())]
    try:
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in ends:
            each.cancel()


class _Stream:
    """`sent` follows what went out, which is behind what was read."""

    def __init__(
        self,
        kafka: Kafka,
        topic: str,
        reader: TopicReader,
        sent: dict[int, int],
        record_format: RecordFormat,
        is_of_some: bool,
    ) -> None:
        self._kafka = kafka
        self._topic = topic
        self._reader = reader
        self._sent = sent
        self._format = record_format
        self._is_of_some = is_of_some
        self._loop = asyncio.get_running_loop()
        self._look_at = self._loop.time() + NEW_PARTITIONS_SECONDS

    async def until(self, over: asyncio.Future[None]) -> AsyncGenerator[bytes, None]:
        """Events until it is over."""
        spoke_at = self._loop.time()
        while not over.done():
            if not self._is_of_some and self._loop.time() >= self._look_at:
                await self._read_new_partitions()
            fetched = await self._reader.fetch(LONGEST_FETCH_MS, FETCH_BYTES)
            events = [await self._event(*each) for each in fetched]
            if events:
                spoke_at = self._loop.time()
                yield b"".join(events)
            elif self._loop.time() - spoke_at > SILENCE_SECONDS:
                spoke_at = self._loop.time()
                yield b":\n\n"

    async def _event(self, partition: int, record: Record) -> bytes:
        self._sent[partition] = record.offset + 1
        place = ",".join(f"{number}:{offset}" for number, offset in self._sent.items()).encode()
        return b"id: %s\ndata: %s\n\n" % (place, json_bytes(await self._format.told(partition, record)))

    async def _read_new_partitions(self) -> None:
        self._look_at = self._loop.time() + NEW_PARTITIONS_SECONDS
        cluster = self._kafka.cluster
        added = [each for each in await partitions_of(cluster, self._topic) if each not in self._sent]
        if added:
            begun = await offsets_from(cluster, self._topic, added, EARLIEST, "from")
            self._sent |= begun
            self._reader.add(begun)
