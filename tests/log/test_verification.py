"""Transactions that are new to a partition: what it remembers while their coordinator is asked."""

import pytest

from penstock.errors import ApiError, ErrorCode
from penstock.log.producer_state import AppendOrigin, ProducerState
from penstock.log.verification import Verification
from penstock.records.batch import Batch
from penstock.records.builder import build_batch, build_end_transaction_marker
from penstock.records.reader import Record

DAY_MS = 86_400_000


def batch(sequence: int, *, epoch: int = 0, offset: int = 0) -> Batch:
    record = Record(offset, 0, None, b"")
    return build_batch(
        [record], producer_id=7, producer_epoch=epoch, base_sequence=sequence, is_transactional=True
    )


def marker(epoch: int, offset: int) -> Batch:
    built = build_end_transaction_marker(
        is_commit=False, producer_id=7, producer_epoch=epoch, coordinator_epoch=0, timestamp=0
    )
    built.assign(offset, 0)
    return built


def replay(state: ProducerState, *batches: Batch) -> None:
    for one in batches:
        completed = state.replay(one)
        if completed is not None:
            state.complete(completed)


def start(state: ProducerState, one: Batch, *, raises_epoch: bool = True) -> Verification:
    return state.start_verification(one, 0, raises_epoch=raises_epoch)


def refusal(state: ProducerState, one: Batch) -> ErrorCode:
    with pytest.raises(ApiError) as caught:
        state.check([one], AppendOrigin.CLIENT)
    return caught.value.code


def test_a_transaction_is_known_from_its_first_record_to_its_marker() -> None:
    state = ProducerState()
    assert not state.is_in_transaction(batch(0))
    replay(state, batch(0))
    assert state.is_in_transaction(batch(1))
    assert not state.is_in_transaction(batch(0, epoch=1))
    replay(state, marker(1, offset=1))
    assert not state.is_in_transaction(batch(0, epoch=1))


def test_a_stale_epoch_is_not_worth_a_question() -> None:
    state = ProducerState()
    replay(state, batch(0), marker(1, offset=1))
    with pytest.raises(ApiError) as caught:
        start(state, batch(1))
    assert caught.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
    assert state.verifications == {}


def test_the_first_record_settles_it() -> None:
    state = ProducerState()
    start(state, batch(0))
    assert start(state, batch(0)) is state.verifications[7], "a repeated question is the same question"
    replay(state, batch(0))
    assert state.verifications == {}


@pytest.mark.parametrize(
    ("raises_epoch", "epoch", "survives"), [(False, 0, False), (True, 0, False), (True, 1, True)]
)
def test_a_marker_settles_it_unless_it_ends_the_transaction_before(
    raises_epoch: bool, epoch: int, survives: bool
) -> None:
    """With protocol 2 the next transaction may ask with its epoch before the marker is here that brings it."""
    state = ProducerState()
    replay(state, batch(0))
    start(state, batch(0, epoch=epoch), raises_epoch=raises_epoch)
    replay(state, marker(1 if raises_epoch else 0, offset=1))
    assert bool(state.verifications) is survives


def test_a_producer_that_goes_back_to_protocol_1_is_settled_by_its_marker() -> None:
    state = ProducerState()
    start(state, batch(0), raises_epoch=True)
    start(state, batch(0, epoch=1), raises_epoch=False)
    replay(state, marker(1, offset=0))
    assert state.verifications == {}


def test_a_batch_does_not_overtake_one_that_was_refused() -> None:
    state = ProducerState()
    start(state, batch(5), raises_epoch=False)
    start(state, batch(8), raises_epoch=False)
    assert refusal(state, batch(8)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    start(state, batch(3), raises_epoch=False)
    assert refusal(state, batch(5)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    state.check([batch(3)], AppendOrigin.CLIENT)
    start(state, batch(9, epoch=1), raises_epoch=False)
    state.check([batch(9, epoch=1)], AppendOrigin.CLIENT)


def test_in_protocol_2_a_producer_without_records_starts_at_zero() -> None:
    state = ProducerState()
    start(state, batch(4))
    assert refusal(state, batch(4)) == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    start(state, batch(0))
    state.check([batch(0)], AppendOrigin.CLIENT)


def test_questions_that_nobody_came_back_to_are_forgotten() -> None:
    state = ProducerState()
    start(state, batch(0))
    state.expire(DAY_MS - 1, DAY_MS)
    assert state.verifications
    state.expire(DAY_MS, DAY_MS)
    assert state.verifications == {}


@pytest.mark.parametrize(
    ("epoch", "is_open", "is_taken"), [(1, True, True), (0, True, False), (1, False, True)]
)
def test_a_marker_of_protocol_2_raises_the_epoch_or_repeats_the_last_one(
    epoch: int, is_open: bool, is_taken: bool
) -> None:
    state = ProducerState()
    replay(state, batch(0))
    if not is_open:
        replay(state, marker(1, offset=1))
    new = marker(epoch, offset=2)
    if is_taken:
        state.check([new], AppendOrigin.RAISING_COORDINATOR)
    else:
        with pytest.raises(ApiError) as caught:
            state.check([new], AppendOrigin.RAISING_COORDINATOR)
        assert caught.value.code == ErrorCode.INVALID_PRODUCER_EPOCH
        state.check([new], AppendOrigin.COORDINATOR)
