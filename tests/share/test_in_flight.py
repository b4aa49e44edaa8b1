"""Acquiring and acknowledging, case by case."""

import pytest

from penstock.errors import ApiError, ErrorCode
from penstock.share.acknowledgements import Acknowledgement, AcknowledgeType, check_acknowledgements
from penstock.share.in_flight import Acquired, Fetched, InFlight, Limits, Span, Wanted
from penstock.share.runs import RecordState, StateBatch

ACCEPT, RELEASE, REJECT = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.REJECT
LIMITS = Limits(max_delivery_count=5, max_in_flight=2000, lock_duration_ms=30_000)


def batches(*sizes: int, first: int = 0) -> list[Span]:
    spans = []
    for size in sizes:
        spans.append(Span(first, first + size - 1))
        first += size
    return spans


def acquire(
    window: InFlight,
    spans: list[Span],
    member: str = "alice",
    wanted: Wanted | None = None,
    limits: Limits = LIMITS,
    **options: list[Span],
) -> list[Acquired]:
    fetched = Fetched(window.next_fetch_offset(), spans, **options)
    return window.acquire(member, fetched, wanted or Wanted(500), limits, now_ms=0)


def say(window: InFlight, first: int, last: int, *kinds: int, member: str = "alice") -> list[StateBatch]:
    transition = window.acknowledge(member, [Acknowledgement(first, last, kinds)], LIMITS, now_ms=0)
    window.commit(transition)
    return transition.batches


def shape(window: InFlight) -> str:
    letters = {0: "-", 1: "A", 2: "k", 4: "x"}
    return "".join(letters[run.state] * run.size for run in window.runs())


def test_batches_come_whole_unless_the_limit_is_strict() -> None:
    assert acquire(InFlight(0), batches(4, 4, 4), wanted=Wanted(5)) == [Acquired(0, 7, 1)]
    assert acquire(InFlight(0), batches(4, 4, 4), wanted=Wanted(5, is_strict=True)) == [Acquired(0, 4, 1)]


def test_what_a_strict_limit_cut_off_is_next() -> None:
    window = InFlight(0)
    acquire(window, batches(4), wanted=Wanted(3, is_strict=True))
    assert window.next_fetch_offset() == 3
    assert acquire(window, batches(4, 2), "bob") == [Acquired(3, 5, 1)]


def test_new_records_come_in_pieces_of_about_the_batch_size() -> None:
    acquired = acquire(InFlight(0), batches(2, 2, 2, 2, 5), wanted=Wanted(100, batch_size=3))
    assert acquired == [Acquired(0, 3, 1), Acquired(4, 7, 1), Acquired(8, 12, 1)]


def test_a_group_may_begin_inside_a_batch() -> None:
    assert acquire(InFlight(5), batches(10)) == [Acquired(5, 9, 1)]


def test_a_full_window_gives_only_what_comes_back() -> None:
    limits = LIMITS._replace(max_in_flight=10)
    window = InFlight(0)
    assert acquire(window, batches(5, 5, 5), limits=limits) == [Acquired(0, 9, 1)]
    assert not window.can_acquire(limits)
    say(window, 3, 4, RELEASE)
    assert window.can_acquire(limits)
    assert acquire(window, batches(5, 5, 5), "bob", limits=limits) == [Acquired(3, 4, 2)]


def test_the_window_begins_where_something_is_not_done_with() -> None:
    window = InFlight(0)
    acquire(window, batches(10))
    say(window, 2, 4, ACCEPT)
    assert (window.start_offset, shape(window), window.finished_count) == (0, "AAkkkAAAAA", 3)
    say(window, 0, 1, REJECT)
    assert (window.start_offset, shape(window)) == (5, "AAAAA")
    say(window, 5, 9, ACCEPT)
    assert (window.start_offset, window.next_offset, shape(window)) == (10, 10, "")


def test_each_record_may_be_spoken_of_for_itself() -> None:
    window = InFlight(0)
    acquire(window, batches(5))
    stored = say(window, 0, 4, RELEASE, ACCEPT, ACCEPT, AcknowledgeType.GAP, AcknowledgeType.RENEW)
    assert stored == [
        StateBatch(0, 0, RecordState.AVAILABLE, 1),
        StateBatch(1, 2, RecordState.ACKNOWLEDGED, 1),
        StateBatch(3, 3, RecordState.ARCHIVED, 1),
    ]
    assert shape(window) == "-kkxA"


def test_offsets_that_the_log_does_not_have_are_skipped() -> None:
    window = InFlight(0)
    acquire(window, batches(3))
    say(window, 0, 2, RELEASE)
    compacted = Fetched(0, batches(4, first=2))
    assert window.acquire("bob", compacted, Wanted(500), LIMITS, 0) == [Acquired(2, 2, 2), Acquired(3, 5, 1)]
    assert window.start_offset == 2


def test_a_hole_between_batches_is_nobodys() -> None:
    window = InFlight(0)
    acquire(window, batches(3))
    window.acquire("bob", Fetched(3, batches(2, first=7)), Wanted(500), LIMITS, 0)
    assert shape(window) == "AAAxxxxAA"
    say(window, 0, 2, ACCEPT)
    assert window.start_offset == 7


def test_aborted_records_are_given_to_nobody() -> None:
    window = InFlight(0)
    acquired = acquire(window, batches(3, 2, 3), aborted=[Span(3, 4)])
    assert acquired == [Acquired(0, 2, 1), Acquired(5, 7, 1)]
    assert shape(window) == "AAAxxAAA"


def test_suspects_are_delivered_in_ever_smaller_company() -> None:
    """With a limit of 5, from the third failure on: a half of them, then one alone."""
    window = InFlight(0)
    sizes = []
    for _ in range(LIMITS.max_delivery_count):
        acquired = acquire(window, batches(16, 4))
        sizes.append(sum(run.last_offset - run.first_offset + 1 for run in acquired))
        say(window, acquired[0].first_offset, acquired[-1].last_offset, RELEASE)
    assert sizes == [20, 20, 20, 10, 1]
    assert window.start_offset == 1, "the first record was delivered five times, and is given up"


def test_what_nothing_is_known_of_is_available_after_a_restart() -> None:
    stored = [
        StateBatch(5, 6, RecordState.ACKNOWLEDGED, 1),
        StateBatch(7, 7, RecordState.AVAILABLE, 2),
        StateBatch(10, 11, RecordState.ARCHIVED, 5),
    ]
    window = InFlight(3, stored)
    assert (window.start_offset, window.next_offset, shape(window)) == (3, 12, "--kk---xx")
    acquired = acquire(window, batches(20))
    assert acquired == [Acquired(3, 4, 1), Acquired(7, 7, 3), Acquired(8, 9, 1), Acquired(12, 19, 1)]


def test_a_failed_acknowledgement_gives_the_records_back_to_their_member() -> None:
    window = InFlight(0)
    acquire(window, batches(4))
    transition = window.acknowledge("alice", [Acknowledgement(0, 3, [ACCEPT])], LIMITS, now_ms=0)
    assert window.next_fetch_offset() == 4, "nobody else gets them meanwhile"
    window.roll_back(transition, LIMITS, now_ms=10)
    assert shape(window) == "AAAA"
    transition = window.acknowledge("alice", [Acknowledgement(0, 3, [ACCEPT])], LIMITS, now_ms=0)
    window.roll_back(transition, LIMITS, now_ms=LIMITS.lock_duration_ms)
    assert shape(window) == "----", "its lock has ended meanwhile"


def test_a_renewed_lock_lasts_longer() -> None:
    window = InFlight(0)
    acquire(window, batches(4))
    window.acknowledge("alice", [Acknowledgement(1, 2, [AcknowledgeType.RENEW])], LIMITS, now_ms=20_000)
    assert window.next_deadline_ms() == 30_000
    assert window.expire_locks(LIMITS, 30_000) == [
        StateBatch(0, 0, RecordState.AVAILABLE, 1),
        StateBatch(3, 3, RecordState.AVAILABLE, 1),
    ]
    assert window.next_deadline_ms() == 50_000


def test_the_log_start_takes_records_away() -> None:
    window = InFlight(0)
    acquire(window, batches(10))
    window.on_log_start(4)
    assert (window.start_offset, shape(window)) == (4, "AAAAAA")
    assert say(window, 0, 5, ACCEPT) == [StateBatch(4, 5, RecordState.ACKNOWLEDGED, 1)]
    assert say(window, 0, 3, ACCEPT) == [], "which is no error"
    window.on_log_start(50)
    assert (window.start_offset, window.next_offset, shape(window)) == (50, 50, "")


@pytest.mark.parametrize(
    ("first", "last", "member", "code"),
    [
        (0, 1, "bob", ErrorCode.INVALID_RECORD_STATE),
        (4, 5, "alice", ErrorCode.INVALID_RECORD_STATE),
        (8, 10, "alice", ErrorCode.INVALID_REQUEST),
        (10, 12, "alice", ErrorCode.INVALID_REQUEST),
    ],
    ids=["not its own", "done already", "the end is beyond", "all beyond"],
)
def test_what_is_refused_changes_nothing(first: int, last: int, member: str, code: ErrorCode) -> None:
    window = InFlight(0)
    acquire(window, batches(10))
    say(window, 5, 5, ACCEPT)
    said = [Acknowledgement(2, 3, [ACCEPT]), Acknowledgement(first, last, [ACCEPT])]
    with pytest.raises(ApiError) as refused:
        window.acknowledge(member, said, LIMITS, now_ms=0)
    assert refused.value.code == code
    assert shape(window) == "AAAAAkAAAA"


def test_nothing_is_in_flight_of_an_empty_window() -> None:
    with pytest.raises(ApiError) as refused:
        say(InFlight(10), 10, 11, ACCEPT)
    assert refused.value.code == ErrorCode.INVALID_RECORD_STATE


def check(*said: tuple[int, int, list[int]], knows_renewal: bool = True, is_renewal: bool = False) -> None:
    acknowledgements = [Acknowledgement(*one) for one in said]
    check_acknowledgements(acknowledgements, knows_renewal=knows_renewal, is_renewal=is_renewal)


def test_what_can_be_meant() -> None:
    check((0, 4, [1]))
    check((0, 1, [0, 3]), (2, 2, [2]))
    check((0, 4, [4]), is_renewal=True)


@pytest.mark.parametrize(
    "said",
    [
        [(4, 0, [1])],
        [(0, 4, [])],
        [(0, 4, [1, 1])],
        [(0, 4, [5])],
        [(0, 4, [-1])],
        [(0, 4, [4])],
        [(5, 9, [1]), (0, 4, [1])],
    ],
)
def test_what_cannot_be_meant(said: list[tuple[int, int, list[int]]]) -> None:
    with pytest.raises(ApiError) as refused:
        check(*said)
    assert refused.value.code == ErrorCode.INVALID_REQUEST


def test_renewal_is_for_those_who_know_it() -> None:
    with pytest.raises(ApiError):
        check((0, 4, [4]), knows_renewal=False, is_renewal=True)
