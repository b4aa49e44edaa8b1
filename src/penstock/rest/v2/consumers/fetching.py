"""Fetches what comes next in an instance's partitions, of all their leaders at once."""

from __future__ import annotations

import asyncio

from penstock.client.committed_records import BY_NAME, LEADER_HAS_MOVED, committed_records
from penstock.client.config import ConsumerConfig
from penstock.errors import ErrorCode
from penstock.rest.v2.consumers.progress import Place, Progress
from penstock.types import TopicPartition
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchResponse, FetchTopic
from penstock.wire_client import Cluster
from penstock.wire_client.errors import error_for, is_retriable

LEADERLESS_SECONDS = 0.1
"""How soon the leader of a partition is looked for that had none."""
ISOLATION_LEVELS = {"read_uncommitted": 0, "read_committed": 1}

Places = dict[TopicPartition, Place]


class Fetcher:
    def __init__(self, cluster: Cluster, config: ConsumerConfig) -> None:
        self._cluster = cluster
        self._config = config
        self._leaders: dict[TopicPartition, int] = {}

    async def fetch(self, progress: Progress, max_wait_ms: int, max_bytes: int) -> None:
        """Sets aside what comes; the first record comes even if it is larger than `max_bytes`."""
        places = dict(progress.places)
        by_leader = await self._by_leader(places)
        if not by_leader:
            await asyncio.sleep(min(LEADERLESS_SECONDS, max_wait_ms / 1000))
            return
        await self._cluster.each(
            self._fetch_from(node_id, chosen, progress, max_wait_ms, max_bytes)
            for node_id, chosen in by_leader.items()
        )

    async def _by_leader(self, places: Places) -> dict[int, Places]:
        if not places.keys() <= self._leaders.keys():
            await self._find_leaders(places)
        by_leader: dict[int, Places] = {}
        for partition, place in places.items():
            if partition in self._leaders:
                by_leader.setdefault(self._leaders[partition], {})[partition] = place
        return by_leader

    async def _find_leaders(self, places: Places) -> None:
        answer = await self._cluster.metadata(sorted({partition.topic for partition in places}))
        self._leaders = {}
        for topic in answer.topics:
            if topic.error_code and not is_retriable(topic.error_code):
                raise error_for(topic.error_code)
            for each in topic.partitions:
                if each.leader_id >= 0:
                    self._leaders[TopicPartition(topic.name or "", each.partition_index)] = each.leader_id

    async def _fetch_from(
        self, node_id: int, places: Places, progress: Progress, max_wait_ms: int, max_bytes: int
    ) -> None:
        request = self._request(places, max_wait_ms, max_bytes)
        answer = await self._cluster.ask_node(
            node_id, request, FetchResponse, at_most=BY_NAME, timeout_ms=max_wait_ms + self._answer_ms
        )
        if answer.error_code:
            raise error_for(answer.error_code)
        for topic in answer.responses:
            for data in topic.partitions:
                partition = TopicPartition(topic.topic, data.partition_index)
                if data.error_code:
                    self._on_error(partition, data.error_code, progress, places[partition])
                else:
                    place = places[partition]
                    progress.put_aside(partition, place, *committed_records(data, place.fetched))

    @property
    def _answer_ms(self) -> int:
        return self._cluster.config.request_timeout_ms

    def _request(self, places: Places, max_wait_ms: int, max_bytes: int) -> FetchRequest:
        topics: dict[str, list[FetchPartition]] = {}
        most = min(max_bytes, self._config.max_partition_fetch_bytes)
        for (topic, number), place in places.items():
            topics.setdefault(topic, []).append(
                FetchPartition(partition=number, fetch_offset=place.fetched, partition_max_bytes=most)
            )
        return FetchRequest(
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=max_bytes,
            isolation_level=ISOLATION_LEVELS[str(self._config.isolation_level)],
            topics=[FetchTopic(topic, partitions=partitions) for topic, partitions in topics.items()],
        )

    def _on_error(self, partition: TopicPartition, code: int, progress: Progress, place: Place) -> None:
        if code == ErrorCode.OFFSET_OUT_OF_RANGE:
            progress.lose_place(partition, place)
        elif code in LEADER_HAS_MOVED or is_retriable(code):
            self._leaders.pop(partition, None)
        else:
            raise error_for(code)
