"""What a change node says: which parts of the cluster are to be read again.

Whoever changes something that others keep in their image adds a node under `znodes.CHANGES` in the same transaction.
It names what changed and not how, so that it is right whatever else has happened by the time that it is read.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field


@dataclass(slots=True)
class Changes:
    """Parts of the cluster's image; empty if nothing has to be read."""

    topics: set[str] = field(default_factory=set)
    """Their partitions, replicas and configs: all of a topic, also that it has come or gone."""
    states: dict[str, set[int]] = field(default_factory=dict)
    """Leader and in-sync replicas of some partitions of a topic."""
    topic_configs: set[str] = field(default_factory=set)
    broker_configs: set[str] = field(default_factory=set)
    group_configs: set[str] = field(default_factory=set)
    features: bool = False
    brokers: bool = False
    """What a registration says; that brokers come and go is seen without."""

    def __bool__(self) -> bool:
        return bool(
            self.topics
            or self.states
            or self.topic_configs
            or self.broker_configs
            or self.group_configs
            or self.features
            or self.brokers
        )

    def add(self, other: "Changes") -> None:
        self.topics |= other.topics
        for topic, indexes in other.states.items():
            self.states.setdefault(topic, set()).update(indexes)
        self.topic_configs |= other.topic_configs
        self.broker_configs |= other.broker_configs
        self.group_configs |= other.group_configs
        self.features |= other.features
        self.brokers |= other.brokers


def of_states(partitions: Iterable[tuple[str, int]]) -> Changes:
    changes = Changes()
    for topic, index in partitions:
        changes.states.setdefault(topic, set()).add(index)
    return changes


def encode_changes(changes: Changes) -> bytes:
    value: dict[str, object] = {"version": 1}
    for name in ("topics", "topic_configs", "broker_configs", "group_configs"):
        if names := getattr(changes, name):
            value[name] = sorted(names)
    if changes.states:
        value["states"] = {topic: sorted(indexes) for topic, indexes in sorted(changes.states.items())}
    for name in ("features", "brokers"):
        if getattr(changes, name):
            value[name] = True
    return json.dumps(value, separators=(",", ":")).encode()


def decode_changes(data: bytes) -> Changes:
    value = json.loads(data)
    states: Mapping[str, list[int]] = value.get("states", {})
    return Changes(
        topics=set(value.get("topics", ())),
        states={topic: set(indexes) for topic, indexes in states.items()},
        topic_configs=set(value.get("topic_configs", ())),
        broker_configs=set(value.get("broker_configs", ())),
        group_configs=set(value.get("group_configs", ())),
        features=bool(value.get("features", False)),
        brokers=bool(value.get("brokers", False)),
    )
