"""Moving the replicas of a partition to other brokers, while it is led, written and read.

A reassignment begins with the replicas that there are and those that there are to be, all together: the new ones are
`adding`, those that are to go `removing`, and all of them are replicas. The new ones fetch until they are in sync.
Then, in one step, it is complete: those that were to go are replicas no more, and if one of them led, the first of the
others leads. Nothing else is remembered, so that it does not matter who is controller at which step, or how often a
step is tried; and no step takes a replica away before all of its successors have what it has.

What stands in the list is as in Kafka: the new replicas in the order that was asked for, then those that go. The first
is the preferred leader of the partition as it will be.

A reassignment on top of one under way keeps all replicas that there are by then: those of the earlier one may be in
sync already, the only ones that are, so they go at the end with the others. They were added, too: to cancel takes away
all that was added since the partition was at rest.

Only those are said to be in sync in what is decided here that have been there all the time (see `elections`).

The leader epoch is raised only where another broker comes to lead. Who led and still does need not refuse what it is
in the middle of: a replica that was removed is kept out by the versions of the nodes, see `broker.in_sync`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from penstock.controller.elections import Brokers, decide_leader, has_been_there
from penstock.errors import ApiError, ErrorCode
from penstock.replica.replica_set import ReplicaSet
from penstock.types import TopicPartition


def decide_reassignment(
    state: ReplicaSet,
    target: Sequence[int],
    brokers: Brokers,
    *,
    allow_replication_factor_change: bool = True,
) -> ReplicaSet:
    """The state with which a partition begins to move to the target, or is there at once."""
    _check_target(state, target, brokers)
    if not allow_replication_factor_change:
        _check_replication_factor(state, target)
    removing = tuple(sorted(set(state.replicas) - set(target)))
    added = {*state.adding, *target} - set(_without(state.replicas, state.adding))
    begun = replace(state, replicas=(*target, *removing), adding=tuple(sorted(added)), removing=removing)
    return decide_completion(begun, brokers) or _led(begun, brokers)


def _check_target(state: ReplicaSet, target: Sequence[int], brokers: Brokers) -> None:
    if not target:
        raise _invalid("an empty replica list.")
    for broker_id in sorted(set(target)):
        if broker_id not in brokers and broker_id not in state.replicas:
            raise _invalid(f"broker {broker_id}, but no such broker is registered.")
        if target.count(broker_id) > 1:
            raise _invalid(f"the broker {broker_id} more than once.")


def _invalid(what: str) -> ApiError:
    return ApiError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"The manual partition assignment includes {what}")


def _check_replication_factor(state: ReplicaSet, target: Sequence[int]) -> None:
    factor = len(set(state.replicas) - set(state.removing))
    if len(target) != factor:
        raise ApiError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"The replication factor is changed from {factor} to {len(target)}",
        )


def _led(state: ReplicaSet, brokers: Brokers) -> ReplicaSet:
    """The same, with another leader if the one that it names can't be it."""
    election = decide_leader(state, brokers)
    return state if election is None else election.state


def decide_completion(state: ReplicaSet, brokers: Brokers) -> ReplicaSet | None:
    """The state of a partition that has come where it was to go; None if it is not there yet, or goes nowhere."""
    if not state.is_being_reassigned:
        return None
    target = _without(state.replicas, state.removing)
    if not all(one in state.isr and has_been_there(state, one, brokers) for one in target):
        return None
    in_sync = state.with_isr(_without(state.isr, state.removing))
    arrived = replace(in_sync, replicas=target, adding=(), removing=())
    if state.leader in target:
        return arrived
    leader = next((one for one in target if not brokers[one].is_leaving), target[0])
    return arrived.with_leader(leader, arrived.isr)


def decide_cancellation(
    partition: TopicPartition, state: ReplicaSet, brokers: Brokers, *, allow_unclean: bool
) -> ReplicaSet:
    """The state without the replicas that a reassignment was adding."""
    if not state.is_being_reassigned:
        raise ApiError(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "No partition reassignment is in progress.")
    replicas, isr = _without(state.replicas, state.adding), _without(state.isr, state.adding)
    kept = replace(state, replicas=replicas, adding=(), removing=())
    if isr == state.isr:
        return kept
    there = tuple(one for one in isr if has_been_there(state, one, brokers))
    if not there and not allow_unclean:
        raise ApiError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Unable to revert partition assignment for {partition.topic}:{partition.partition} because it would "
            "require an unclean leader election.",
        )
    candidates = there or tuple(one for one in replicas if one in brokers) or replicas
    if state.leader in there:
        return kept.with_isr(there)
    leader = next(one for one in replicas if one in candidates)
    back = {} if there or leader not in brokers else {leader: brokers[leader].epoch}
    return kept.with_leader(leader, there or (leader,), back)


def _without(replicas: Iterable[int], removed: Iterable[int]) -> tuple[int, ...]:
    gone = frozenset(removed)
    return tuple(one for one in replicas if one not in gone)
