"""How partitions come from some brokers to others."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.controller.elections import Brokers, decide_leader
from penstock.controller.reassignments import decide_cancellation, decide_completion, decide_reassignment
from penstock.errors import ApiError, ErrorCode
from penstock.replica.replica_set import NO_LEADER, ReplicaSet
from penstock.types import TopicPartition
from tests.controller.test_elections import AFTER, BEFORE, WRITTEN, brokers

ALL = brokers(1, 2, 3, 4, 5, 6)
WHERE = TopicPartition("orders", 0)


def state(
    replicas: tuple[int, ...],
    isr: tuple[int, ...] | None = None,
    leader: int | None = None,
    adding: tuple[int, ...] = (),
    removing: tuple[int, ...] = (),
) -> ReplicaSet:
    return ReplicaSet(
        replicas,
        replicas if isr is None else isr,
        replicas[0] if leader is None else leader,
        5,
        version=7,
        zxid=WRITTEN,
        adding=adding,
        removing=removing,
    )


@pytest.mark.parametrize(
    ("known", "target", "decided"),
    [
        # new ones in the order asked for, then those that go
        (
            state((1, 2, 3)),
            (6, 5, 4),
            state((6, 5, 4, 1, 2, 3), (1, 2, 3), 1, (4, 5, 6), (1, 2, 3)),
        ),
        (state((1, 2)), (3, 2), state((3, 2, 1), (1, 2), 1, (3,), (1,))),
        # one more, one less; what is there already is complete at once
        (state((1, 2)), (1, 2, 3), state((1, 2, 3), (1, 2), 1, (3,))),
        (state((1, 2, 3)), (1, 2), state((1, 2))),
        (state((1, 2, 3)), (2, 3), replace(state((2, 3), leader=2), leader_epoch=6)),
        (state((1, 2, 3)), (3, 1, 2), state((3, 1, 2), (1, 2, 3), 1)),
        (state((1, 2, 3)), (1, 2, 3), state((1, 2, 3))),
        # the one that is to stay is not in sync: the others wait for it
        (state((1, 2, 3), (2, 3), 2), (1,), state((1, 2, 3), (2, 3), 2, (), (2, 3))),
        # on top of one under way: from all that there are by now
        (
            state((3, 1, 2), (1, 2), 1, (3,), (2,)),
            (4, 1),
            state((4, 1, 2, 3), (1, 2), 1, (3, 4), (2, 3)),
        ),
        (state((3, 1, 2), (1, 2), 1, (3,), (2,)), (1, 2), state((1, 2))),
        (state((3, 1, 2), (1, 2), 1, (3,), (2,)), (3, 1), state((3, 1, 2), (1, 2), 1, (3,), (2,))),
    ],
)
def test_a_reassignment_begins(known: ReplicaSet, target: tuple[int, ...], decided: ReplicaSet) -> None:
    assert decide_reassignment(known, target, ALL) == decided


def test_a_broker_that_was_started_anew_leads_its_only_replica_on() -> None:
    """With a second replica there is somebody to compare with, so it has to be elected."""
    begun = decide_reassignment(state((1,)), (1, 2), brokers(2, back=(1,)))
    assert begun == replace(state((1, 2), (1,), 1, (2,)), leader_epoch=6, lives=(AFTER,))


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ((), "an empty replica list."),
        ((1, 9), "broker 9, but no such broker is registered."),
        ((1, -1), "broker -1, but no such broker is registered."),
        ((1, 2, 1), "the broker 1 more than once."),
    ],
)
def test_a_target_that_is_none(target: tuple[int, ...], words: str) -> None:
    with pytest.raises(ApiError) as refusal:
        decide_reassignment(state((1, 2)), target, ALL)
    assert refusal.value.code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert refusal.value.message == f"The manual partition assignment includes {words}"


def test_a_replica_that_is_there_may_be_down_for_the_moment() -> None:
    begun = decide_reassignment(state((1, 2), (1,)), (2, 3), brokers(1, 3))
    assert begun == state((2, 3, 1), (1,), 1, (3,), (1,))


@pytest.mark.parametrize(
    ("known", "target", "factors"),
    [
        (state((1, 2)), (3,), "2 to 1"),
        (state((1, 2)), (1, 2, 3), "2 to 3"),
        (state((3, 1, 2), (1, 2), 1, (3,), (1, 2)), (1, 2), "1 to 2"),
    ],
)
def test_a_replication_factor_that_must_stay(
    known: ReplicaSet, target: tuple[int, ...], factors: str
) -> None:
    with pytest.raises(ApiError) as refusal:
        decide_reassignment(known, target, ALL, allow_replication_factor_change=False)
    assert refusal.value.code == ErrorCode.INVALID_REPLICATION_FACTOR
    assert refusal.value.message == f"The replication factor is changed from {factors}"


MOVING = state((4, 5, 1, 2), (1, 2), 1, (4, 5), (1, 2))


@pytest.mark.parametrize(
    ("known", "there", "decided"),
    [
        (MOVING, ALL, None),
        (replace(MOVING, isr=(4, 1, 2)), ALL, None),
        (replace(MOVING, isr=(4, 5, 1)), ALL, replace(state((4, 5), leader=4), leader_epoch=6)),
        (replace(MOVING, isr=(4, 5), leader=5), ALL, state((4, 5), leader=5)),
        (
            replace(MOVING, isr=(4, 5, 1)),
            brokers(1, 4, 5, leaving=(4,)),
            replace(state((4, 5), leader=5), leader_epoch=6),
        ),
        (replace(MOVING, isr=(4, 5, 1)), brokers(1, 4), None),  # it has died since
        (replace(MOVING, isr=(4, 5, 1)), brokers(1, 4, back=(5,)), None),  # and may have lost records
        (state((1, 2)), ALL, None),
    ],
)
def test_a_reassignment_is_complete(known: ReplicaSet, there: Brokers, decided: ReplicaSet | None) -> None:
    assert decide_completion(known, there) == decided


@pytest.mark.parametrize(
    ("known", "there", "decided"),
    [
        (MOVING, ALL, state((1, 2))),
        (replace(MOVING, isr=(4, 1, 2)), ALL, state((1, 2))),
        (replace(MOVING, isr=(4, 2), leader=4), ALL, replace(state((1, 2), (2,), 2), leader_epoch=6)),
        (replace(MOVING, isr=(4, 1, 2)), brokers(2, 4), replace(state((1, 2), (2,), 2), leader_epoch=6)),
        (replace(MOVING, isr=(1,), leader=NO_LEADER), brokers(4, 5), state((1, 2), (1,), NO_LEADER)),
        (MOVING, brokers(1, 4, back=(2,)), state((1, 2))),
        (state((1, 2, 3), (2,), 2, (), (2, 3)), ALL, state((1, 2, 3), (2,), 2)),
    ],
)
def test_a_reassignment_is_cancelled(known: ReplicaSet, there: Brokers, decided: ReplicaSet) -> None:
    assert decide_cancellation(WHERE, known, there, allow_unclean=False) == decided


def test_what_can_not_be_cancelled() -> None:
    with pytest.raises(ApiError) as refusal:
        decide_cancellation(WHERE, state((1, 2)), ALL, allow_unclean=True)
    assert refusal.value.code == ErrorCode.NO_REASSIGNMENT_IN_PROGRESS


def test_only_new_replicas_have_all_records() -> None:
    only_new = replace(MOVING, isr=(4,), leader=4)
    with pytest.raises(ApiError) as refusal:
        decide_cancellation(WHERE, only_new, ALL, allow_unclean=False)
    assert refusal.value.code == ErrorCode.INVALID_REPLICA_ASSIGNMENT
    assert "orders:0 because it would require an unclean leader election" in refusal.value.message
    unclean = decide_cancellation(WHERE, only_new, brokers(2, 4), allow_unclean=True)
    assert unclean == replace(state((1, 2), (2,), 2), leader_epoch=6, lives=(BEFORE,))


def test_the_lives_of_those_in_sync_go_with_them() -> None:
    moving = replace(state((3, 4, 1, 2), adding=(3, 4), removing=(1, 2)), leader=1, lives=(30, 40, 10, 20))
    registered = {one.id: replace(one, epoch=one.id * 10) for one in ALL.values()}
    arrived = decide_completion(moving, registered)
    assert arrived is not None
    assert (arrived.isr, arrived.lives) == ((3, 4), (30, 40))
    assert decide_completion(moving, registered | {4: replace(registered[4], epoch=99)}) is None


ids = st.integers(1, 6)


@given(st.data())
def test_no_step_leaves_the_records_behind(data: st.DataObject) -> None:
    """Whatever is decided in whatever order: who is in sync was so before, or has joined by fetching; one of them
    leads, and all of them are replicas. To cancel leads to where it began."""
    replicas = tuple(data.draw(st.lists(ids, min_size=1, max_size=3, unique=True)))
    at_rest = set(replicas)
    now = state(replicas)
    for _ in range(data.draw(st.integers(1, 12))):
        there = brokers(*data.draw(st.sets(ids)))
        before = now
        match data.draw(st.sampled_from(["reassign", "cancel", "complete", "elect", "join"])):
            case "reassign":
                asked = tuple(data.draw(st.lists(ids, min_size=1, max_size=3, unique=True)))
                try:
                    now = decide_reassignment(now, asked, there)
                except ApiError:
                    continue
            case "cancel":
                try:
                    now = decide_cancellation(WHERE, now, there, allow_unclean=False)
                except ApiError:
                    continue
                assert set(now.replicas) == at_rest
            case "complete":
                now = decide_completion(now, there) or now
            case "elect":
                election = decide_leader(now, there)
                now = now if election is None else election.state
            case "join":
                joining = data.draw(st.sampled_from(now.replicas))
                members = {*now.isr, joining} if now.leader != NO_LEADER else set(now.isr)
                lives = {joining: BEFORE}
                before = now = now.with_isr(tuple(one for one in now.replicas if one in members), lives)
        assert now.isr
        assert set(now.isr) <= set(now.replicas)
        assert set(now.isr) <= set(before.isr), "nobody joins but by fetching"
        assert now.leader == NO_LEADER or now.leader in now.isr
        assert set(now.adding) <= set(now.replicas)
        assert set(now.removing) <= set(now.replicas)
        assert len(set(now.replicas)) == len(now.replicas)
        assert now.leader_epoch >= before.leader_epoch
        if now.leader != before.leader:
            assert now.leader_epoch > before.leader_epoch
        if not now.is_being_reassigned:
            at_rest = set(now.replicas)
