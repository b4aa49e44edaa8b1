"""Groups and transactions with confluent-kafka."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from confluent_kafka import ConsumerGroupState, ConsumerGroupTopicPartitions, ConsumerGroupType
from confluent_kafka.admin import AdminClient

from tests.foreign_clients.drivers.confluent_errors import TIMEOUT_SECONDS, only, translated
from tests.foreign_clients.drivers.confluent_sessions import (
    ConfluentMember,
    ConfluentShareMember,
    ConfluentTransactionalProducer,
    from_partitions,
    to_partitions,
)
from tests.foreign_clients.drivers.model import Client, GroupInfo, GroupListing, MemberInfo
from tests.foreign_clients.drivers.sessions import (
    Committed,
    Member,
    Membership,
    Offsets,
    ShareMember,
    TopicAndPartition,
    TransactionalProducer,
    transform_step_by_step,
)


def _state(state: ConsumerGroupState) -> str:
    return "".join(word.capitalize() for word in state.name.split("_"))


class ConfluentGroups(Client):
    group_protocols = ("classic", "cooperative", "consumer")
    tells_metadata = False
    unknown_group_is_dead = True
    metadata_end = "\0"

    def _settings(self, **settings: Any) -> dict[str, Any]:
        raise NotImplementedError

    def _admin(self) -> AdminClient:
        raise NotImplementedError

    def open_member(self, membership: Membership) -> Member:
        return ConfluentMember(self._settings(), membership).start()

    def list_groups(
        self, *, states: Sequence[str] = (), kinds: Sequence[str] = ()
    ) -> dict[str, GroupListing]:
        wanted_states = {each for each in ConsumerGroupState if _state(each) in states}
        wanted_kinds = {each for each in ConsumerGroupType if each.name.lower() in kinds}
        with translated():
            listed = (
                self._admin()
                .list_consumer_groups(states=wanted_states, types=wanted_kinds)
                .result(TIMEOUT_SECONDS)
            )
        return {
            group.group_id: GroupListing(
                "" if group.is_simple_consumer_group else "consumer",
                _state(group.state),
                group.type.name.lower(),
            )
            for group in listed.valid
        }

    def describe_group(self, group: str) -> GroupInfo:
        described = only(self._admin().describe_consumer_groups([group]))
        members = tuple(
            MemberInfo(
                each.member_id,
                each.group_instance_id,
                each.client_id,
                each.host,
                frozenset((place.topic, place.partition) for place in each.assignment.topic_partitions),
            )
            for each in described.members
        )
        kind = described.type.name.lower()
        return GroupInfo(_state(described.state), kind, described.partition_assignor, members)

    def delete_group(self, group: str) -> None:
        only(self._admin().delete_consumer_groups([group]))

    def group_offsets(self, group: str) -> dict[TopicAndPartition, Committed]:
        asked = [ConsumerGroupTopicPartitions(group)]
        found = only(self._admin().list_consumer_group_offsets(asked))
        return from_partitions(found.topic_partitions)

    def alter_group_offsets(self, group: str, offsets: Offsets) -> None:
        asked = [ConsumerGroupTopicPartitions(group, to_partitions(offsets))]
        answer = only(self._admin().alter_consumer_group_offsets(asked))
        from_partitions(answer.topic_partitions)

    def open_transactional_producer(
        self, transactional_id: str, *, timeout_ms: int = 60_000
    ) -> TransactionalProducer:
        settings = {
            **self._settings(),
            "transactional.id": transactional_id,
            "transaction.timeout.ms": timeout_ms,
            "message.timeout.ms": min(timeout_ms, 25_000),
        }
        return ConfluentTransactionalProducer(settings)

    def transform(
        self, source: str, target: str, group: str, transactional_id: str, count: int, *, commit: bool
    ) -> None:
        transform_step_by_step(self, source, target, group, transactional_id, count, commit)

    def open_share_member(self, group: str, topic: str, *, explicit: bool, max_records: int) -> ShareMember:
        settings = {
            **self._settings(),
            "group.id": group,
            "share.acknowledgement.mode": "explicit" if explicit else "implicit",
            "max.poll.records": max_records,
        }
        return ConfluentShareMember(settings, topic)
