"""Creates a topic that a broker itself needs: one that a client asks for, or one of the coordinators.

The controller creates it; this broker waits until it knows of it, since whoever asked will come back to it.
"""

import asyncio

from penstock.broker.forwarding import ControllerIsHere, Forwarding
from penstock.broker.image_follower import ImageFollower
from penstock.broker.topics import DEFAULT, Topics
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.create_topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
    CreateTopicsResponse,
)

NEWS_SECONDS = 10.0


class TopicCreation:
    def __init__(self, topics: Topics, forwarding: Forwarding, follower: ImageFollower) -> None:
        self.topics = topics
        self.forwarding = forwarding
        self.follower = follower

    async def auto_create(self, name: str) -> None:
        """Creates a topic with the broker's defaults because a client asked for its metadata."""
        if self.topics.deleted_names.is_kept(name):
            raise ApiError(
                ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition."
            )
        await self.create(name, DEFAULT, DEFAULT, {})

    async def create(self, name: str, partitions: int, replicas: int, configs: dict[str, str]) -> None:
        """The topic is there then, whoever has created it."""
        try:
            await self._create(name, partitions, replicas, configs)
        except ApiError as error:
            if error.code != ErrorCode.TOPIC_ALREADY_EXISTS:
                raise
        await self._until_known(name)

    async def _create(self, name: str, partitions: int, replicas: int, configs: dict[str, str]) -> None:
        try:
            await self._ask(name, partitions, replicas, configs)
        except ControllerIsHere:
            topics = self.topics
            await topics.create(name, topics.plan(name, partitions, replicas, {}, configs), configs)

    async def _ask(self, name: str, partitions: int, replicas: int, configs: dict[str, str]) -> None:
        wanted = CreatableTopic(
            name,
            partitions,
            replicas,
            configs=[CreatableTopicConfig(key, value) for key, value in configs.items()],
        )
        answer = await self.forwarding.ask(
            CreateTopicsRequest([wanted], timeout_ms=30_000), CreateTopicsResponse
        )
        (result,) = answer.topics
        if result.error_code:
            raise ApiError(ErrorCode(result.error_code), result.error_message or "")

    async def _until_known(self, name: str) -> None:
        try:
            async with asyncio.timeout(NEWS_SECONDS):
                await self.follower.until(lambda: name in self.follower.image.topics)
        except TimeoutError:
            raise ApiError(ErrorCode.LEADER_NOT_AVAILABLE, f"topic {name} is not known here yet") from None
