"""How one member moves from what it owns to what it shall own.

There is no barrier that all members must reach together. Each is taken along by its own heartbeats:

- A member that has partitions which it shall not keep stays in its epoch and is told to give them up
  (UNREVOKED_PARTITIONS). It moves on when a heartbeat lists what it owns and they are no longer among it.
- Then it enters the epoch of the target assignment with what it keeps and with those new partitions that nobody owns.
- Partitions that somebody else still owns it gets later (UNRELEASED_PARTITIONS): when their owner has given them up.

So a partition is handed on only when its previous owner has let go of it, and two members never own it at one time.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet

from penstock.errors import ApiError, ErrorCode
from penstock.group.consumer_member import CurrentAssignment, MemberState, PartitionEpochs
from penstock.group.modern_group import Assignment
from penstock.wire.messages.consumer_group_heartbeat import TopicPartitions

Owned = Sequence[TopicPartitions] | None
"""What a member says that it owns; None if it does not say."""


class Aim:
    """Where a member shall get to, and what stands in its way."""

    __slots__ = ("epoch", "is_owned", "owned", "partitions", "subscribed_topics")

    def __init__(
        self,
        epoch: int,
        partitions: Assignment,
        subscribed_topics: AbstractSet[bytes],
        is_owned: Callable[[bytes, int], bool],
        owned: Owned,
    ) -> None:
        self.epoch = epoch
        """Of the target assignment."""
        self.partitions = partitions
        self.subscribed_topics = subscribed_topics
        self.is_owned = is_owned
        """Whether anybody owns a partition now."""
        self.owned = owned

    def still_owns(self, revoking: PartitionEpochs) -> bool:
        """Whether the member has yet to give up one of these, as far as it said."""
        if self.owned is None:
            return True
        return any(
            not revoking.get(topic.topic_id, {}).keys().isdisjoint(topic.partitions) for topic in self.owned
        )


def reconcile(current: CurrentAssignment, aim: Aim, *, is_subscription_changed: bool) -> CurrentAssignment:
    """The member's next step, or what it is at now if it can't take one."""
    if current.state == MemberState.STABLE and current.member_epoch == aim.epoch:
        return _drop_unsubscribed(current, aim) if is_subscription_changed else current
    if current.state == MemberState.UNREVOKED_PARTITIONS and aim.still_owns(current.revoking):
        return _drop_unsubscribed(current, aim) if is_subscription_changed else current
    if current.state == MemberState.UNKNOWN and aim.owned != []:
        raise ApiError(
            ErrorCode.FENCED_MEMBER_EPOCH,
            "The consumer group member is in a unknown state. "
            "The member must abandon all its partitions and rejoin.",
        )
    return _step(current, aim)


def _drop_unsubscribed(current: CurrentAssignment, aim: Aim) -> CurrentAssignment:
    """Takes away the topics that the member has just turned away from, before there is a new target."""
    dropped = {
        topic_id: epochs
        for topic_id, epochs in current.assigned.items()
        if topic_id not in aim.subscribed_topics
    }
    if not dropped:
        return current
    assigned = {topic_id: epochs for topic_id, epochs in current.assigned.items() if topic_id not in dropped}
    revoking = {
        topic_id: {**current.revoking.get(topic_id, {}), **dropped.get(topic_id, {})}
        for topic_id in current.revoking.keys() | dropped.keys()
    }
    if aim.still_owns(revoking):
        return current.become(MemberState.UNREVOKED_PARTITIONS, current.member_epoch, assigned, revoking)
    return current.become(current.state, current.member_epoch, assigned, current.revoking)


def _step(current: CurrentAssignment, aim: Aim) -> CurrentAssignment:
    kept: dict[bytes, dict[int, int]] = {}
    revoking: dict[bytes, dict[int, int]] = {}
    for topic_id, epochs in current.assigned.items():
        wanted = _wanted(topic_id, aim)
        for partition, epoch in epochs.items():
            place = kept if partition in wanted else revoking
            place.setdefault(topic_id, {})[partition] = epoch
    if revoking and aim.still_owns(revoking):
        return current.become(MemberState.UNREVOKED_PARTITIONS, current.member_epoch, kept, revoking)
    waits = _take_free(kept, current.revoking, aim)
    state = MemberState.UNRELEASED_PARTITIONS if waits else MemberState.STABLE
    return current.become(state, aim.epoch, kept)


def _wanted(topic_id: bytes, aim: Aim) -> frozenset[int]:
    if topic_id not in aim.subscribed_topics:
        return frozenset()
    return aim.partitions.get(topic_id, frozenset())


def _take_free(kept: dict[bytes, dict[int, int]], revoked: PartitionEpochs, aim: Aim) -> bool:
    """Adds the target's partitions that are free, or were the member's own; True if some are not."""
    waits = False
    for topic_id in aim.partitions:
        epochs, own = kept.get(topic_id, {}), revoked.get(topic_id, {})
        for partition in _wanted(topic_id, aim) - epochs.keys():
            if aim.is_owned(topic_id, partition) and partition not in own:
                waits = True
            else:
                kept.setdefault(topic_id, {})[partition] = aim.epoch
    return waits
