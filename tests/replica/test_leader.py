"""What a leader knows of its replicas: the high watermark, and who is in sync."""

from dataclasses import replace

from penstock.replica.leader import LeaderState
from penstock.replica.replica_set import ReplicaSet

LAG_MS = 10_000


def nobody_is_new(_: int) -> bool:
    return False


def leading(isr: tuple[int, ...] = (1, 2, 3), end: int = 10, high_watermark: int = 5) -> LeaderState:
    return LeaderState.begin(1, ReplicaSet((1, 2, 3), isr, 1, 4), high_watermark, end, now_ms=0)


def test_the_high_watermark_waits_for_all_in_sync() -> None:
    leader = leading()
    assert leader.high_watermark == 5, "a new leader does not know how far the others are"
    assert not leader.on_fetch(2, 10, 10, 1)
    assert leader.on_fetch(3, 8, 10, 1)
    assert leader.high_watermark == 8
    assert leader.on_fetch(3, 10, 10, 2)
    assert leader.high_watermark == 10
    assert not leader.on_log_end_offset(12)


def test_who_is_alone_need_not_wait() -> None:
    leader = leading(isr=(1,))
    assert leader.high_watermark == 10
    assert leader.on_log_end_offset(11)
    assert leader.high_watermark == 11
    assert not leader.on_fetch(2, 3, 11, 1), "who is not in sync does not hold it up"


def test_it_never_goes_back() -> None:
    leader = leading()
    leader.on_fetch(2, 10, 10, 1)
    leader.on_fetch(3, 10, 10, 1)
    assert not leader.on_fetch(3, 2, 10, 2), "a follower that has lost records"
    assert leader.high_watermark == 10


def test_who_has_all_that_is_committed_joins() -> None:
    leader = leading(isr=(1, 2), end=10, high_watermark=8)
    leader.on_fetch(2, 9, 10, 1)
    leader.on_fetch(3, 8, 10, 1)
    assert leader.decide_joining(3) is None, "it lacks what is committed"
    leader.on_fetch(3, 9, 10, 1)
    assert leader.decide_joining(3) is None, "it has nothing of this epoch, which begins at 10"
    leader.on_fetch(3, 10, 10, 1)
    assert leader.decide_joining(3) == (1, 2, 3)
    assert leader.decide_joining(2) is None, "it is in sync"


def test_both_sets_count_while_a_change_is_under_way() -> None:
    leader = leading(isr=(1,), end=10)
    leader.on_fetch(2, 10, 10, 1)
    wanted = leader.decide_joining(2)
    assert wanted == (1, 2)
    leader.ask_for(wanted)
    assert not leader.on_log_end_offset(15), "the new member may be in sync by now"
    assert leader.high_watermark == 10
    assert leader.decide_joining(3) is None, "one change at a time"
    leader.forget_wish()
    assert leader.on_log_end_offset(15)
    assert leader.high_watermark == 15


def test_who_leaves_holds_the_high_watermark_until_it_has_left() -> None:
    leader = leading(isr=(1, 2), end=10)
    leader.on_fetch(2, 10, 10, 1)
    leader.on_log_end_offset(20)
    assert leader.decide_leaving(20, LAG_MS, LAG_MS, nobody_is_new) is None
    wanted = leader.decide_leaving(20, LAG_MS + 2, LAG_MS, nobody_is_new)
    assert wanted == (1,)
    leader.ask_for(wanted)
    assert not leader.on_log_end_offset(20)
    assert leader.high_watermark == 10
    leader.on_replica_set(replace(leader.replica_set, isr=(1,), version=8))
    assert leader.on_log_end_offset(20)
    assert leader.high_watermark == 20


def test_who_was_at_the_end_at_its_last_fetch_does_not_lag() -> None:
    leader = leading(isr=(1, 2), end=10)
    for now_ms in range(0, 5 * LAG_MS, 1000):
        end = 10 + now_ms
        leader.on_fetch(2, max(10, end - 1000), end, now_ms)  # always one fetch behind a steady producer
        assert leader.decide_leaving(end, now_ms, LAG_MS, nobody_is_new) is None


def test_who_does_not_fetch_is_silent_whatever_it_has() -> None:
    leader = leading(isr=(1, 2), end=10)
    assert not leader.awaits_silent_replica(LAG_MS, LAG_MS), "it is given time"
    assert leader.awaits_silent_replica(LAG_MS + 1, LAG_MS)
    leader.on_fetch(2, 5, 10, 2 * LAG_MS)
    assert not leader.awaits_silent_replica(2 * LAG_MS, LAG_MS), "it is only behind"
    leader.on_replica_set(replace(leader.replica_set, isr=(1,), version=8))
    assert not leader.awaits_silent_replica(9 * LAG_MS, LAG_MS), "nobody waits for it"


def test_who_was_started_anew_leaves() -> None:
    leader = leading(isr=(1, 2, 3))
    assert leader.decide_leaving(10, 1, LAG_MS, lambda broker_id: broker_id == 3) == (1, 2)


def test_progress_is_kept_when_others_are_in_sync() -> None:
    leader = leading(isr=(1, 2))
    leader.on_fetch(2, 10, 10, 1)
    leader.on_replica_set(replace(leader.replica_set, isr=(1, 2, 3), version=8))
    assert leader.followers[2].log_end_offset == 10


def test_how_many_are_enough() -> None:
    assert leading(isr=(1, 2)).has_enough_in_sync(2)
    assert not leading(isr=(1,)).has_enough_in_sync(2)
    assert leading(isr=(1, 2, 3)).has_enough_in_sync(5), "more than there are replicas is all of them"
