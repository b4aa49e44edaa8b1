"""`POST .../records`: objects one after the other, each answered as soon as Kafka has it; `records:batch`.

Records are answered in the order in which they came, each with `error_code` 200 or why not, under HTTP's status 200:
it goes out before the first outcome is known. A request of one record, though, that Kafka could not take in time is
answered with 503, as any request is; so is a batch of which nothing could be taken. One with a field that no record has
is answered with 400: it is a body made for something else, not a record.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import suppress
from typing import Any

from penstock.rest.errors import INVALID_BATCH, INVALID_PAYLOAD, UnrecognizedField, bad_field
from penstock.rest.fields import refuse_unrecognized
from penstock.rest.json_stream import JsonStream, objects_in
from penstock.rest.kafka import Kafka
from penstock.rest.schemas.codec import TakesLong
from penstock.rest.sending import UNAVAILABLE, Produced, Turns
from penstock.rest.v3.new_payloads import SchemaNotKnown
from penstock.rest.v3.new_records import ProducedRecord, Wording, failure, produce_known, produce_record
from penstock.web.errors import HttpError
from penstock.web.request import ClientGone, Request
from penstock.web.response import Response, StreamedResponse

JSON = "application/json"
SEPARATOR = "\r\n"
LONGEST_ENTRY_ID = 80
_ID_CHARACTERS = frozenset("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_")


async def produce(kafka: Kafka, request: Request) -> Response | StreamedResponse:
    """Produce records, one JSON object after the other."""
    cluster_id, topic = request.path["cluster_id"], request.path["topic_name"]
    await kafka.require_cluster(cluster_id)
    wording = Wording(cluster_id, topic)
    if _is_small(request, kafka.settings.api_v3_produce_request_size_limit_max_bytes):
        return await _produce_whole(kafka, topic, await request.body(), wording)
    return StreamedResponse(_produce_stream(kafka, topic, request, wording), JSON)


def _is_small(request: Request, limit: int) -> bool:
    declared = request.header(b"content-length")
    return declared.isdecimal() and int(declared) <= limit


async def _produce_whole(kafka: Kafka, topic: str, body: bytes, wording: Wording) -> Response:
    under_way: list[ProducedRecord] = []
    try:
        await _produce_each(kafka, topic, objects_in(body), under_way)
    except HttpError as error:
        under_way.append(Produced(None, None, error))
    if not under_way:
        raise _empty()
    texts = [await _answer(each, wording) for each in under_way]
    if len(under_way) == 1:
        _raise_if_unavailable(under_way)
        if isinstance(under_way[0].error, UnrecognizedField):
            raise under_way[0].error
    return Response((SEPARATOR.join(texts) + SEPARATOR).encode(), 200, JSON)


async def _produce_each(
    kafka: Kafka, topic: str, given: Iterable[Any], under_way: list[ProducedRecord]
) -> None:
    """Waits where the registry has to be asked or a record takes long, and lets others be served in between."""
    turns = Turns()
    for each in given:
        try:
            under_way.append(produce_known(kafka, topic, each))
        except (SchemaNotKnown, TakesLong):
            under_way.append(await produce_record(kafka, topic, each))
        await turns.maybe_yield()


def _empty() -> HttpError:
    return HttpError(422, INVALID_PAYLOAD, "Payload error. Request body is empty. Data is required.")


async def _answer(produced: ProducedRecord, wording: Wording) -> str:
    metadata = await produced.outcome()
    if metadata is None:
        assert produced.error is not None
        return f"{{{failure(produced.error)}}}"
    assert produced.about is not None
    return f'{{"error_code":200,{wording.success(produced.about, metadata)}}}'


def _raise_if_unavailable(under_way: Sequence[ProducedRecord]) -> None:
    errors = [each.error for each in under_way]
    if errors[0] is not None and all(error is not None and error.status == UNAVAILABLE for error in errors):
        raise errors[0]


# --- a stream


async def _produce_stream(
    kafka: Kafka, topic: str, request: Request, wording: Wording
) -> AsyncGenerator[bytes, None]:
    in_flight: asyncio.Queue[ProducedRecord | None] = asyncio.Queue(
        kafka.settings.api_v3_produce_stream_max_in_flight
    )
    reading = asyncio.create_task(_read_stream(kafka, topic, request, in_flight))
    try:
        while (produced := await in_flight.get()) is not None:
            yield (await _answer(produced, wording) + SEPARATOR).encode()
    finally:
        reading.cancel()
        with suppress(asyncio.CancelledError, ClientGone):
            await reading
        while not in_flight.empty():
            if (left := in_flight.get_nowait()) is not None:
                left.forget()


async def _read_stream(
    kafka: Kafka, topic: str, request: Request, in_flight: asyncio.Queue[ProducedRecord | None]
) -> None:
    """Puts in what came, and None at the end. The queue's size keeps the client from being read ahead of Kafka."""
    stream = JsonStream(kafka.settings.api_v3_produce_request_size_limit_max_bytes)
    count = 0
    try:
        async with asyncio.timeout(kafka.settings.streaming_connection_max_duration_ms / 1000):
            async for chunk in _chunks(request):
                for given in stream.feed(chunk):
                    count += 1
                    await in_flight.put(await produce_record(kafka, topic, given))
        stream.end()
        if not count:
            raise _empty()
    except TimeoutError:
        message = "Streaming connection open for longer than allowed: Connection will be closed."
        await in_flight.put(Produced(None, None, HttpError(408, 408, message)))
    except HttpError as error:
        await in_flight.put(Produced(None, None, error))
    except ClientGone:
        pass  # what was sent is sent; nobody hears of it
    await in_flight.put(None)


async def _chunks(request: Request) -> AsyncGenerator[bytes, None]:
    more = True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        yield message.get("body", b"")
        more = message.get("more_body", False)


# --- a batch


async def produce_batch(kafka: Kafka, request: Request) -> Response:
    """Produce a batch of records."""
    cluster_id, topic = request.path["cluster_id"], request.path["topic_name"]
    await kafka.require_cluster(cluster_id)
    body = await request.body()
    if not body.strip():
        raise _bad_batch("Request body is empty. Data is required.")
    entries = _entries(next(objects_in(body)), kafka.settings.api_v3_produce_batch_maximum_entries)
    under_way: list[ProducedRecord] = []
    await _produce_each(kafka, topic, (_without_id(entry) for entry in entries), under_way)
    wording = Wording(cluster_id, topic)
    successes, failures = [], []
    for entry, produced in zip(entries, under_way, strict=True):
        metadata = await produced.outcome()
        if metadata is not None:
            assert produced.about is not None
            successes.append(f'{{"id":"{entry["id"]}",{wording.success(produced.about, metadata)}}}')
        else:
            assert produced.error is not None
            failures.append(f'{{"id":"{entry["id"]}",{failure(produced.error)}}}')
    _raise_if_unavailable(under_way)
    text = f'{{"successes":[{",".join(successes)}],"failures":[{",".join(failures)}]}}'
    return Response(text.encode(), 207, JSON)


def _entries(body: Any, most: int) -> list[dict[str, Any]]:
    """The entries of a batch, whose ids are fit to be answered with."""
    entries = body.get("entries") if isinstance(body, dict) else None
    if isinstance(body, dict):
        refuse_unrecognized(body, ("entries",))
    if not isinstance(entries, list):
        raise bad_field("entries", entries, "an array of records with ids")
    if not entries:
        raise _bad_batch("Empty batch.")
    if len(entries) > most:
        raise _bad_batch(f"Too many entries in batch: entries has {len(entries)}, takes at most {most}.")
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            raise bad_field(f"entries[{index}]", entry, "an object with id and value")
        entry_id: Any = entry.get("id")
        if not _is_entry_id(entry_id):
            raise _bad_batch(f"Batch entry identifier is not a valid string: entries[{index}].id.")
        seen.add(entry_id)
    if len(seen) < len(entries):
        raise _bad_batch("Batch entry IDs are not distinct.")
    return entries


def _without_id(entry: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "id"}


def _is_entry_id(entry_id: Any) -> bool:
    return (
        isinstance(entry_id, str)
        and 0 < len(entry_id) <= LONGEST_ENTRY_ID
        and _ID_CHARACTERS.issuperset(entry_id)
    )


def _bad_batch(message: str) -> HttpError:
    return HttpError(422, INVALID_BATCH, message)
