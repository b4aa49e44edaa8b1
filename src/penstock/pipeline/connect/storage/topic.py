"""The topics that keep a Connect cluster's state."""

from __future__ import annotations

from typing import Final

from penstock.client.table.topic import TableTopic
from penstock.pipeline.connect.settings import ConnectSettings

CLUSTER: Final = "Connect cluster"
SETTINGS: Final = "Connect worker configurations"


def config_topic(settings: ConnectSettings) -> TableTopic:
    return TableTopic(
        "config.storage.topic",
        settings.config_storage_topic,
        1,
        settings.config_storage_replication_factor,
        "connector configurations",
        CLUSTER,
        SETTINGS,
        has_one_partition=True,
        configs=settings.topic_configs("config"),
    )


def offset_topic(settings: ConnectSettings) -> TableTopic:
    return TableTopic(
        "offset.storage.topic",
        settings.offset_storage_topic,
        settings.offset_storage_partitions,
        settings.offset_storage_replication_factor,
        "source connector offsets",
        CLUSTER,
        SETTINGS,
        configs=settings.topic_configs("offset"),
    )


def status_topic(settings: ConnectSettings) -> TableTopic:
    return TableTopic(
        "status.storage.topic",
        settings.status_storage_topic,
        settings.status_storage_partitions,
        settings.status_storage_replication_factor,
        "connector and task statuses",
        CLUSTER,
        SETTINGS,
        configs=settings.topic_configs("status"),
    )
