"""Which topics there are. What they look like is in `topic_descriptions`, what changes them in `topic_changes`."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.client.admin.topic_ids import topic_id_text
from penstock.wire.messages.metadata import MetadataRequest, MetadataResponse
from penstock.wire_client import Cluster

INTERNAL_TOPICS = {"__consumer_offsets", "__transaction_state", "__share_group_state"}


@dataclass(frozen=True, slots=True)
class TopicListing:
    name: str
    topic_id: str
    is_internal: bool


async def list_topics(cluster: Cluster, *, include_internal: bool = True) -> list[TopicListing]:
    answer = await cluster.ask_any(MetadataRequest(None), MetadataResponse)
    return [
        TopicListing(topic.name or "", topic_id_text(topic.topic_id), topic.is_internal)
        for topic in answer.topics
        if include_internal or not topic.is_internal
    ]
