"""Who leads a partition, and which replicas count as in sync when brokers come and go.

What is decided depends on nothing but a partition's state and the brokers that are registered, so a controller may
look at any partition at any time, twice, or after another controller has half done its work.

A state says which life of a broker it means: beside each replica in sync stands the epoch that its broker had when it
came to be so, and whoever writes the state anew for another reason leaves that as it is. When a state was written says
nothing: who wrote it may not have heard yet that a broker was started again.

A broker that was killed and is back may have lost what it had not synced. So it neither leads nor is in sync by what a
state says of an earlier life; another replica that has been there all the time takes over, and the broker that is back
becomes in sync again by fetching. A partition with a single replica has nobody to compare with: its broker leads on.

Where nobody has been there all the time, one of those that are back leads: one that says that it has all that it ever
wrote, because only its process or its session ended, not its machine. If those who are back can't say so (the power was
cut, a disk is new), the partition waits for the others that were in sync; when all are back, the first leads.

Nobody but a leader says of itself that it alone is in sync: it may be dead, though its session lives on, and others may
have all that it had. So who would be the only one keeps, in the state that it is elected by, those that are away, and
those that are back with all they had; what they are worth is for the leader to say, or for the next election.

Elections that somebody asks for, and the balance of leaders, look at a partition in the same way, but give the lead to
a replica that could have it already.
"""

from collections.abc import Mapping
from dataclasses import replace
from enum import IntEnum
from typing import NamedTuple

from penstock.controller.image import BrokerImage
from penstock.errors import ApiError, ErrorCode
from penstock.replica.replica_set import NO_LEADER, ReplicaSet

Brokers = Mapping[int, BrokerImage]


def has_been_there(replica_set: ReplicaSet, broker_id: int, brokers: Brokers) -> bool:
    """Whether a replica's broker is alive, in the life that the state is about."""
    broker = brokers.get(broker_id)
    if broker is None:
        return False
    return replica_set.replicas == (broker_id,) or replica_set.is_about(broker_id, broker.epoch)


def has_kept_all(replica_set: ReplicaSet, broker_id: int, brokers: Brokers) -> bool:
    """Whether a replica in sync that is back still has what it had in the life that the state is about."""
    broker = brokers.get(broker_id)
    return broker is not None and replica_set.life_of(broker_id) >= broker.whole_since


def is_led(replica_set: ReplicaSet, brokers: Brokers) -> bool:
    """Whether the leader that the state names may lead."""
    return replica_set.leader != NO_LEADER and has_been_there(replica_set, replica_set.leader, brokers)


def decide_first_leader(replicas: tuple[int, ...], brokers: Brokers) -> ReplicaSet:
    """The state of a new partition: the first replica that is alive leads, those alive are in sync."""
    isr = tuple(replica for replica in replicas if replica in brokers)
    leader = next(
        (replica for replica in isr if not brokers[replica].is_leaving), isr[0] if isr else NO_LEADER
    )
    lives = tuple(brokers[replica].epoch for replica in isr)
    return ReplicaSet(replicas, isr or replicas, leader, leader_epoch=0, lives=lives)


class Election(NamedTuple):
    state: ReplicaSet
    is_unclean: bool = False
    """Whether records that were committed may be missing at the new leader."""


def decide_leader(
    replica_set: ReplicaSet, brokers: Brokers, *, allow_unclean: bool = False
) -> Election | None:
    """The new state where the brokers that are there ask for one; None if the partition may stay as it is."""
    in_sync = tuple(r for r in replica_set.isr if has_been_there(replica_set, r, brokers))
    staying = tuple(r for r in in_sync if not brokers[r].is_leaving)
    if replica_set.leader in staying or (replica_set.leader in in_sync and not staying):
        kept = staying or in_sync
        is_left_to_the_leader = len(kept) == 1
        return (
            None if is_left_to_the_leader or kept == replica_set.isr else Election(replica_set.with_isr(kept))
        )
    if len(staying) > 1:
        return Election(replica_set.with_leader(_preferred(replica_set, staying), staying))
    if staying:
        return Election(_led_by(replica_set, staying[0], brokers))
    return _elect_who_is_left(replica_set, in_sync, brokers, allow_unclean)


def _preferred(replica_set: ReplicaSet, candidates: tuple[int, ...]) -> int:
    return next(replica for replica in replica_set.replicas if replica in candidates)


def _elect_who_is_left(
    replica_set: ReplicaSet, leaving: tuple[int, ...], brokers: Brokers, allow_unclean: bool
) -> Election | None:
    back = _back_with_all(replica_set, brokers)
    candidates = tuple(replica for replica in back if not brokers[replica].is_leaving) or leaving or back
    if candidates:
        return Election(_led_by(replica_set, _preferred(replica_set, candidates), brokers))
    alive = [replica for replica in replica_set.replicas if replica in brokers]
    if alive and allow_unclean:
        alive.sort(key=lambda replica: replica not in replica_set.isr)
        return Election(_led_alone(replica_set, alive[0], brokers), is_unclean=True)
    if replica_set.leader == NO_LEADER:
        return None
    return Election(replace(replica_set, leader=NO_LEADER, leader_epoch=replica_set.leader_epoch + 1))


def _back_with_all(replica_set: ReplicaSet, brokers: Brokers) -> tuple[int, ...]:
    """Of those that were in sync, who has all that was acknowledged, as far as anybody can tell."""
    back = tuple(replica for replica in replica_set.isr if replica in brokers)
    whole = tuple(replica for replica in back if has_kept_all(replica_set, replica, brokers))
    return whole or (back if back == replica_set.isr else ())


def _led_by(replica_set: ReplicaSet, leader: int, brokers: Brokers) -> ReplicaSet:
    """By the only one who has been there all the time, or by one of those who are back. In sync stay those who are back
    with all they had, by their new lives, and those who are away: the leader tells, if it lives, that it is alone."""
    back = {
        replica: brokers[replica].epoch
        for replica in replica_set.isr
        if replica == leader
        or (has_kept_all(replica_set, replica, brokers) and not brokers[replica].is_leaving)
    }
    isr = tuple(replica for replica in replica_set.isr if replica in back or replica not in brokers)
    return replica_set.with_leader(leader, isr, back)


def _led_alone(replica_set: ReplicaSet, leader: int, brokers: Brokers) -> ReplicaSet:
    return replica_set.with_leader(leader, (leader,), {leader: brokers[leader].epoch})


def decide_preferred_leader(replica_set: ReplicaSet, brokers: Brokers) -> ReplicaSet | None:
    """The state with the first replica as the leader; None if it leads already or can't."""
    preferred = replica_set.replicas[0]
    if replica_set.leader == preferred or preferred not in replica_set.isr:
        return None
    if not has_been_there(replica_set, preferred, brokers) or brokers[preferred].is_leaving:
        return None
    return replica_set.with_leader(preferred, replica_set.isr)


class ElectionType(IntEnum):
    """As ElectLeaders has them."""

    PREFERRED = 0
    """The first replica leads."""
    UNCLEAN = 1
    """Where nobody leads, a replica that was not in sync does, if need be."""


def decide_asked_election(
    replica_set: ReplicaSet, brokers: Brokers, election_type: ElectionType
) -> ReplicaSet:
    """The state that an election leads to; ApiError if it is not needed, or there is nobody to elect."""
    if election_type is ElectionType.PREFERRED:
        if replica_set.leader == replica_set.replicas[0]:
            raise ApiError(ErrorCode.ELECTION_NOT_NEEDED)
        preferred = decide_preferred_leader(replica_set, brokers)
        if preferred is None:
            raise ApiError(ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE)
        return preferred
    if is_led(replica_set, brokers):  # not by one who has gone, though nobody may have been elected yet
        raise ApiError(ErrorCode.ELECTION_NOT_NEEDED)
    election = decide_leader(replica_set, brokers, allow_unclean=True)
    if election is None or election.state.leader == NO_LEADER:
        raise ApiError(ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE)
    return election.state
