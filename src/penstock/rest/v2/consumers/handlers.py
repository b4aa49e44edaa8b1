"""What is asked of consumer instances besides records."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar
from urllib.parse import quote

from penstock.rest.addresses import root
from penstock.rest.errors import (
    RETRY_AFTER_SECONDS,
    UNREACHABLE,
    bad_field,
    missing_field,
    partition_not_found,
)
from penstock.rest.fields import Field, V2Fields
from penstock.rest.kafka import Kafka
from penstock.rest.timestamps import parse_time
from penstock.rest.v2.consumers.errors import instance_not_found
from penstock.rest.v2.consumers.instance import ConsumerInstance
from penstock.rest.v2.consumers.instance_config import NEW_INSTANCE, read_config
from penstock.rest.v2.consumers.membership import Wanted
from penstock.rest.v2.consumers.offsets import OffsetToCommit
from penstock.types import TopicPartition
from penstock.web.errors import unavailable
from penstock.web.request import Request
from penstock.web.response import NO_CONTENT, Response, json_response

T = TypeVar("T")

_PARTITION = {"topic": Field(str, required=True), "partition": Field(int, required=True)}
_OFFSET = {**_PARTITION, "offset": Field(int, required=True), "metadata": Field(str)}
PARTITIONS = V2Fields(
    "ConsumerPartitions",
    {"partitions": Field(list, required=True, items=V2Fields("ConsumerPartition", _PARTITION))},
)
COMMIT = V2Fields(
    "ConsumerOffsets",
    {"offsets": Field(list, required=True, items=V2Fields("ConsumerOffset", _OFFSET))},
)
POSITIONS = V2Fields(
    "ConsumerPositions",
    {
        "offsets": Field(list, items=V2Fields("ConsumerOffset", _OFFSET)),
        "timestamps": Field(
            list,
            items=V2Fields("ConsumerTimestamp", {**_PARTITION, "timestamp": Field(str, required=True)}),
        ),
    },
)
SUBSCRIPTION = V2Fields(
    "ConsumerSubscription",
    {
        "topics": Field(list, description="Names of topics."),
        "topic_pattern": Field(str, description="A regular expression that whole names match."),
    },
)


def _instance(kafka: Kafka, request: Request) -> ConsumerInstance:
    return kafka.consumers.find(request.path["group"], request.path["instance"])


async def _in_time(kafka: Kafka, instance: ConsumerInstance, asked: Coroutine[Any, Any, T]) -> T:
    """Ends with the instance, and when Kafka takes too long."""
    timeout_ms = kafka.settings.client_timeout_ms
    with instance.in_use():
        working, closed = asyncio.ensure_future(asked), asyncio.ensure_future(instance.closed.wait())
        try:
            await asyncio.wait(
                [working, closed], timeout=timeout_ms / 1000, return_when=asyncio.FIRST_COMPLETED
            )
            if working.done():
                return working.result()
            if closed.done():
                raise instance_not_found()
            message = f"Kafka did not answer within {timeout_ms} ms"
            raise unavailable(message, retry_after_seconds=RETRY_AFTER_SECONDS, error_code=UNREACHABLE)
        finally:
            working.cancel()
            closed.cancel()
            await asyncio.wait([working, closed])


# --- instances


async def create(kafka: Kafka, request: Request) -> Response:
    """Make a consumer instance in a group."""
    group = request.path["group"]
    given = await NEW_INSTANCE.read(request) if (await request.body()).strip() else {}
    instance = await kafka.consumers.create(group, read_config(kafka.settings, group, given))
    address = f"{root(kafka, request)}/consumers/{_quoted(group)}/instances/{_quoted(instance.name)}"
    return json_response({"instance_id": instance.name, "base_uri": address})


def _quoted(name: str) -> str:
    return quote(name, safe="")


async def delete(kafka: Kafka, request: Request) -> Response:
    """Close a consumer instance; it leaves its group."""
    await kafka.consumers.delete(request.path["group"], request.path["instance"])
    return NO_CONTENT


# --- what it reads


async def subscribe(kafka: Kafka, request: Request) -> Response:
    """Subscribe to topics, or to those that a pattern matches."""
    instance = _instance(kafka, request)
    wanted = _wanted(await SUBSCRIPTION.read(request))
    await _in_time(
        kafka, instance, instance.subscribe(wanted) if wanted != Wanted() else instance.unsubscribe()
    )
    return NO_CONTENT


def _wanted(given: dict[str, Any]) -> Wanted:
    if "topics" in given:
        for index, topic in enumerate(given["topics"]):
            if not isinstance(topic, str) or not topic:
                raise bad_field(f"topics[{index}]", topic, "the name of a topic")
        return Wanted(tuple(dict.fromkeys(given["topics"])))
    if "topic_pattern" not in given:
        raise missing_field("topics or topic_pattern")
    pattern = given["topic_pattern"]
    try:
        return Wanted(pattern=re.compile(pattern))
    except (re.error, RecursionError) as error:
        raise bad_field("topic_pattern", pattern, f"a regular expression ({error})") from None


async def get_subscription(kafka: Kafka, request: Request) -> Response:
    """Get the topics that are subscribed."""
    instance = _instance(kafka, request)
    with instance.in_use():
        return json_response({"topics": instance.subscription})


async def unsubscribe(kafka: Kafka, request: Request) -> Response:
    """Subscribe to nothing any more."""
    instance = _instance(kafka, request)
    await _in_time(kafka, instance, instance.unsubscribe())
    return NO_CONTENT


async def assign(kafka: Kafka, request: Request) -> Response:
    """Read these partitions, whatever others in the group do."""
    instance = _instance(kafka, request)
    await _in_time(kafka, instance, instance.assign(await _partitions(request)))
    return NO_CONTENT


async def get_assignments(kafka: Kafka, request: Request) -> Response:
    """Get the partitions that are read."""
    instance = _instance(kafka, request)
    with instance.in_use():
        return json_response({"partitions": [each._asdict() for each in instance.progress.assigned]})


async def _partitions(request: Request) -> list[TopicPartition]:
    given = await PARTITIONS.read(request)
    return [_partition(f"partitions[{index}]", each) for index, each in enumerate(given["partitions"])]


def _partition(where: str, given: dict[str, Any]) -> TopicPartition:
    if given["partition"] < 0:
        raise bad_field(f"{where}.partition", given["partition"], "0 or more")
    return TopicPartition(given["topic"], given["partition"])


# --- positions


async def seek(kafka: Kafka, request: Request) -> Response:
    """Go on at given offsets, or at the first records from given times on."""
    instance = _instance(kafka, request)
    given = await POSITIONS.read(request)
    offsets = {partition: each.offset for partition, each in _offsets(given.get("offsets", [])).items()}
    times = {
        _partition(where, each): parse_time(f"{where}.timestamp", each["timestamp"])
        for index, each in enumerate(given.get("timestamps", []))
        for where in [f"timestamps[{index}]"]
    }
    instance.require_assigned([*offsets, *times])
    instance.seek(offsets)
    if times:
        await _in_time(kafka, instance, instance.seek_to(times))
    return NO_CONTENT


def _offsets(given: Iterable[dict[str, Any]]) -> dict[TopicPartition, OffsetToCommit]:
    found: dict[TopicPartition, OffsetToCommit] = {}
    for index, each in enumerate(given):
        where = f"offsets[{index}]"
        if each["offset"] < 0:
            raise bad_field(f"{where}.offset", each["offset"], "0 or more")
        found[_partition(where, each)] = OffsetToCommit(each["offset"], each.get("metadata", ""))
    return found


async def seek_to_beginning(kafka: Kafka, request: Request) -> Response:
    """Go on at the first records of partitions."""
    instance = _instance(kafka, request)
    await _in_time(kafka, instance, instance.seek_to_beginning(await _partitions(request)))
    return NO_CONTENT


async def seek_to_end(kafka: Kafka, request: Request) -> Response:
    """Go on behind the last records of partitions."""
    instance = _instance(kafka, request)
    await _in_time(kafka, instance, instance.seek_to_end(await _partitions(request)))
    return NO_CONTENT


# --- commits


async def commit(kafka: Kafka, request: Request) -> Response:
    """Commit the offsets of given records, or of all that were returned."""
    instance = _instance(kafka, request)
    offsets = None
    if (await request.body()).strip():
        given = _offsets((await COMMIT.read(request))["offsets"])
        offsets = {key: each._replace(offset=each.offset + 1) for key, each in given.items()}
    await _in_time(kafka, instance, instance.commit(offsets))
    return json_response([])


async def get_committed(kafka: Kafka, request: Request) -> Response:
    """Get what the group has committed."""
    instance = _instance(kafka, request)
    if not (await request.body()).strip():
        raise partition_not_found()
    wanted = await _partitions(request)
    found = await _in_time(kafka, instance, instance.committed(wanted))
    return json_response(
        {
            "offsets": [
                {**partition._asdict(), "offset": known.offset, "metadata": known.metadata}
                for partition in wanted
                if (known := found.get(partition)) is not None
            ]
        }
    )
