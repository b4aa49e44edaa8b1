"""`GET .../records`: what comes next."""

from __future__ import annotations

import json

from penstock.rest.fields import Parameter, read_integer
from penstock.rest.kafka import Kafka
from penstock.rest.v2.consumers.errors import format_mismatch
from penstock.rest.v2.consumers.formats import CONSUMERS
from penstock.rest.v2.consumers.instance import ConsumerInstance
from penstock.rest.v2.consumers.reading import JsonRecord, Limits, Read
from penstock.web.request import Request
from penstock.web.response import Response, json_bytes

PARAMETERS = (
    Parameter(
        "timeout", int, "How many milliseconds to wait at most; only to wait less than the instance does."
    ),
    Parameter("max_bytes", int, "At most so many bytes of keys and values; one record always comes."),
)
AS_MUCH_AS_THERE_IS = 0


async def read_records(kafka: Kafka, request: Request) -> Response:
    """Read the next records of an instance."""
    instance = kafka.consumers.find(request.path["group"], request.path["instance"])
    chosen = instance.config.format
    media_type = chosen.media_type_for(CONSUMERS.answer_type(request.header(b"accept")) or "")
    if media_type is None:
        raise format_mismatch()
    limits = _limits(kafka, instance, request)
    await request.body()
    read = Read(instance, limits, chosen.decode, chosen.decode_with_schema(kafka.schemas))
    with instance.in_use():
        return Response(_json(await read.run(request.hung_up, kafka.stopping)), content_type=media_type)


def _limits(kafka: Kafka, instance: ConsumerInstance, request: Request) -> Limits:
    """What is not more than nothing stands for the most that is allowed, as in Confluent's proxy."""
    longest_ms = instance.config.request_timeout_ms
    most_bytes = kafka.settings.consumer_request_max_bytes
    timeout_ms, max_bytes = (_given(request, each.name) for each in PARAMETERS)
    return Limits(
        min(timeout_ms, longest_ms) if timeout_ms > 0 else longest_ms,
        instance.config.min_bytes,
        min(max_bytes, most_bytes) if max_bytes > 0 else most_bytes,
    )


def _given(request: Request, name: str) -> int:
    text = request.text(name)
    return read_integer(name, text, -(2**63)) if text else AS_MUCH_AS_THERE_IS


def _json(records: list[JsonRecord]) -> bytes:
    try:
        return json_bytes(records)
    except UnicodeEncodeError:  # half a surrogate pair, which JSON has only in its escaped form
        return json.dumps(records, separators=(",", ":")).encode()
