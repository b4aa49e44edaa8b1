"""kafka-streams-groups --delete and --delete-offsets."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.common.failures import as_future_says, as_java_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.group_offsets.deleting import delete_offsets_of, delete_offsets_of_topics
from penstock.cli.tools.groups.deleting import sort_out
from penstock.cli.tools.streams_groups.listing import listed_groups
from penstock.cli.tools.streams_groups.topics import internal_topics_of_groups
from penstock.client.admin.group_offsets import list_group_offsets
from penstock.client.admin.groups import GroupListing, GroupState, delete_groups
from penstock.client.admin.streams_groups import describe_streams_group
from penstock.client.admin.topic_changes import delete_topics
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError, java_exception_name

# --- groups


def delete_chosen_groups(cluster: Cluster, options: OptionSet) -> None:
    listed = listed_groups(cluster)
    chosen = list(listed) if options.has("all-groups") else options.values("group")
    reasons = {group_id: _why_not(group_id, listed.get(group_id)) for group_id in chosen}
    failed = {group_id: reason for group_id, reason in reasons.items() if reason is not None}
    asked = [group_id for group_id in reasons if group_id not in failed]
    with_topics = bool(asked) and options.has("delete-all-internal-topics")
    topics = internal_topics_of_groups(cluster, asked) if with_topics else {}
    deleted, refused = sort_out(now(delete_groups(cluster, asked)))
    trouble = _delete_topics(cluster, {each: topics[each] for each in deleted if each in topics})
    _print_deletions(deleted, {**failed, **refused})
    if topics and deleted:
        _print_topic_deletions([each for each in deleted if each in topics], trouble)


def _why_not(group_id: str, group: GroupListing | None) -> str | None:
    """Why a group is not even asked to be deleted."""
    if group is None:
        return (
            "java.lang.IllegalArgumentException: "
            f"Group '{group_id}' does not exist or is not a streams group."
        )
    if group.state is GroupState.DEAD:
        return f"java.lang.IllegalStateException: Streams group '{group_id}' group state is DEAD."
    if group.state not in (GroupState.EMPTY, None):
        return f"{java_exception_name(ErrorCode.NON_EMPTY_GROUP)}: Streams group '{group_id}' is not EMPTY."
    return None


def _delete_topics(cluster: Cluster, topics: dict[str, list[str]]) -> dict[str, str]:
    """Of groups that are gone; why some could not be deleted."""
    trouble = {}
    for group_id, of_group in topics.items():
        outcome = now(delete_topics(cluster, of_group))
        errors = [error for error in outcome.values() if error is not None]
        for topic in in_hash_order(outcome):
            if outcome[topic] is not None:
                print(f"Failed to delete internal topic: {topic}")
        if errors:
            trouble[group_id] = as_java_says(errors[0])
    return trouble


def _print_deletions(deleted: list[str], failed: dict[str, str]) -> None:
    listed = ", ".join(f"'{group_id}'" for group_id in deleted)
    if not failed:
        print(f"Deletion of requested streams groups ({listed}) was successful.")
        return
    print("\nError: Deletion of some streams groups failed:")
    for group_id in in_hash_order(failed):
        print(f"* Group '{group_id}' could not be deleted due to: {failed[group_id]}")
    if deleted:
        print(f"\nThese streams groups were deleted successfully: {listed}.")


def _print_topic_deletions(group_ids: list[str], trouble: dict[str, str]) -> None:
    if not trouble:
        listed = "', '".join(group_ids)
        print(f"Deletion of associated internal topics of the streams groups ('{listed}') was successful.")
        return
    print("Deletion of some associated internal topics failed:")
    for group_id in in_hash_order(trouble):
        reason = trouble[group_id]
        print(f"* Internal topics of the streams group '{group_id}' could not be deleted due to: {reason}")


# --- offsets


def delete_offsets(cluster: Cluster, options: OptionSet) -> None:
    group_id = options.value("group")
    if options.has("all-input-topics"):
        delete_offsets_of(cluster, group_id, committed_of_input_topics(cluster, group_id), {})
    else:
        delete_offsets_of_topics(cluster, group_id, options.values("input-topic"))


def committed_of_input_topics(cluster: Cluster, group_id: str) -> list[TopicPartition]:
    """The partitions of topics that are not of the program's own making, in which it has committed."""
    with failing(as_future_says):
        group = now(describe_streams_group(cluster, group_id))
        committed = now(list_group_offsets(cluster, group_id))
    return in_hash_order(each for each in committed if each.topic in group.source_topics)


def delete_topics_after_reset(cluster: Cluster, group_id: str, topics: list[str]) -> None:
    errors = [error for error in now(delete_topics(cluster, topics)).values() if error is not None]
    if not errors:
        return
    _tell_trouble(group_id, errors[0])


def _tell_trouble(group_id: str, error: KafkaError) -> None:
    what = f"\nError: Deleting internal topics for group '{group_id}' failed"
    if error.code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
        print(f"{what} because the topics do not exist.")
    else:
        print(f"{what} due to {as_java_says(error)}")
