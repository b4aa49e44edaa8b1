"""kafka-share-groups --delete, --delete-offsets and --reset-offsets."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.cli.options.command_line import print_error_and_exit
from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.failures import as_broker_says, as_future_says, as_java_says, failing
from penstock.cli.tools.common.java_order import capacity_of_copy, in_hash_order
from penstock.cli.tools.common.tables import print_rows, widest
from penstock.cli.tools.group_offsets.partitions import check_partitions
from penstock.cli.tools.group_offsets.scenarios import (
    Offsets,
    check_altered,
    chosen_partitions,
    print_offsets_to_reset,
    to_datetime,
    to_earliest,
    to_latest,
)
from penstock.cli.tools.groups.deleting import TOLD_AS_IT_IS, print_deletions, sort_out
from penstock.cli.tools.share_groups.listing import listed_groups
from penstock.client.admin.groups import GroupListing, GroupState, delete_groups
from penstock.client.admin.share_groups import (
    alter_share_group_offsets,
    delete_share_group_offsets,
    describe_share_group,
    list_share_group_offsets,
)
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError, java_exception_name

# --- groups


def delete_chosen_groups(cluster: Cluster, options: OptionSet) -> None:
    listed = listed_groups(cluster)
    chosen = list(listed) if options.has("all-groups") else options.values("group")
    reasons = {group_id: _why_not(group_id, listed.get(group_id)) for group_id in chosen}
    refused = {
        group_id: reason for group_id in in_hash_order(reasons) if (reason := reasons[group_id]) is not None
    }
    answered = now(delete_groups(cluster, [group_id for group_id in reasons if group_id not in refused]))
    deleted, failed = sort_out(answered)
    all_failed = refused | failed
    ordered = in_hash_order(all_failed, capacity_of_copy(len(refused)))
    print_deletions("share", deleted, {group_id: all_failed[group_id] for group_id in ordered})


def _why_not(group_id: str, group: GroupListing | None) -> str | None:
    """Why a group is not even asked to be deleted."""
    if group is None:
        return f"java.lang.IllegalArgumentException: Group '{group_id}' is not a share group."
    if group.state is GroupState.DEAD:
        return f"java.lang.IllegalStateException: Share group '{group_id}' group state is DEAD."
    if group.state not in (GroupState.EMPTY, None):
        return f"{java_exception_name(ErrorCode.NON_EMPTY_GROUP)}: Share group '{group_id}' is not EMPTY."
    return None


# --- offsets of topics

_OF_TOPICS = {ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}


def delete_offsets(cluster: Cluster, options: OptionSet) -> None:
    topics = options.values("topic")
    try:
        outcome = now(delete_share_group_offsets(cluster, options.value("group"), topics))
        worst = next((outcome[topic] for topic in topics if outcome.get(topic) is not None), None)
    except KafkaError as error:
        outcome, worst = dict.fromkeys(topics, error), error
    if worst is not None and worst.code not in _OF_TOPICS:
        known = worst.code in TOLD_AS_IT_IS
        print(f"\nError: {worst if known else f'Encounter some unknown error: {as_java_says(worst)}'}")
    _print_statuses(outcome)


def _print_statuses(outcome: Mapping[str, KafkaError | None]) -> None:
    rows = [
        [topic, "Successful" if (error := outcome[topic]) is None else f"Error: {error}"]
        for topic in sorted(outcome)
    ]
    width = widest([row[0] for row in rows], 15)
    print_rows(["TOPIC", "STATUS"], rows, [width])


# --- where to begin


def reset_offsets(cluster: Cluster, options: OptionSet) -> None:
    group_id = options.value("group")
    if _state(cluster, group_id) not in (None, GroupState.EMPTY, GroupState.DEAD):
        print_error_and_exit(f"Share group '{group_id}' is not empty.")
    offsets = _wanted_offsets(cluster, options, _partitions(cluster, options, group_id))
    if options.has("execute"):
        with failing(as_broker_says):
            outcome = now(alter_share_group_offsets(cluster, group_id, offsets))
        check_altered(outcome)
    print_offsets_to_reset({group_id: offsets})


def _state(cluster: Cluster, group_id: str) -> GroupState | None:
    try:
        return now(describe_share_group(cluster, group_id)).state
    except KafkaError as error:
        if error.code != ErrorCode.GROUP_ID_NOT_FOUND:
            print_error_and_exit(error.message)
        return None


def _partitions(cluster: Cluster, options: OptionSet, group_id: str) -> list[TopicPartition]:
    if options.has("topic"):
        return chosen_partitions(cluster, options.values("topic"))
    with failing(as_broker_says):
        return list(now(list_share_group_offsets(cluster, group_id)))


def _wanted_offsets(cluster: Cluster, options: OptionSet, partitions: list[TopicPartition]) -> Offsets:
    with failing(as_future_says):
        now(check_partitions(cluster, partitions))
    if options.has("to-earliest"):
        return to_earliest(cluster, partitions)
    if options.has("to-latest"):
        return to_latest(cluster, partitions)
    return to_datetime(cluster, partitions, options.values("to-datetime")[0])
