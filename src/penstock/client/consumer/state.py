"""What a consumer waits for: decided from what it knows, as a value to look at and as a line in the log.

A consumer that returns nothing may be at the end of its partitions, which is fine, or it may be stuck on something that
somebody should hear of. The second must never look like the first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from penstock.client.consumer.rebalance import in_order
from penstock.types import TopicPartition

MOST_NAMED = 5


class WaitsFor(Enum):
    """What has to happen before a consumer returns records again.

    >>> from penstock.client import WaitsFor
    >>> WaitsFor("records").name
    'RECORDS'
    """

    NOTHING = "nothing"
    SUBSCRIPTION = "subscription"
    BROKERS = "brokers"
    TOPIC = "topic"
    ASSIGNMENT = "assignment"
    FREE_PARTITION = "free partition"
    RESUME = "resume"
    FETCH = "fetch"
    RECORDS = "records"
    CLOSED = "closed"


IS_USUAL = {WaitsFor.NOTHING, WaitsFor.RECORDS, WaitsFor.CLOSED}
"""Nobody needs to hear of these."""
IS_LOOKED_INTO = {WaitsFor.BROKERS, WaitsFor.ASSIGNMENT, WaitsFor.FETCH}
"""The cluster may know more about these."""
IS_WANTED = {WaitsFor.RESUME}
"""Somebody asked for these: worth a line, not a warning."""


@dataclass(frozen=True, slots=True)
class ConsumerState:
    """What a consumer waits for, in a word and in a sentence, and for how long it has.

    >>> from penstock import KafkaConsumer
    >>> consumer = KafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing")
    >>> print(consumer.state)
    nothing is subscribed or assigned: call subscribe() or assign()
    >>> consumer.state.waits_for
    <WaitsFor.SUBSCRIPTION: 'subscription'>
    >>> consumer.close()
    """

    waits_for: WaitsFor
    message: str
    seconds: float = 0.0

    def __str__(self) -> str:
        return self.message


@dataclass(frozen=True, slots=True)
class Finding:
    """What the cluster says when it is asked why nothing comes."""

    waits_for: WaitsFor
    message: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What a consumer knows by itself."""

    is_closed: bool = False
    wanted: str = ""
    """What was subscribed, in words; empty if nothing was."""
    unmatched: str = ""
    """A pattern that no topic matches."""
    group_id: str = ""
    assigned: Sequence[TopicPartition] = ()
    paused: frozenset[TopicPartition] = frozenset()
    positions: Mapping[TopicPartition, int] = field(default_factory=dict)
    ends: Mapping[TopicPartition, int] = field(default_factory=dict)
    """Where a partition ends, as far as is known."""
    trouble: str = ""
    """Which broker cannot be reached; empty if all is well."""
    reads_committed: bool = False


def decide_state(facts: Facts, finding: Finding | None, seconds: float) -> ConsumerState:
    by_itself = _by_itself(facts)
    if finding is not None and by_itself.waits_for not in (WaitsFor.CLOSED, WaitsFor.SUBSCRIPTION):
        return ConsumerState(finding.waits_for, finding.message, seconds)
    return ConsumerState(by_itself.waits_for, by_itself.message, seconds)


def _by_itself(facts: Facts) -> Finding:
    if facts.is_closed:
        return Finding(WaitsFor.CLOSED, "the consumer is closed")
    if not facts.assigned:
        return _without_partitions(facts)
    open_partitions = [partition for partition in facts.assigned if partition not in facts.paused]
    if not open_partitions:
        return Finding(WaitsFor.RESUME, f"paused: {_some(facts.assigned)}")
    if facts.trouble:
        return Finding(WaitsFor.BROKERS, facts.trouble)
    behind = [partition for partition in open_partitions if not _is_at_end(partition, facts)]
    return _waits_for_fetch(behind, facts) if behind else _waits_for_records(open_partitions, facts)


def _without_partitions(facts: Facts) -> Finding:
    if not facts.wanted:
        message = "nothing is subscribed or assigned: call subscribe() or assign()"
        return Finding(WaitsFor.SUBSCRIPTION, message)
    if facts.trouble:
        return Finding(WaitsFor.BROKERS, facts.trouble)
    if facts.unmatched:
        return Finding(WaitsFor.TOPIC, f"no topic matches {facts.unmatched}")
    message = f"waiting for group {facts.group_id!r} to assign partitions of {facts.wanted}"
    return Finding(WaitsFor.ASSIGNMENT, message)


def _is_at_end(partition: TopicPartition, facts: Facts) -> bool:
    position, end = facts.positions.get(partition), facts.ends.get(partition)
    return end is not None and position is not None and position >= end


def _waits_for_fetch(behind: Sequence[TopicPartition], facts: Facts) -> Finding:
    words = [_how_far(partition, facts) for partition in behind[:MOST_NAMED]]
    more = f" and {len(behind) - MOST_NAMED} more" if len(behind) > MOST_NAMED else ""
    held_back = "; an open transaction may hold them back" if facts.reads_committed else ""
    return Finding(WaitsFor.FETCH, f"waiting for records of {', '.join(words)}{more}{held_back}")


def _how_far(partition: TopicPartition, facts: Facts) -> str:
    position, end = facts.positions.get(partition), facts.ends.get(partition)
    since = "" if position is None else f" from offset {position} on"
    until = "" if end is None else f", which ends at {end}"
    return f"{partition}{since}{until}"


def _waits_for_records(partitions: Sequence[TopicPartition], facts: Facts) -> Finding:
    paused = f"; paused: {_some(facts.paused)}" if facts.paused else ""
    return Finding(WaitsFor.RECORDS, f"at the end of {_some(partitions)}{paused}")


def _some(partitions: Sequence[TopicPartition] | frozenset[TopicPartition]) -> str:
    if len(partitions) <= MOST_NAMED:
        return in_order(list(partitions))
    return f"{in_order(sorted(partitions)[:MOST_NAMED])} and {len(partitions) - MOST_NAMED} more"
