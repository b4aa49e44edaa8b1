"""The offsets of the program: input topics are read anew, intermediate ones are skipped to their end."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.tools.application_reset.consumer_errors import as_consumer_says
from penstock.cli.tools.application_reset.target_offsets import TargetOffsets
from penstock.cli.tools.common.failures import CommandFailure, as_java_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.group_offsets.partitions import end_offsets, partitions_of_topics
from penstock.cli.tools.group_offsets.scenarios import Offsets
from penstock.client.admin.group_offsets import CommittedOffset, alter_group_offsets
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now


def reset_offsets(
    cluster: Cluster, options: OptionSet, configs: Mapping[str, str], there: Collection[str]
) -> bool:
    """False if some of the topics are not there, and were left out."""
    inputs, intermediates = options.values("input-topics"), options.values("intermediate-topics")
    if intermediates:
        print("WARN: `--intermediate-topics` is deprecated and will be removed in a future release")
    if not inputs and not intermediates:
        print("No input or intermediate topics specified. Skipping seek.")
        return True
    _announce(inputs, intermediates)
    missing = [topic for topic in inputs if topic not in there]
    missing_intermediates = [topic for topic in intermediates if topic not in there]
    _tell_missing(missing, missing_intermediates)
    named = (*inputs, *intermediates)
    topics = in_hash_order((topic for topic in named if topic in there), capacity=len(named))
    if topics:
        with failing(as_java_says):
            partitions = list(now(partitions_of_topics(cluster, topics)))
        offsets = _new_offsets(cluster, options, configs, partitions)
        if not options.has("dry-run"):
            _commit(cluster, options.value("application-id"), offsets)
        print("Done.")
    return not (missing or missing_intermediates)


def _announce(inputs: list[str], intermediates: list[str]) -> None:
    if inputs:
        print(f"Reset-offsets for input topics [{', '.join(inputs)}]")
    if intermediates:
        print(f"Seek-to-end for intermediate topics [{', '.join(intermediates)}]")


def _tell_missing(inputs: list[str], intermediates: list[str]) -> None:
    if inputs:
        print("Following input topics are not found, skipping them")
        print("".join(f"Topic: {topic}\n" for topic in inputs), end="")
    if intermediates:
        print("Following intermediate topics are not found, skipping them")
        print("".join(f"Topic:{topic}\n" for topic in intermediates), end="")


def _new_offsets(
    cluster: Cluster, options: OptionSet, configs: Mapping[str, str], partitions: list[TopicPartition]
) -> Offsets:
    """Of all partitions; says which."""
    group_id, inputs = options.value("application-id"), set(options.values("input-topics"))
    of_inputs = in_hash_order(each for each in partitions if each.topic in inputs)
    of_intermediates = in_hash_order(each for each in partitions if each.topic not in inputs)
    offsets: Offsets = {}
    if of_inputs:
        print(f"Following input topics offsets will be reset to (for consumer group {group_id})")
        offsets |= TargetOffsets(cluster, options, configs, of_inputs).find()
        for each in of_inputs:
            print(f"Topic: {each.topic} Partition: {each.partition} Offset: {offsets[each]}")
    if of_intermediates:
        print(f"Following intermediate topics offsets will be reset to end (for consumer group {group_id})")
        for each in of_intermediates:
            print(f"Topic: {each.topic}")
        with failing(as_java_says):
            offsets |= now(end_offsets(cluster, of_intermediates))
    return offsets


def _commit(cluster: Cluster, group_id: str, offsets: Offsets) -> None:
    wanted = {partition: CommittedOffset(offset) for partition, offset in offsets.items()}
    with failing(lambda error: as_consumer_says(error, group_id)):
        outcome = now(alter_group_offsets(cluster, group_id, wanted))
    for partition, error in outcome.items():
        if error is not None:
            raise CommandFailure(as_consumer_says(error, group_id, partition.topic))
