"""`GET .../topics/{topic_name}/records` as server-sent events: every record of a topic as it comes.

An event's id says where each partition stands: `0:17,1:4` are the offsets that come next. A browser that reconnects
sends the last id that it saw (`Last-Event-ID`), and the stream goes on right behind that record.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from penstock.client.errors import KafkaError
from penstock.errors import ApiError
from penstock.rest.errors import bad_field, partition_not_found, translate
from penstock.rest.fetching import TopicReader
from penstock.rest.fields import Parameter, read_integer
from penstock.rest.kafka import Kafka
from penstock.rest.read_records import FORMATS, PLACES, RecordFormat, offsets_at, offsets_from, partitions_of
from penstock.rest.v3.consume import reading_cluster
from penstock.web.errors import HttpError
from penstock.web.request import Request
from penstock.web.response import StreamedResponse, json_bytes

EVENT_STREAM = "text/event-stream"
LONGEST_FETCH_MS = 500
FETCH_BYTES = 1024 * 1024
SILENCE_SECONDS = 15.0
"""After so long without a record a comment goes out, so that whoever is between does not give the stream up."""
RETRY_MS = 1_000

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
    place = request.text("from", "latest")
    given = _resumed(request.header(b"last-event-id"))
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
            async with aclosing(_until(over, reader, positions, record_format)) as parts:
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
    stopping = asyncio.ensure_future(kafka.stopping.wait())
    try:
        while not stopping.done():
            received = asyncio.ensure_future(request.receive())
            await asyncio.wait([received, stopping], return_when=asyncio.FIRST_COMPLETED)
            if not received.done():
                received.cancel()
            elif received.result()["type"] == "http.disconnect":
                return
    finally:
        stopping.cancel()


async def _until(
    over: asyncio.Future[None], reader: TopicReader, sent: dict[int, int], record_format: RecordFormat
) -> AsyncGenerator[bytes, None]:
    """Events until it is over; `sent` follows what went out, which is behind what was read."""
    loop = asyncio.get_running_loop()
    spoke_at = loop.time()
    while not over.done():
        fetched = await reader.fetch(LONGEST_FETCH_MS, FETCH_BYTES)
        events: list[bytes] = []
        for partition, record in fetched:
            sent[partition] = record.offset + 1
            place = ",".join(f"{number}:{offset}" for number, offset in sent.items()).encode()
            data = json_bytes(await record_format.told(partition, record))
            events.append(b"id: %s\ndata: %s\n\n" % (place, data))
        if events:
            spoke_at = loop.time()
            yield b"".join(events)
        elif loop.time() - spoke_at > SILENCE_SECONDS:
            spoke_at = loop.time()
            yield b":\n\n"
