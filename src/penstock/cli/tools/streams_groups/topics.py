"""The topics of a Kafka Streams program's own: those that go with its group."""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.cli.tools.common.failures import as_java_says
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.client.admin.streams_groups import StreamsGroupDescription, describe_streams_groups
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

_SUFFIXES = (
    "-changelog",
    "-repartition",
    "-subscription-registration-topic",
    "-subscription-response-topic",
)
_FOREIGN_KEY_JOIN = re.compile(r".+-KTABLE-FK-JOIN-SUBSCRIPTION-(REGISTRATION|RESPONSE)-\d+-topic")


def internal_topics_of_groups(cluster: Cluster, group_ids: Sequence[str]) -> dict[str, list[str]]:
    """Of each group that has some; says of others why they are not taken for such."""
    try:
        described = now(describe_streams_groups(cluster, group_ids))
    except KafkaError as error:
        print(f"\nError: Retrieving internal topics failed due to {as_java_says(error)}")
        return {}
    found = {group_id: _internal_topics(described[group_id]) for group_id in in_hash_order(described)}
    return {group_id: topics for group_id, topics in found.items() if topics}


def _internal_topics(group: StreamsGroupDescription) -> list[str]:
    listed = (
        topic
        for each in group.subtopologies
        for topic in each.repartition_source_topics + each.changelog_topics
    )
    internal = []
    for topic in listed:
        if topic in group.source_topics:
            continue
        if is_named_like_internal(topic, group.group_id):
            internal.append(topic)
        else:
            print(
                f"\nError: The internal topic '{topic}' is not inferred as internal and thus will not be deleted "
                f"with the group '{group.group_id}'."
            )
    return internal


def is_named_like_internal(topic: str, group_id: str) -> bool:
    is_like_one = topic.endswith(_SUFFIXES) or _FOREIGN_KEY_JOIN.fullmatch(topic) is not None
    return topic.startswith(f"{group_id}-") and is_like_one
