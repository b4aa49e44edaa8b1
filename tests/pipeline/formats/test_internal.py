"""What goes through internal topics comes out as it went in."""

import pytest

from penstock.pipeline.formats.internal import answer_serde, change_serde, subscription_serde
from penstock.pipeline.formats.serdes import serde_of
from penstock.pipeline.plan.foreign_keys import Answer, Instruction, Subscription
from penstock.pipeline.plan.serdes import Serde

HASH = bytes(range(16))


def text() -> Serde:
    found = serde_of("string", "value")
    assert found is not None
    return found


@pytest.mark.parametrize("change", [("new", None), (None, "old"), ("new" * 100, "old"), ("", "")])
def test_changes(change: tuple[str | None, str | None]) -> None:
    serde = change_serde(text())
    assert serde.decode("t", serde.encode("t", change)) == change


def test_a_change_from_nothing_to_nothing_is_none() -> None:
    with pytest.raises(ValueError, match="from nothing to nothing"):
        change_serde(text()).encode("t", (None, None))


@pytest.mark.parametrize("row_hash", [HASH, None])
def test_subscriptions_and_answers(row_hash: bytes | None) -> None:
    subscription = Subscription(row_hash, Instruction.PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE, "key", 7)
    serde = subscription_serde(text())
    assert serde.decode("t", serde.encode("t", subscription)) == subscription
    answers = answer_serde(text())
    for row in ("row", None):
        assert answers.decode("t", answers.encode("t", Answer(row_hash, row, 3))) == Answer(row_hash, row)
