"""Topics that a source writes to, made with what `topic.creation.` says, before the first record goes there.

Groups are asked in the order of `topic.creation.groups`; the first whose `include` matches and whose `exclude` does not
makes the topic, else the group `default` does. Without such settings, or with `topic.creation.enable=false` in the
worker, the broker makes topics or refuses to, as it is set up.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from penstock.client import KafkaAdmin
from penstock.client.admin.topic_changes import NewTopic
from penstock.errors import ConfigError, ErrorCode
from penstock.pipeline.connect.errors import ConnectError
from penstock.pipeline.connect.tasks.client_configs import client_configs
from penstock.pipeline.connect.tasks.work import TaskWork
from penstock.wire_client.errors import KafkaError

PREFIX: Final = "topic.creation."
DEFAULT_GROUP: Final = "default"
BROKER_DEFAULT: Final = -1
_OWN_KEYS: Final = frozenset({"include", "exclude", "partitions", "replication.factor"})


@dataclass(frozen=True, slots=True)
class TopicGroup:
    include: tuple[re.Pattern[str], ...]
    exclude: tuple[re.Pattern[str], ...]
    partitions: int
    replication_factor: int
    configs: Mapping[str, str]

    def matches(self, topic: str) -> bool:
        return any(each.fullmatch(topic) for each in self.include) and not any(
            each.fullmatch(topic) for each in self.exclude
        )

    def new_topic(self, topic: str) -> NewTopic:
        return NewTopic(
            topic,
            None if self.partitions == BROKER_DEFAULT else self.partitions,
            None if self.replication_factor == BROKER_DEFAULT else self.replication_factor,
            configs=self.configs,
        )


def topic_groups(configs: Mapping[str, str]) -> list[TopicGroup]:
    """In the order in which they are asked, `default` last; none where no topic is to be made."""
    if not any(name.startswith(PREFIX) for name in configs):
        return []
    names = [name.strip() for name in configs.get(f"{PREFIX}groups", "").split(",") if name.strip()]
    ordered = [name for name in names if name != DEFAULT_GROUP]
    return [*(_group(name, configs) for name in ordered), _group(DEFAULT_GROUP, configs)]


def _group(name: str, configs: Mapping[str, str]) -> TopicGroup:
    prefix = f"{PREFIX}{name}."
    fallback = f"{PREFIX}{DEFAULT_GROUP}."
    own = {key.removeprefix(prefix): value for key, value in configs.items() if key.startswith(prefix)}

    def number(key: str) -> int:
        text = own.get(key) or configs.get(f"{fallback}{key}")
        if text is None or not re.fullmatch(r"-1|[1-9]\d*", text.strip(), re.ASCII):
            raise ConfigError(f"{prefix}{key}: got {text!r}; takes -1 or a number from 1 on")
        return int(text)

    return TopicGroup(
        (re.compile(".*"),) if name == DEFAULT_GROUP else _patterns(own.get("include", "")),
        _patterns(own.get("exclude", "")),
        number("partitions"),
        number("replication.factor"),
        {key: value for key, value in own.items() if key not in _OWN_KEYS},
    )


def _patterns(text: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(each.strip()) for each in text.split(",") if each.strip())


class TopicCreation:
    def __init__(self, work: TaskWork) -> None:
        is_enabled = work.worker_configs.get("topic.creation.enable", "true").lower() == "true"
        self._groups = topic_groups(work.connector_configs) if is_enabled else []
        self._work = work
        self._known: set[str] = set()

    def ensure(self, topics: set[str]) -> None:
        new = topics - self._known
        if not self._groups or not new:
            return
        with KafkaAdmin(client_configs(self._work, "admin")) as admin:
            there = {topic.name for topic in admin.list_topics(include_internal=True)}
            for topic in sorted(new - there):
                self._create(admin, topic)
        self._known |= new

    def _create(self, admin: KafkaAdmin, topic: str) -> None:
        group = next(group for group in self._groups if group.matches(topic))
        try:
            admin.create_topics([group.new_topic(topic)])
        except KafkaError as error:
            if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                raise ConnectError(f"Topic {topic} could not be created: {error}") from error
