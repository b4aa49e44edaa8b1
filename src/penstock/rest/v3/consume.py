"""`GET .../partitions/{partition_id}/records`: some records from an offset on, without a consumer or a group."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from penstock.rest.fetching import Fetched, TopicReader
from penstock.rest.fields import Parameter, query_integer
from penstock.rest.kafka import Kafka
from penstock.rest.read_records import FORMATS, PLACES, RecordFormat, offsets_from, require_partition
from penstock.rest.v3.partitions import partition_number
from penstock.rest.v3.resources import Links, links_of
from penstock.web.request import Request
from penstock.web.response import Response, json_response
from penstock.wire_client import Cluster, ClusterConfig, asyncio_cluster

MAX_RECORDS = 500
MAX_BYTES = 1024 * 1024
LONGEST_FETCH_MS = 500

PARAMETERS = (
    Parameter("offset", str, f"Where to begin: {PLACES}; earliest unless given."),
    Parameter("max_records", int, f"At most so many records; {MAX_RECORDS} unless given."),
    Parameter("max_bytes", int, f"About so many bytes of keys and values; {MAX_BYTES} unless given."),
    Parameter("timeout", int, "How many milliseconds to wait for the first record."),
    *FORMATS,
)


async def read_records(kafka: Kafka, request: Request) -> Response:
    """Read some records of a partition from an offset on."""
    links, settings = await links_of(kafka, request), kafka.settings
    topic, partition = request.path["topic_name"], partition_number(request)
    record_format = RecordFormat.of(kafka, request)
    max_records = query_integer(request, "max_records", MAX_RECORDS, 1)
    max_bytes = query_integer(request, "max_bytes", MAX_BYTES, 1, settings.consumer_request_max_bytes)
    default_ms, longest_ms = settings.consumer_request_timeout_ms, settings.consumer_request_max_timeout_ms
    timeout_ms = query_integer(request, "timeout", min(default_ms, longest_ms), 0, longest_ms)
    await require_partition(kafka.cluster, topic, partition)
    place = request.text("offset", "earliest")
    positions = await offsets_from(kafka.cluster, topic, [partition], place, "offset")
    async with reading_cluster(kafka) as cluster:
        reader = TopicReader(cluster, topic, positions)
        found = await _collect(reader, timeout_ms, max_records, max_bytes)
    chosen = _within(found, max_records, max_bytes)
    next_offset = chosen[-1].record.offset + 1 if len(chosen) < len(found) else reader.positions[partition]
    return json_response(
        {
            "kind": "KafkaRecordList",
            "metadata": {
                "self": _address(links, topic, partition, request, place),
                "next": _address(links, topic, partition, request, str(next_offset)),
            },
            "next_offset": next_offset,
            "end_offset": reader.ends.get(partition, next_offset),
            "data": [await record_format.told(*each) for each in chosen],
        }
    )


@asynccontextmanager
async def reading_cluster(kafka: Kafka) -> AsyncIterator[Cluster]:
    """Connections of its own for one reader."""
    async with asyncio_cluster(ClusterConfig.from_configs(kafka.settings.admin_configs)) as cluster:
        yield cluster


async def _collect(reader: TopicReader, timeout_ms: int, max_records: int, max_bytes: int) -> list[Fetched]:
    """What there is up to the end or the limits; waits for the first record only."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + timeout_ms / 1000
    found: list[Fetched] = []
    while True:
        left_ms = max(0, int((deadline - loop.time()) * 1000))
        more = await reader.fetch(0 if found else min(left_ms, LONGEST_FETCH_MS), max_bytes)
        found += more
        if len(found) >= max_records or len(_within(found, max_records, max_bytes)) < len(found):
            return found
        if (found and reader.is_at_end) or (not more and left_ms == 0):
            return found


def _within(found: list[Fetched], max_records: int, max_bytes: int) -> list[Fetched]:
    """As many as may be answered; one at least, or nobody would get past a large one."""
    size = 0
    for count, (_, record) in enumerate(found[:max_records]):
        size += len(record.key or b"") + len(record.value or b"")
        if count and size > max_bytes:
            return found[:count]
    return found[:max_records]


def _address(links: Links, topic: str, partition: int, request: Request, offset: str) -> str:
    query = {name: values[0] for name, values in request.query.items()} | {"offset": offset}
    return links.to("topics", topic, "partitions", partition, "records", query=query)
