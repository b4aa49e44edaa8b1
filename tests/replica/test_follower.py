"""Where a follower cuts its log."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.replica.follower import FollowerState, decide_truncation
from penstock.replica.replica_set import ReplicaSet

Epochs = list[int]
"""A log: the epoch of each record."""


def end_offset_for(log: Epochs, epoch: int) -> tuple[int, int]:
    """As a leader epoch cache answers."""
    if not log or epoch > log[-1]:
        return (-1, -1)
    return max((one for one in log if one <= epoch), default=epoch), sum(1 for one in log if one <= epoch)


def cut(own: Epochs, leader: Epochs) -> Epochs:
    """Fetches, and cuts, until the leader has no objection."""
    for _ in range(len(own) + 1):
        if not own:
            return own
        epoch, end = end_offset_for(leader, own[-1])
        if own[-1] > leader[-1]:  # a leader has noted its own epoch, in which nothing is written yet
            epoch, end = leader[-1], len(leader)
        if epoch == own[-1] and end >= len(own):
            return own
        offset = decide_truncation(epoch, end, lambda one: end_offset_for(own, one), len(own), 0)  # noqa: B023
        assert offset < len(own), "each round cuts something"
        own = own[:offset]
    raise AssertionError("it never ends")


epochs = st.lists(st.integers(0, 5), max_size=12).map(sorted)


@given(
    common=epochs,
    own=st.lists(st.sampled_from((1, 3, 5)), max_size=8).map(sorted),
    leader=st.lists(st.sampled_from((0, 2, 4)), min_size=1, max_size=8).map(sorted),
)
def test_what_is_left_is_a_prefix_of_the_leaders_log(common: Epochs, own: Epochs, leader: Epochs) -> None:
    """From where they part on they have no epoch in common, since an epoch has one leader."""
    last = common[-1] if common else 0
    ours = common + [last + one for one in own]
    theirs = common + [last + one for one in leader]
    left = cut(ours, theirs)
    assert left == theirs[: len(left)]


def test_unknown_epochs_leave_what_is_committed() -> None:
    assert decide_truncation(-1, -1, lambda _: (-1, -1), 10, 4) == 4


def test_the_high_watermark_is_the_leaders_as_far_as_the_log_goes() -> None:
    state = FollowerState(ReplicaSet((1, 2), (1, 2), 1, 0), 3)
    assert state.on_fetched(10, 6)
    assert state.high_watermark == 6
    assert not state.on_fetched(5, 8), "it never goes back by a fetch"
    state.on_truncated(4)
    assert state.high_watermark == 4
