"""Offsets that nobody has used for `offsets.retention.minutes`, and groups that have nothing left."""

from penstock.group.groups import SHARE, Group, GroupContext
from penstock.group.offsets_store import CommittedOffset, OffsetStore
from penstock.machine import Outcome
from penstock.wire.stored.group import OffsetCommitKey

EMPTY = "Empty"
MS_PER_MINUTE = 60_000


def write_expired(context: GroupContext, store: OffsetStore, now_ms: int, outcome: Outcome) -> None:
    """Writes what removes expired offsets, and groups without members and offsets. Share groups have none."""
    retention_ms = context.settings.offsets_retention_minutes * MS_PER_MINUTE
    for group in context.groups.values():
        if group.KIND == SHARE:
            continue
        has_left = _write_expired_of(group, store, now_ms, retention_ms, outcome)
        if not has_left and group.state_name == EMPTY:
            group.write_tombstones(outcome)


def _write_expired_of(
    group: Group, store: OffsetStore, now_ms: int, retention_ms: int, outcome: Outcome
) -> bool:
    """Whether anything is left, be it only pending."""
    has_left = bool(store.open_transactions.of_group(group.group_id))
    for topic, partitions in store.committed.of_group(group.group_id).items():
        for partition, offset in partitions.items():
            is_pending = store.open_transactions.get(group.group_id, topic, partition) is not None
            if is_pending or not _is_expired(group, topic, offset, now_ms, retention_ms):
                has_left = True
            else:
                outcome.write(OffsetCommitKey(group.group_id, topic, partition))
    return has_left


def _is_expired(group: Group, topic: str, offset: CommittedOffset, now_ms: int, retention_ms: int) -> bool:
    from_ms = group.offsets_expire_from_ms(topic, offset.value.commit_timestamp)
    if from_ms is None:
        return False
    if offset.value.expire_timestamp >= 0:
        return now_ms >= offset.value.expire_timestamp
    return now_ms - from_ms >= retention_ms
