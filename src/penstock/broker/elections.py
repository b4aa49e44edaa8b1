"""Elections of leaders that somebody asks for; `controller.elections` decides them.

What was decided about a state that somebody else changed meanwhile is decided anew, when the image has the change.
"""

import asyncio
import logging
from collections.abc import Iterable

from penstock.broker.controller import Controller
from penstock.controller.elections import ElectionType, decide_asked_election
from penstock.errors import ApiError, ErrorCode
from penstock.replica.replica_set import ReplicaSet
from penstock.types import TopicPartition

log = logging.getLogger("penstock.broker.elections")

Outcome = dict[TopicPartition, ApiError | None]


class Elections:
    def __init__(self, controller: Controller) -> None:
        self.controller = controller
        self.image = controller.image

    async def elect_of_all(self, election_type: ElectionType, timeout_ms: int) -> Outcome:
        """Wherever it is needed; the others are left out."""
        partitions = [
            TopicPartition(topic.name, index)
            for topic in self.image.topics.values()
            for index in topic.partitions
        ]
        outcome = await self.elect(election_type, partitions, timeout_ms)
        return {
            partition: error
            for partition, error in outcome.items()
            if error is None or error.code != ErrorCode.ELECTION_NOT_NEEDED
        }

    async def elect(
        self, election_type: ElectionType, partitions: Iterable[TopicPartition], timeout_ms: int
    ) -> Outcome:
        """For each, why none was elected; returns when this broker's image has the new leaders."""
        outcome: Outcome = dict.fromkeys(partitions, ApiError(ErrorCode.REQUEST_TIMED_OUT))
        pending: Iterable[TopicPartition] = list(outcome)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                while pending:
                    pending = await self._elect_once(election_type, pending, outcome)
        except TimeoutError:
            log.warning("elections were not over in %d ms", timeout_ms)
        return outcome

    async def _elect_once(
        self, election_type: ElectionType, partitions: Iterable[TopicPartition], outcome: Outcome
    ) -> set[TopicPartition]:
        """Notes what came of each; returns those that have to be looked at again."""
        elected: dict[TopicPartition, ReplicaSet] = {}
        for partition in partitions:
            try:
                elected[partition] = decide_asked_election(
                    self._state_of(partition), self.image.brokers, election_type
                )
            except ApiError as error:
                outcome[partition] = error
        if not elected:
            return set()
        log.info("%s elections of %d partitions were asked for", election_type.name.lower(), len(elected))
        changed = await self.controller.write_states(elected)
        outcome.update(dict.fromkeys(elected.keys() - changed))
        await self._until_changed({partition: elected[partition] for partition in changed})
        return changed

    def _state_of(self, partition: TopicPartition) -> ReplicaSet:
        topic = self.image.topics.get(partition.topic)
        if topic is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {partition.topic}")
        state = topic.partitions.get(partition.partition)
        if state is None:
            raise ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {partition}")
        return state

    async def _until_changed(self, lost: dict[TopicPartition, ReplicaSet]) -> None:
        """The image has what somebody else has made of these."""

        def is_known(partition: TopicPartition) -> bool:
            topic = self.image.topics.get(partition.topic)
            known = None if topic is None else topic.partitions.get(partition.partition)
            return known is None or known.version != lost[partition].version

        await self.controller.follower.until(lambda: all(map(is_known, lost)))
