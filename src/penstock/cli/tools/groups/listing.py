"""Lists of groups, whatever kind they are of."""

from __future__ import annotations

from penstock.cli.tools.common.failures import ArgumentFailure
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.client.admin.groups import GroupListing, GroupState


def in_listed_order(groups: list[GroupListing]) -> list[GroupListing]:
    by_id = {group.group_id: group for group in groups}
    return [by_id[group_id] for group_id in in_hash_order(by_id)]


def parse_states(text: str, valid: tuple[GroupState, ...]) -> list[GroupState]:
    if not text:
        return []
    states = [GroupState.parse(name.strip()) for name in text.split(",")]
    if not set(states) <= set(valid):
        listed = ", ".join(state.value for state in valid)
        raise ArgumentFailure(f"Invalid state list '{text}'. Valid states are: {listed}")
    return states
