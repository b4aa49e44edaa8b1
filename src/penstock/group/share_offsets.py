"""What an administrator asks of a share group that nobody is in: to begin elsewhere, or to forget where it was."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from penstock.errors import ApiError, ErrorCode
from penstock.group.groups import Group
from penstock.group.parts import Part
from penstock.group.share_effects import PartitionOffsets
from penstock.group.share_group import ShareGroup
from penstock.group.share_partitions import SharedTopic, merged
from penstock.machine import Outcome, Ticket
from penstock.wire.messages import alter_share_group_offsets as alter
from penstock.wire.messages import delete_share_group_offsets as delete
from penstock.wire.stored.share_group import ShareGroupStatePartitionMetadataKey

UNKNOWN_PARTITION = "This server does not host this topic-partition."
NEGATIVE_OFFSET = "A share group can't begin at a negative offset."
NO_OFFSETS = "There is no offset information to delete."


class AlteredOffsets(NamedTuple):
    """The answer as it will be if the share coordinator plays along, and what it is to do."""

    response: alter.AlterShareGroupOffsetsResponse
    states: PartitionOffsets


class OffsetsToDelete(NamedTuple):
    """What is refused, and the partitions by topic id whose states are to be deleted."""

    refused: list[delete.DeleteShareGroupOffsetsResponseTopic]
    partitions: Mapping[bytes, frozenset[int]]


class ShareGroupOffsets(Part):
    def find_group(self, group_id: str) -> ShareGroup:
        group = self.context.groups.get(group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        return as_share_group(group)

    # altering

    def handle_alter_offsets(
        self, request: alter.AlterShareGroupOffsetsRequest, ticket: Ticket, now_ms: int
    ) -> Outcome:
        group = as_share_group(self.context.groups.get(request.group_id) or ShareGroup(request.group_id))
        group.check_delete()
        offsets: dict[bytes, dict[int, int]] = {}
        answers = [self._alter_topic(topic, offsets) for topic in request.topics]
        names = self.context.image.topic_names
        topics = {
            topic_id: SharedTopic(names[topic_id], frozenset(by_partition), now_ms)
            for topic_id, by_partition in offsets.items()
        }
        outcome = Outcome()
        if topics:
            key = ShareGroupStatePartitionMetadataKey(group.group_id)
            outcome.write(key, group.partitions.begin(topics).to_record())
        response = alter.AlterShareGroupOffsetsResponse(responses=answers)
        outcome.reply(ticket, AlteredOffsets(response, PartitionOffsets(group.group_epoch, offsets)))
        return outcome

    def _alter_topic(
        self, asked: alter.AlterShareGroupOffsetsRequestTopic, offsets: dict[bytes, dict[int, int]]
    ) -> alter.AlterShareGroupOffsetsResponseTopic:
        topic = self.context.image.topics.get(asked.topic_name)
        answer = alter.AlterShareGroupOffsetsResponseTopic(asked.topic_name, partitions=[])
        if topic is not None:
            answer.topic_id = topic.topic_id
        answer.partitions = partitions = []
        for partition in asked.partitions:
            result = alter.AlterShareGroupOffsetsResponsePartition(partition.partition_index)
            if partition.start_offset < 0:
                result.error_code = ErrorCode.INVALID_REQUEST
                result.error_message = NEGATIVE_OFFSET
            elif topic is not None and partition.partition_index in topic.partitions:
                offsets.setdefault(topic.topic_id, {})[partition.partition_index] = partition.start_offset
            else:
                result.error_code = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
                result.error_message = UNKNOWN_PARTITION
            partitions.append(result)
        return answer

    # deleting

    def handle_begin_delete_offsets(
        self, request: delete.DeleteShareGroupOffsetsRequest, ticket: Ticket, now_ms: int
    ) -> Outcome:
        group = self.find_group(request.group_id)
        group.check_delete()
        refused: list[delete.DeleteShareGroupOffsetsResponseTopic] = []
        partitions: dict[bytes, frozenset[int]] = {}
        for asked in request.topics:
            error = self._begin_delete_topic(group, asked.topic_name, partitions)
            if error is not None:
                answer = delete.DeleteShareGroupOffsetsResponseTopic(
                    asked.topic_name, error_code=error.code, error_message=error.message
                )
                refused.append(answer)
        outcome = Outcome()
        if partitions:
            names = self.context.image.topic_names
            deleting = {topic_id: names[topic_id] for topic_id in partitions}
            key = ShareGroupStatePartitionMetadataKey(group.group_id)
            outcome.write(key, group.partitions.begin_delete(deleting).to_record())
        outcome.reply(ticket, OffsetsToDelete(refused, partitions))
        return outcome

    def _begin_delete_topic(
        self, group: ShareGroup, name: str, partitions: dict[bytes, frozenset[int]]
    ) -> ApiError | None:
        topic = self.context.image.topics.get(name)
        if topic is None:
            return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, UNKNOWN_PARTITION)
        initialized = group.partitions.initialized.get(topic.topic_id)
        if initialized is not None:
            partitions[topic.topic_id] = initialized.partitions
        elif topic.topic_id in group.partitions.deleting:
            partitions[topic.topic_id] = frozenset(topic.partitions)
        else:
            return ApiError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, NO_OFFSETS)
        return None

    def handle_finish_delete_offsets(
        self, group_id: str, topic_ids: Iterable[bytes], ticket: Ticket, now_ms: int
    ) -> Outcome:
        """Their states are gone."""
        outcome = Outcome()
        group = self.context.groups.get(group_id)
        if isinstance(group, ShareGroup):
            key = ShareGroupStatePartitionMetadataKey(group_id)
            outcome.write(key, group.partitions.finish_delete(topic_ids).to_record())
        outcome.reply(ticket, None)
        return outcome

    def handle_begin_delete_group(self, group_id: str, ticket: Ticket, now_ms: int) -> Outcome:
        """Replies with the partitions by topic id whose states have to go before the group can."""
        group = self.find_group(group_id)
        group.check_delete()
        topics = merged(group.partitions.initialized, group.partitions.initializing)
        image = self.context.image
        for topic_id in group.partitions.deleting:
            topic = image.topic_by_id(topic_id)
            if topic is not None:
                topics[topic_id] = SharedTopic(topic.name, frozenset(topic.partitions))
        outcome = Outcome()
        if group.partitions.topic_ids():
            deleting = {topic_id: topic.name for topic_id, topic in topics.items()}
            partitions = type(group.partitions)(deleting=deleting)
            outcome.write(ShareGroupStatePartitionMetadataKey(group_id), partitions.to_record())
        outcome.reply(ticket, {topic_id: topic.partitions for topic_id, topic in topics.items()})
        return outcome

    # asking

    def handle_initialized_partitions(self, group_id: str, ticket: Ticket, now_ms: int) -> Outcome:
        """Replies with the partitions by topic id that have a state."""
        group = self.context.groups.get(group_id)
        found: dict[bytes, frozenset[int]] = {}
        if isinstance(group, ShareGroup):
            found = {key: topic.partitions for key, topic in group.partitions.initialized.items()}
        outcome = Outcome()
        outcome.reply(ticket, found)
        return outcome


def as_share_group(group: Group) -> ShareGroup:
    if not isinstance(group, ShareGroup):
        raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group.group_id} is not a share group.")
    return group
