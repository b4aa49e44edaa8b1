"""That the checker finds each anomaly that it is there for, and none where there is none."""

import pytest

from tests.faults.history import (
    Acknowledged,
    Anomaly,
    Outcome,
    Owns,
    Read,
    Step,
    Stored,
    Transaction,
    find_in_offsets,
    find_in_reader,
    find_in_transactions,
    find_in_writes,
    find_unread,
    require_none,
)

OWNS_ALL, OWNS_NONE = Owns(frozenset({0})), Owns(frozenset())


def log_of(*numbers: int, first: int = 0) -> list[Stored]:
    return [Stored(offset, number) for offset, number in enumerate(numbers, first)]


def kinds(found: list[Anomaly]) -> list[str]:
    return [anomaly.kind for anomaly in found]


# writes


def acknowledged(*numbers: int) -> list[Acknowledged]:
    return [Acknowledged(number, None) for number in numbers]


def test_writes_that_are_fine() -> None:
    assert not find_in_writes(log_of(0, 1, 2, 3), [Acknowledged(0, 0), Acknowledged(2, 2)], 5, once=True)
    assert not find_in_writes(
        log_of(0, 1, 0, 1, 2), [Acknowledged(1, 3), Acknowledged(2, None)], 3, once=False
    )


@pytest.mark.parametrize(
    ("log", "told", "kind"),
    [
        (log_of(0, 1, 3), acknowledged(0, 1, 2, 3), "lost write"),
        (log_of(0, 1, 2), [Acknowledged(1, 2)], "moved write"),
        (log_of(0, 2, 1), acknowledged(0), "reordered write"),
        (log_of(0, 1, 2), acknowledged(0, 2, 1), "reordered write"),
        (log_of(0, 1, 1, 2), acknowledged(0), "doubled write"),
        (log_of(0, 1, 2, 9), acknowledged(0), "unknown write"),
    ],
)
def test_writes_that_are_not(log: list[Stored], told: list[Acknowledged], kind: str) -> None:
    assert kinds(find_in_writes(log, told, 4, once=True)) == [kind]


def test_only_an_idempotent_producer_must_not_double() -> None:
    assert not find_in_writes(log_of(0, 1, 1, 2), acknowledged(0, 1), 3, once=False)


# reads


def reads(*offsets: int) -> list[Step]:
    return [Read(0, offset, 10 + offset) for offset in offsets]


LOG = log_of(10, 11, 12, 13, 14)


def found_in(steps: list[Step]) -> list[str]:
    return kinds(find_in_reader("reader", {0: LOG}, steps))


def test_a_reader_that_reads_on() -> None:
    assert found_in([OWNS_ALL, *reads(1, 2, 3), OWNS_ALL, *reads(4)]) == []


def test_a_reader_that_comes_back_begins_anywhere() -> None:
    assert found_in([OWNS_ALL, *reads(0, 1, 2), OWNS_NONE, OWNS_ALL, *reads(1, 2)]) == []
    assert found_in([OWNS_ALL, *reads(0), OWNS_NONE, OWNS_ALL, *reads(4)]) == []


def test_gaps_in_the_log_are_no_gaps_of_the_reader() -> None:
    log = [Stored(0, 10), Stored(3, 13)]
    assert find_in_reader("reader", {0: log}, reads(0, 3)) == []


def test_a_poll_that_skips() -> None:
    assert found_in([OWNS_ALL, *reads(0, 1, 3)]) == ["poll that skips"]


def test_a_poll_that_goes_back() -> None:
    assert found_in([OWNS_ALL, *reads(0, 1, 1)]) == ["poll that goes back"]
    assert found_in([OWNS_ALL, *reads(2, 3), OWNS_ALL, *reads(2)]) == ["poll that goes back"]


def test_a_read_that_was_taken_back() -> None:
    assert found_in([Read(0, 1, 99)]) == ["changed read"]
    assert found_in([Read(0, 5, 15)]) == ["changed read"]


def test_what_a_group_has_not_read() -> None:
    found = find_unread({0: LOG}, [reads(0, 1), [OWNS_ALL, *reads(1, 3)]], lambda _: 4)
    assert [str(anomaly) for anomaly in found] == ["unread record: 12 at 0:2"]


# transactions


@pytest.mark.parametrize(
    ("outcome", "shown", "expected"),
    [
        (Outcome.COMMITTED, (1, 2), []),
        (Outcome.COMMITTED, (1,), ["lost write"]),
        (Outcome.ABORTED, (), []),
        (Outcome.ABORTED, (2,), ["aborted read"]),
        (Outcome.UNKNOWN, (), []),
        (Outcome.UNKNOWN, (1, 2), []),
        (Outcome.UNKNOWN, (2,), ["torn transaction"]),
    ],
)
def test_transactions(outcome: Outcome, shown: tuple[int, ...], expected: list[str]) -> None:
    transaction = Transaction(outcome, ((0, 1), (0, 2)))
    assert kinds(find_in_transactions({0: log_of(*shown)}, [transaction])) == expected


# committed offsets


def test_offsets_that_grow() -> None:
    assert find_in_offsets("group", [[-1, -1], [-1, 5], [3, 5], [3, 6]]) == []


@pytest.mark.parametrize("then", [[4, 4], [-1, 5]])
def test_offsets_that_go_back(then: list[int]) -> None:
    assert kinds(find_in_offsets("group", [[3, 5], then])) == ["offset that went back"]


# the verdict


def test_the_verdict_counts_by_kind() -> None:
    require_none([])
    with pytest.raises(AssertionError, match=r"7 x lost write: 0; 1; 2; 3; 4\n1 x doubled write: 8"):
        require_none(
            [*(Anomaly("lost write", str(number)) for number in range(7)), Anomaly("doubled write", "8")]
        )
