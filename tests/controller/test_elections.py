"""Who leads, and who is in sync, as brokers come and go."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.controller.elections import (
    Brokers,
    ElectionType,
    decide_asked_election,
    decide_first_leader,
    decide_leader,
    decide_preferred_leader,
    is_led,
)
from penstock.controller.image import BrokerImage
from penstock.errors import ApiError, ErrorCode
from penstock.replica.replica_set import NO_LEADER, ReplicaSet
from penstock.types import FIRST_LIFE

WRITTEN = 100
BEFORE, AFTER = WRITTEN - 50, WRITTEN + 50


def brokers(
    *there: int, back: tuple[int, ...] = (), power_cut: tuple[int, ...] = (), leaving: tuple[int, ...] = ()
) -> Brokers:
    """Those that have been there since before the state was written, and those that were started again since."""
    return {
        broker_id: BrokerImage(
            broker_id,
            {},
            epoch=BEFORE if broker_id in there else AFTER,
            is_leaving=broker_id in leaving,
            whole_since=AFTER if broker_id in power_cut else FIRST_LIFE,
        )
        for broker_id in (*there, *back, *power_cut)
    }


def state(
    isr: tuple[int, ...], leader: int, replicas: tuple[int, ...] = (1, 2, 3), epoch: int = 5
) -> ReplicaSet:
    return ReplicaSet(replicas, isr, leader, epoch, version=7, zxid=WRITTEN)


@pytest.mark.parametrize(
    ("known", "live", "isr", "leader", "epoch"),
    [
        (state((1, 2, 3), 1), brokers(2, 3), (2, 3), 2, 6),  # the leader is gone
        (state((1, 2, 3), 1), brokers(1, 2), (1, 2), 1, 5),  # a follower is gone: same epoch
        (state((1, 3), 1), brokers(2, 3), (1, 3), 3, 6),  # never who is not in sync; who is gone, 3 will say
        (state((1, 3), 1), brokers(2, 3, back=(1,)), (1, 3), 3, 6),
        (state((1, 3), 1), brokers(2, 3, power_cut=(1,)), (3,), 3, 6),
        (state((1, 3), 1), brokers(1, 2), None, None, None),  # that it is alone is for the leader to say
        (state((1,), 1), brokers(2, 3), (1,), NO_LEADER, 6),  # nobody has all that is committed
        (state((1,), NO_LEADER), brokers(1, 2), (1,), 1, 6),
        (state((1, 2, 3), 1), brokers(2, 3, back=(1,)), (2, 3), 2, 6),  # killed, and back at once
        (state((1, 2, 3), 1), brokers(1, 3, back=(2,)), (1, 3), 1, 5),
        (
            state((1, 2, 3), 1),
            brokers(back=(1, 2, 3)),
            (1, 2, 3),
            1,
            6,
        ),  # all were killed, with what they had
        (state((1, 2, 3), 1), brokers(back=(2, 3), power_cut=(1,)), (2, 3), 2, 6),
        (state((2, 3), 3), brokers(1, back=(2,)), (2, 3), 2, 6),
        (
            state((1, 2), 1),
            brokers(3, power_cut=(1,)),
            (1, 2),
            NO_LEADER,
            6,
        ),  # broker 2 may have what is lost
        (state((1, 2), NO_LEADER), brokers(3, power_cut=(1,)), None, None, None),
        (state((1, 2), NO_LEADER), brokers(back=(2,), power_cut=(1,)), (2,), 2, 6),
        (state((1, 2), NO_LEADER), brokers(power_cut=(1, 2)), (1,), 1, 6),  # nobody can have more
        (state((1, 2, 3), NO_LEADER), brokers(back=(2,), power_cut=(1,)), (2, 3), 2, 6),
        (state((1,), 1), brokers(2, 3, power_cut=(1,)), (1,), 1, 6),
        (state((1,), 1, (1,)), brokers(power_cut=(1,)), None, None, None),
        (state((1, 2, 3), 1), brokers(1, 2, 3, leaving=(1,)), (2, 3), 2, 6),  # a controlled shutdown
        (state((1, 2, 3), 1), brokers(1, 2, 3, leaving=(3,)), (1, 2), 1, 5),
        (state((1, 2), 1), brokers(2, 3, leaving=(2,)), (1, 2), 2, 6),  # who leaves is better than nobody
        (state((1,), 1, (1,)), brokers(back=(1,)), None, None, None),  # nobody to compare with
        (state((1, 2, 3), 1), brokers(1, 2, 3), None, None, None),
        (state((1,), 1), brokers(1, 2, 3), None, None, None),  # who comes back joins by fetching
        (state((1,), 1), brokers(1, 2, leaving=(1,)), None, None, None),  # nobody could take over
        (state((1,), NO_LEADER), brokers(2, 3), None, None, None),
    ],
)
def test_the_leader_that_is_chosen(
    known: ReplicaSet, live: Brokers, isr: tuple[int, ...] | None, leader: int | None, epoch: int | None
) -> None:
    election = decide_leader(known, live)
    if isr is None:
        assert election is None
        return
    assert election is not None
    assert not election.is_unclean
    assert (election.state.isr, election.state.leader, election.state.leader_epoch) == (isr, leader, epoch)


def test_an_unclean_election_is_told() -> None:
    election = decide_leader(state((1,), 1), brokers(2, 3), allow_unclean=True)
    assert election is not None
    assert election.is_unclean
    assert election.state.leader == 2
    assert election.state.isr == (2,)


def test_an_unclean_election_prefers_who_was_in_sync() -> None:
    election = decide_leader(state((2, 3), 3), brokers(1, power_cut=(2,)), allow_unclean=True)
    assert election is not None
    assert election.is_unclean
    assert election.state.leader == 2


def test_what_was_lost_in_an_earlier_life_is_lost_in_all_that_follow() -> None:
    killed_since = {1: BrokerImage(1, {}, epoch=AFTER + 10, whole_since=AFTER)}
    about_a_life_before = replace(state((1, 2), NO_LEADER), lives=(BEFORE, BEFORE))
    about_the_one_since = replace(state((1, 2), NO_LEADER), lives=(AFTER, BEFORE))
    assert decide_leader(about_a_life_before, killed_since) is None
    election = decide_leader(about_the_one_since, killed_since)
    assert election is not None
    assert election.state.leader == 1


def test_a_clean_election_goes_before_an_unclean_one() -> None:
    election = decide_leader(state((1, 3), 1), brokers(2, 3), allow_unclean=True)
    assert election is not None
    assert not election.is_unclean
    assert election.state.leader == 3


def test_who_may_lead() -> None:
    assert is_led(state((1, 2), 1), brokers(1, 2))
    assert not is_led(state((1, 2), 1), brokers(2, back=(1,))), "the state is about an earlier life"
    assert is_led(state((1,), 1, (1,)), brokers(back=(1,))), "there is no other replica"
    assert not is_led(state((1, 2), NO_LEADER), brokers(1, 2))


def test_a_state_that_was_written_without_knowing_of_a_restart_is_about_the_earlier_life() -> None:
    known = replace(state((1, 2), 1), lives=(BEFORE, BEFORE))
    rewritten = replace(known.with_isr((1, 2, 3), {3: BEFORE}), zxid=AFTER + 1)
    assert rewritten.lives == (BEFORE, BEFORE, BEFORE)
    election = decide_leader(rewritten, brokers(1, 3, back=(2,)))
    assert election is not None
    assert (election.state.isr, election.state.lives) == ((1, 3), (BEFORE, BEFORE))
    one = decide_leader(rewritten, brokers(back=(2,)))
    assert one is not None
    assert (one.state.leader, one.state.isr, one.state.lives) == (
        2,
        (1, 2, 3),
        (BEFORE, AFTER, BEFORE),
    )


def test_a_state_of_another_maker_has_no_lives_until_all_are_known() -> None:
    assert state((1, 2), 1).with_isr((1, 2, 3), {3: AFTER}).lives == ()
    assert state((1, 2), 1).with_leader(2, (2,), {2: AFTER}).lives == (AFTER,)


def test_the_first_leader() -> None:
    assert decide_first_leader((3, 1, 2), brokers(1, 2)) == ReplicaSet(
        (3, 1, 2), (1, 2), 1, 0, lives=(BEFORE, BEFORE)
    )
    assert decide_first_leader((3, 1), brokers()) == ReplicaSet((3, 1), (3, 1), NO_LEADER, 0)
    assert decide_first_leader((3, 1), brokers(1, 3, leaving=(3,))).leader == 1


def test_the_preferred_leader() -> None:
    moved = decide_preferred_leader(state((1, 2), 2), brokers(1, 2))
    assert moved is not None
    assert moved.leader == 1
    assert moved.leader_epoch == 6
    assert decide_preferred_leader(state((1, 2), 1), brokers(1, 2)) is None
    assert decide_preferred_leader(state((2, 3), 2), brokers(1, 2, 3)) is None, "not in sync"
    assert decide_preferred_leader(state((1, 2), 2), brokers(1, 2, leaving=(1,))) is None


PREFERRED, UNCLEAN = ElectionType.PREFERRED, ElectionType.UNCLEAN


@pytest.mark.parametrize(
    ("known", "live", "election_type", "expected"),
    [
        (state((1, 2), 2), brokers(1, 2), PREFERRED, ((1, 2), 1, 6)),
        (state((1, 2), 1), brokers(1, 2), PREFERRED, ErrorCode.ELECTION_NOT_NEEDED),
        (state((1, 2), 2), brokers(4), UNCLEAN, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE),  # it has just gone
        (state((2,), 2), brokers(1, 2), PREFERRED, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),  # lags
        (state((1, 2), 2), brokers(2), PREFERRED, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
        (state((1, 2), 2), brokers(2, back=(1,)), PREFERRED, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
        (state((1,), NO_LEADER), brokers(2), PREFERRED, ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE),
        (state((1, 2), 2), brokers(1, 2), UNCLEAN, ErrorCode.ELECTION_NOT_NEEDED),
        (state((1,), NO_LEADER), brokers(2, 3), UNCLEAN, ((2,), 2, 6)),
        (state((1,), NO_LEADER), brokers(1, 2), UNCLEAN, ((1,), 1, 6)),  # who was in sync goes before
        (state((1,), NO_LEADER), brokers(), UNCLEAN, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE),
        (state((1,), NO_LEADER), brokers(4), UNCLEAN, ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE),
    ],
)
def test_elections_that_somebody_asks_for(
    known: ReplicaSet,
    live: Brokers,
    election_type: ElectionType,
    expected: tuple[tuple[int, ...], int, int] | ErrorCode,
) -> None:
    if isinstance(expected, ErrorCode):
        with pytest.raises(ApiError) as refused:
            decide_asked_election(known, live, election_type)
        assert refused.value.code == expected
    else:
        chosen = decide_asked_election(known, live, election_type)
        assert (chosen.isr, chosen.leader, chosen.leader_epoch) == expected
        assert chosen.version == known.version, "what is compared with before it is written"


IDS = (1, 2, 3)


@given(
    isr=st.sets(st.sampled_from(IDS), min_size=1),
    has_leader=st.booleans(),
    there=st.sets(st.sampled_from(IDS)),
    back=st.sets(st.sampled_from(IDS)),
    leaving=st.sets(st.sampled_from(IDS)),
    allow_unclean=st.booleans(),
    data=st.data(),
)
def test_what_always_holds(
    isr: set[int],
    has_leader: bool,
    there: set[int],
    back: set[int],
    leaving: set[int],
    allow_unclean: bool,
    data: st.DataObject,
) -> None:
    leader = data.draw(st.sampled_from(sorted(isr))) if has_leader else NO_LEADER
    known = state(tuple(sorted(isr)), leader)
    live = brokers(*sorted(there - back), back=tuple(sorted(back)), leaving=tuple(sorted(leaving)))
    election = decide_leader(known, live, allow_unclean=allow_unclean)
    if election is None:
        return
    chosen = election.state
    assert chosen.isr
    assert set(chosen.isr) <= set(IDS)
    if not election.is_unclean:
        assert set(chosen.isr) <= isr, "nobody joins by an election"
        assert chosen.leader == NO_LEADER or chosen.leader in chosen.isr
    if chosen.leader != known.leader:
        assert chosen.leader_epoch == known.leader_epoch + 1
    if chosen.leader != NO_LEADER:
        assert chosen.leader in live
    again = decide_leader(replace(chosen, zxid=AFTER + 1), live, allow_unclean=allow_unclean)
    assert again is None or again.state.leader == chosen.leader, "what was decided stays"
