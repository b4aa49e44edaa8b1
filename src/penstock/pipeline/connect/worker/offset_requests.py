"""Offsets of connectors as REST shows and changes them.

A source's are in the offset topic. Before they are changed, the producers of its tasks are fenced, so that no task that
is thought to have stopped can commit an older offset on top. A sink's are those that its consumer group has committed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penstock.client.admin.group_offsets import (
    CommittedOffset,
    alter_group_offsets,
    delete_group_offsets,
    list_group_offsets,
)
from penstock.client.table.writer import fence
from penstock.pipeline.connect.api.connector import SinkConnector, SourceConnector
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.storage.cluster_storage import ClusterStorage
from penstock.pipeline.connect.storage.offset_topics import OffsetTopic, merged
from penstock.pipeline.connect.worker.connector_instance import max_tasks
from penstock.pipeline.connect.worker.daemon_call import call_in_thread
from penstock.pipeline.connect.worker.errors import BadRequestError
from penstock.pipeline.connect.worker.interface import ConnectorOffset
from penstock.pipeline.connect.worker.sink_partitions import group_of
from penstock.types import TopicPartition
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError

KAFKA_TOPIC, KAFKA_PARTITION, KAFKA_OFFSET = "kafka_topic", "kafka_partition", "kafka_offset"
ALTERED, RESET = "altered", "reset"

SinkOffsets = dict[TopicPartition, int | None]


def success(change: str, *, by_connector: bool) -> str:
    """Connect's words; `by_connector` if the connector itself took part."""
    if by_connector:
        return f"The offsets for this connector have been {change} successfully"
    return (
        f"The Connect framework-managed offsets for this connector have been {change} successfully. "
        f"However, if this connector manages offsets externally, they will need to be manually {change} "
        f"in the system that the connector uses."
    )


# sinks


async def sink_offsets(admin: Cluster, name: str, configs: Mapping[str, str]) -> list[ConnectorOffset]:
    committed = await list_group_offsets(admin, group_of(name, configs))
    return [
        {"partition": {KAFKA_PARTITION: partition, KAFKA_TOPIC: topic}, "offset": {KAFKA_OFFSET: at.offset}}
        for (topic, partition), at in sorted(committed.items())
        if at is not None
    ]


async def change_sink_offsets(
    admin: Cluster,
    name: str,
    connector: SinkConnector,
    configs: Mapping[str, str],
    wanted: SinkOffsets | None,
) -> str:
    """None for `wanted` resets them all."""
    group = group_of(name, configs)
    change = RESET if wanted is None else ALTERED
    if wanted is None:
        wanted = dict.fromkeys(await list_group_offsets(admin, group))
    told = {(topic, partition): offset for (topic, partition), offset in wanted.items()}
    by_connector = await _ask_connector(name, connector, configs, told)
    new = {each: CommittedOffset(offset) for each, offset in wanted.items() if offset is not None}
    gone = [each for each, offset in wanted.items() if offset is None]
    refusals = {**(await alter_group_offsets(admin, group, new) if new else {})}
    if gone and await list_group_offsets(admin, group):
        refusals |= await delete_group_offsets(admin, group, gone)
    for partition, refusal in refusals.items():
        if refusal is not None:
            raise ConnectError(
                f"Failed to {'alter' if change == ALTERED else 'reset'} consumer group offsets for connector {name}: "
                f"{partition.topic}-{partition.partition}: {refusal}"
            )
    return success(change, by_connector=by_connector)


def parse_sink_offsets(offsets: Sequence[ConnectorOffset]) -> SinkOffsets:
    return {_sink_partition(each.get("partition")): _sink_offset(each.get("offset")) for each in offsets}


def _sink_partition(given: Mapping[str, Any] | None) -> TopicPartition:
    if given is None:
        raise BadRequestError("The partition for a sink connector offset cannot be null or missing")
    if KAFKA_TOPIC not in given or KAFKA_PARTITION not in given:
        raise BadRequestError(
            f"The partition for a sink connector offset must contain the keys '{KAFKA_TOPIC}' and '{KAFKA_PARTITION}'"
        )
    if given[KAFKA_TOPIC] is None:
        raise BadRequestError("Kafka topic names must be valid strings and may not be null")
    if given[KAFKA_PARTITION] is None:
        raise BadRequestError("Kafka partitions must be valid numbers and may not be null")
    return TopicPartition(str(given[KAFKA_TOPIC]), _number(given[KAFKA_PARTITION], "partition"))


def _sink_offset(given: Mapping[str, Any] | None) -> int | None:
    if given is None:
        return None
    if KAFKA_OFFSET not in given:
        raise BadRequestError(
            f"The offset for a sink connector should either be null or contain the key '{KAFKA_OFFSET}'"
        )
    return _number(given[KAFKA_OFFSET], "offset")


def _number(given: Any, what: str) -> int:
    text = str(given)
    if not text.removeprefix("-").isdecimal() or not text.isascii():
        raise BadRequestError(
            f"Failed to parse the following Kafka {what} value in the provided offsets: '{given}'. "
            f"{what.capitalize()} values for sink connectors need to be integers."
        )
    return int(text)


# sources


def source_offsets(topics: list[OffsetTopic], name: str) -> list[ConnectorOffset]:
    return [{"partition": each.partition, "offset": each.offset} for each in merged(topics, name)]


async def change_source_offsets(
    storage: ClusterStorage,
    topics: list[OffsetTopic],
    name: str,
    connector: SourceConnector,
    configs: Mapping[str, str],
    wanted: Sequence[ConnectorOffset] | None,
) -> str:
    """None for `wanted` resets them all."""
    change = RESET if wanted is None else ALTERED
    if wanted is None:
        wanted = [{"partition": each["partition"], "offset": None} for each in source_offsets(topics, name)]
    if any(each.get("partition") is None for each in wanted):
        raise BadRequestError("The partition for a source connector offset cannot be null or missing")
    told = [(each["partition"], each.get("offset")) for each in wanted]
    by_connector = await _ask_connector(name, connector, configs, told)
    settings = storage.settings
    tasks = (f"{settings.group_id}-{name}-{task}" for task in range(max_tasks(configs)))
    await fence(settings.client_configs, tasks)
    for topic in topics:
        await _write(storage, topic, name, _changes(topic, name, told, is_first=topic is topics[0]))
    return success(change, by_connector=by_connector)


def _changes(
    topic: OffsetTopic,
    name: str,
    told: Sequence[tuple[Mapping[str, Any], Mapping[str, Any] | None]],
    *,
    is_first: bool,
) -> list[tuple[bytes, bytes | None]]:
    """New offsets go to the first topic; one that is removed is removed from all."""
    return [
        record
        for partition, offset in told
        if is_first or offset is None
        for record in topic.state.changes_to(name, partition, offset)
    ]


async def _write(
    storage: ClusterStorage, topic: OffsetTopic, name: str, records: list[tuple[bytes, bytes | None]]
) -> None:
    if not records:
        return
    writer = storage.offset_writer(name, topic.log.name)
    try:
        await storage.replayed(topic.log, await writer.write(records))
    except KafkaError as error:
        raise ConnectError(f"Failed to write the offsets of connector {name} to Kafka: {error}") from error
    finally:
        await writer.close()


async def _ask_connector(name: str, connector: Any, configs: Mapping[str, str], offsets: Any) -> bool:
    try:
        return bool(await call_in_thread(f"connector-{name}", connector.alter_offsets, configs, offsets))
    except ConnectError:
        raise
    except Exception as error:
        raise ConnectError(f"Connector {name} does not take these offsets: {error}") from error
