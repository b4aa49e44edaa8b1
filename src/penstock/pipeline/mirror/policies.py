"""What a topic's copy is called, and what a name says about where a topic came from.

The default policy puts the source's alias before the name, so that clusters can mirror each other: a copy of a copy of
one's own topic is known by its name. The identity policy keeps names, and leaves it to its user to mirror one way only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from penstock.pipeline.connect.api.config_def import invalid

HEARTBEATS: Final = "heartbeats"
INTERNAL_SEPARATOR: Final = "."


class DefaultReplicationPolicy:
    def __init__(self, configs: Mapping[str, str]) -> None:
        self._separator = configs.get("replication.policy.separator", INTERNAL_SEPARATOR)
        if not self._separator:
            raise invalid("replication.policy.separator", self._separator, "String must be non-empty")
        keeps = configs.get("replication.policy.internal.topic.separator.enabled", "true")
        self._internal = self._separator if keeps.strip().lower() == "true" else INTERNAL_SEPARATOR

    def remote_topic(self, source: str, topic: str) -> str:
        """What the copy of `source`'s topic is called."""
        return f"{source}{self._separator}{topic}"

    def topic_source(self, topic: str) -> str | None:
        """The alias of the cluster that it was copied from; None if it is nobody's copy."""
        source, separator, rest = topic.partition(self._separator)
        return source if separator and rest.replace(self._separator, "") else None

    def upstream_topic(self, topic: str) -> str | None:
        """What it is called where it was copied from."""
        source = self.topic_source(topic)
        return None if source is None else topic[len(source) + len(self._separator) :]

    def original_topic(self, topic: str) -> str:
        """What it is called where it was not copied from anywhere."""
        upstream = self.upstream_topic(topic)
        return topic if upstream is None or upstream == topic else self.original_topic(upstream)

    def is_cycle(self, topic: str, target: str) -> bool:
        """Whether it came from `target`, over however many clusters."""
        source, upstream = self.topic_source(topic), self.upstream_topic(topic)
        if source is None or source == target:
            return source is not None
        return upstream is not None and upstream != topic and self.is_cycle(upstream, target)

    @property
    def heartbeats_topic(self) -> str:
        return HEARTBEATS

    def offset_syncs_topic(self, alias: str) -> str:
        return self._internal.join(("mm2-offset-syncs", alias, "internal"))

    def checkpoints_topic(self, alias: str) -> str:
        return f"{alias}{self._checkpoints_ending}"

    def is_heartbeats_topic(self, topic: str) -> bool:
        return self.original_topic(topic) == self.heartbeats_topic

    def is_internal_topic(self, topic: str) -> bool:
        """Of Kafka, or of MirrorMaker."""
        is_state = topic.startswith("mm2") and topic.endswith(f"{self._internal}internal")
        return is_state or topic.endswith(self._checkpoints_ending) or topic.startswith(("__", "."))

    @property
    def _checkpoints_ending(self) -> str:
        return f"{self._internal}checkpoints{self._internal}internal"


class IdentityReplicationPolicy(DefaultReplicationPolicy):
    """Names stay, but for those of heartbeats, which every cluster has of its own."""

    def __init__(self, configs: Mapping[str, str]) -> None:
        super().__init__(configs)
        self._source = configs.get("source.cluster.alias")

    def remote_topic(self, source: str, topic: str) -> str:
        return super().remote_topic(source, topic) if self._looks_like_heartbeats(topic) else topic

    def topic_source(self, topic: str) -> str | None:
        return super().topic_source(topic) if self._looks_like_heartbeats(topic) else self._source

    def upstream_topic(self, topic: str) -> str | None:
        return super().upstream_topic(topic) if self._looks_like_heartbeats(topic) else topic

    def _looks_like_heartbeats(self, topic: str) -> bool:
        return topic.endswith(self.heartbeats_topic)
