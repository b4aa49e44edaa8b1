"""The topics that a program makes for itself: made if they are missing, refused if they are not what they should be."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable
from typing import Final

from penstock.client import KafkaAdmin
from penstock.errors import ErrorCode, PenstockError
from penstock.pipeline.tasks.layout import OwnTopic
from penstock.pipeline.tasks.settings import StreamsSettings
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.streams")

VISIBLE_SECONDS: Final = 30.0


class InternalTopicError(PenstockError):
    """A topic of the program's own is there, and is not what the program needs."""


def partitions_of(admin: KafkaAdmin, topics: Collection[str]) -> dict[str, int]:
    """Of those that are there."""
    there = names_of(admin) & set(topics)
    return {name: len(topic.partitions) for name, topic in admin.describe_topics(sorted(there)).items()}


def names_of(admin: KafkaAdmin) -> set[str]:
    return {topic.name for topic in admin.list_topics()}


def make_own_topics(admin: KafkaAdmin, own: Iterable[OwnTopic], settings: StreamsSettings) -> None:
    wanted = {topic.name: topic for topic in own}
    there = partitions_of(admin, wanted)
    for name, count in there.items():
        if count != wanted[name].partitions:
            raise InternalTopicError(
                f"topic {name} has {count} partitions, and the program needs {wanted[name].partitions}: its inputs "
                f"have changed since; `penstock streams reset` has the program begin anew"
            )
    missing = [topic for name, topic in wanted.items() if name not in there]
    for topic in missing:
        _make(admin, topic, settings)
    _wait_until_there(admin, {topic.name for topic in missing})


def _make(admin: KafkaAdmin, topic: OwnTopic, settings: StreamsSettings) -> None:
    configs = {**topic.configs, **settings.with_prefix("topic."), **topic.needed_configs}
    log.info("making topic %s with %d partitions", topic.name, topic.partitions)
    try:
        admin.create_topic(
            topic.name,
            partitions=topic.partitions,
            replication_factor=None if settings.replication_factor < 0 else settings.replication_factor,
            configs=configs,
        )
    except KafkaError as error:
        if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:  # another process of the program was quicker
            raise


def _wait_until_there(admin: KafkaAdmin, topics: Collection[str]) -> None:
    deadline = time.monotonic() + VISIBLE_SECONDS
    while missing := set(topics) - partitions_of(admin, topics).keys():
        if time.monotonic() > deadline:
            raise InternalTopicError(f"topics were made and are not seen: {', '.join(sorted(missing))}")
        time.sleep(0.1)
