"""Copies' topics, partitions, settings and ACLs are brought into line with those of the source."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from penstock.client.admin.acls import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    AclResourceType,
    PatternType,
    ResourcePattern,
    create_acls,
    describe_acls,
)
from penstock.client.admin.configs import (
    AlterConfig,
    ConfigEntry,
    ConfigOperation,
    ConfigResource,
    ConfigSource,
    ResourceType,
    alter_configs,
    describe_configs,
)
from penstock.client.admin.topic_changes import NewPartitions, NewTopic, create_partitions, create_topics
from penstock.errors import ErrorCode
from penstock.pipeline.mirror.clusters import partition_counts, topic_names
from penstock.pipeline.mirror.configs import replication_policy
from penstock.pipeline.mirror.filters import PropertyFilter, topic_filter
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

log = logging.getLogger("penstock.mirror")

_ANY_TOPIC_ACL = AclBinding(
    ResourcePattern(AclResourceType.TOPIC, None, PatternType.ANY),
    AccessControlEntry(None, None, AclOperation.ANY, AclPermissionType.ANY),
)


class TopicSync:
    def __init__(self, configs: Mapping[str, str], parsed: Mapping[str, object]) -> None:
        self._source_alias = str(parsed["source.cluster.alias"])
        self._target_alias = str(parsed["target.cluster.alias"])
        replicas = int(str(parsed["replication.factor"]))
        self._replication_factor = replicas if replicas > 0 else None
        self._mirrors_heartbeats = bool(parsed["heartbeats.replication.enabled"])
        self._topics, self._properties = topic_filter(configs), PropertyFilter(configs)
        self._policy = replication_policy(configs)
        self._said_that_acls_lack = False

    def is_mirrored(self, topic: str) -> bool:
        is_heartbeats = self._mirrors_heartbeats and self._policy.is_heartbeats_topic(topic)
        if not is_heartbeats and not self._topics.takes(topic):
            return False
        return not self._policy.is_internal_topic(topic) and not self._policy.is_cycle(
            topic, self._target_alias
        )

    def copy_of(self, topic: str) -> str:
        return self._policy.remote_topic(self._source_alias, topic)

    # --- topics

    def source_topics(self, source: Cluster) -> dict[str, int]:
        """Those to mirror, and how many partitions each has."""
        return partition_counts(source, filter(self.is_mirrored, topic_names(source)))

    def ensure_copies(self, source: Cluster, target: Cluster, topics: Mapping[str, int]) -> dict[str, str]:
        """Makes copies and partitions that lack; for each topic whose copy cannot be had, why."""
        copies = {topic: self.copy_of(topic) for topic in topics}
        there = partition_counts(target, set(copies.values()) & set(topic_names(target)))
        new = [topic for topic, copy in copies.items() if copy not in there]
        grown = {topic: count for topic, count in topics.items() if there.get(copies[topic], count) < count}
        return {**self._create(source, target, new, topics), **self._grow(target, grown)}

    def _create(
        self, source: Cluster, target: Cluster, topics: list[str], counts: Mapping[str, int]
    ) -> dict[str, str]:
        settings = self._source_settings(source, topics)
        wanted = {
            topic: NewTopic(
                self.copy_of(topic),
                counts[topic],
                self._replication_factor,
                configs={
                    entry.name: entry.value or ""
                    for entry in settings.get(topic, ())
                    if not entry.is_default or self._properties.takes_source_defaults
                },
            )
            for topic in topics
        }
        made = now(create_topics(target, wanted.values())) if wanted else {}
        return _refused({topic: made[new.name] for topic, new in wanted.items()}, "created")

    def _grow(self, target: Cluster, topics: Mapping[str, int]) -> dict[str, str]:
        wanted = {self.copy_of(topic): NewPartitions(count) for topic, count in topics.items()}
        done = now(create_partitions(target, wanted)) if wanted else {}
        return _refused({topic: done[self.copy_of(topic)] for topic in topics}, "given more partitions")

    # --- settings

    def sync_configs(self, source: Cluster, target: Cluster, topics: Mapping[str, int]) -> None:
        changes = {
            ConfigResource(ResourceType.TOPIC, self.copy_of(topic)): [self._change(each) for each in entries]
            for topic, entries in self._source_settings(source, topics).items()
        }
        for resource, error in now(alter_configs(target, changes)).items() if changes else ():
            if error is not None:
                log.warning("settings of %s cannot be synced: %s", resource.name, error)

    def _change(self, entry: ConfigEntry) -> AlterConfig:
        if entry.is_default and not self._properties.takes_source_defaults:
            return AlterConfig(entry.name, ConfigOperation.DELETE)
        return AlterConfig(entry.name, ConfigOperation.SET, entry.value or "")

    def _source_settings(
        self, source: Cluster, topics: Mapping[str, int] | list[str]
    ) -> dict[str, list[ConfigEntry]]:
        resources = [ConfigResource(ResourceType.TOPIC, topic) for topic in topics]
        found = now(describe_configs(source, resources)) if resources else {}
        return {
            resource.name: [entry for entry in config.values() if self._is_synced(entry)]
            for resource, config in found.items()
            if not isinstance(config, KafkaError)
        }

    def _is_synced(self, entry: ConfigEntry) -> bool:
        if entry.is_read_only or entry.is_sensitive or entry.source is ConfigSource.STATIC_BROKER_CONFIG:
            return False
        return self._properties.takes(entry.name)

    # --- ACLs

    def sync_acls(self, source: Cluster, target: Cluster) -> None:
        """Those of single topics, but for the right to write: nobody else is to write to a copy."""
        try:
            bindings = now(describe_acls(source, _ANY_TOPIC_ACL))
        except KafkaError as error:
            if error.code != ErrorCode.SECURITY_DISABLED:
                raise
            if not self._said_that_acls_lack:
                log.info("%s has no authorizer: no ACLs are synced", self._source_alias)
            self._said_that_acls_lack = True
            return
        copies = [self._acl_of_copy(each) for each in bindings if self._is_synced_acl(each)]
        for binding, error_or_none in zip(
            copies, now(create_acls(target, copies)) if copies else (), strict=True
        ):
            if error_or_none is not None:
                log.warning("an ACL of %s cannot be synced: %s", binding.pattern.name, error_or_none)

    def _is_synced_acl(self, binding: AclBinding) -> bool:
        pattern, entry = binding.pattern, binding.entry
        may_write = entry.permission_type is AclPermissionType.ALLOW and entry.operation is AclOperation.WRITE
        return (
            pattern.pattern_type is PatternType.LITERAL
            and not may_write
            and pattern.name is not None
            and self.is_mirrored(pattern.name)
        )

    def _acl_of_copy(self, binding: AclBinding) -> AclBinding:
        """Who may do all with a topic may read its copy."""
        entry, name = binding.entry, binding.pattern.name
        assert name is not None
        if entry.permission_type is AclPermissionType.ALLOW and entry.operation is AclOperation.ALL:
            entry = AccessControlEntry(entry.principal, entry.host, AclOperation.READ, entry.permission_type)
        return AclBinding(ResourcePattern(AclResourceType.TOPIC, self.copy_of(name)), entry)


def _refused(results: Mapping[str, object], what: str) -> dict[str, str]:
    return {
        topic: f"the copy of {topic} could not be {what}: {error}"
        for topic, error in results.items()
        if isinstance(error, KafkaError) and error.code != ErrorCode.TOPIC_ALREADY_EXISTS
    }
