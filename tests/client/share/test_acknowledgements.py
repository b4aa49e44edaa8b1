from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.client.share.acknowledgements import (
    Acknowledgements,
    AcknowledgeType,
    Run,
    SharePartition,
    runs,
)

PLACE, OTHER = SharePartition(b"a" * 16, 0), SharePartition(b"a" * 16, 1)
ACCEPT, RELEASE, GAP = AcknowledgeType.ACCEPT, AcknowledgeType.RELEASE, AcknowledgeType.GAP


def test_neighbours_with_the_same_answer_make_a_run() -> None:
    answers = {5: ACCEPT, 3: ACCEPT, 4: ACCEPT, 6: RELEASE, 8: RELEASE, 9: GAP}
    assert list(runs(answers)) == [Run(3, 5, ACCEPT), Run(6, 6, RELEASE), Run(8, 8, RELEASE), Run(9, 9, GAP)]


@given(st.dictionaries(st.integers(0, 60), st.sampled_from(AcknowledgeType), max_size=40))
def test_runs_say_what_the_answers_say(answers: dict[int, AcknowledgeType]) -> None:
    said = {
        offset: run.how for run in runs(answers) for offset in range(run.first_offset, run.last_offset + 1)
    }
    assert said == answers


def test_what_was_taken_is_gone() -> None:
    pending = Acknowledgements()
    pending.add(PLACE, 1, ACCEPT)
    pending.add(PLACE, 1, RELEASE)
    pending.add(OTHER, 7, ACCEPT)
    assert pending.partitions() == {PLACE, OTHER}
    assert pending.take(PLACE) == [Run(1, 1, RELEASE)]
    assert pending.take(PLACE) == []
    assert pending.partitions() == {OTHER}
