"""What came of deleting groups and their offsets, whatever kind they are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from penstock.cli.tools.common.failures import as_java_says
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.errors import ErrorCode
from penstock.wire_client.errors import KafkaError

TOLD_AS_IT_IS = {
    ErrorCode.INVALID_GROUP_ID,
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.GROUP_AUTHORIZATION_FAILED,
    ErrorCode.NON_EMPTY_GROUP,
}
"""Errors of a group that need no more words than their own."""


def sort_out(outcome: Mapping[str, KafkaError | None]) -> tuple[list[str], dict[str, str]]:
    """The groups that were deleted, and why the others were not, both in the order of Java's maps."""
    errors = {group_id: error for group_id, error in outcome.items() if error is not None}
    deleted = in_hash_order(group_id for group_id in outcome if group_id not in errors)
    return deleted, {group_id: as_java_says(errors[group_id]) for group_id in in_hash_order(errors)}


def print_deletions(kind: str, deleted: Sequence[str], failed: Mapping[str, str]) -> None:
    listed = ", ".join(f"'{group_id}'" for group_id in deleted)
    if not failed:
        print(f"Deletion of requested {kind} groups ({listed}) was successful.")
        return
    print(f"\nError: Deletion of some {kind} groups failed:")
    for group_id, reason in failed.items():
        print(f"* Group '{group_id}' could not be deleted due to: {reason}")
    if deleted:
        print(f"\nThese {kind} groups were deleted successfully: {listed}")
