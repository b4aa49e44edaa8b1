"""The share coordinator's machine: what it stores, whom it fences, and what it no longer needs."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.errors import ApiError
from penstock.group.share_state import PruneLog, SharePartitionKey, ShareState, ShareStateShard
from penstock.machine import Outcome, Ticket
from penstock.settings.broker import BrokerSettings
from penstock.wire.messages import initialize_share_group_state as initialize
from penstock.wire.messages import read_share_group_state as read
from penstock.wire.messages import write_share_group_state as write
from penstock.wire.schema import StoredMessage
from penstock.wire.stored.share_state import ShareSnapshotValue
from tests.scripts.world import Observer, World
from tests.support.examples import examples

AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4
UPDATES_PER_SNAPSHOT = 3


class Written(Observer):
    def __init__(self) -> None:
        self.kinds: list[str] = []
        self.effects: list[Any] = []

    def on_write(self, key: StoredMessage, value: StoredMessage | None, producer: Any) -> None:
        self.kinds.append("tombstone" if value is None else type(value).__name__.removesuffix("Value"))

    def on_effect(self, effect: Any) -> None:
        self.effects.append(effect)


class Coordinator:
    def __init__(self) -> None:
        name = "share.coordinator.snapshot.update.records.per.snapshot"
        self.settings = BrokerSettings.from_configs({name: str(UPDATES_PER_SNAPSHOT)})
        self.written = Written()
        self.world: World[ShareStateShard] = World(
            lambda world: ShareStateShard(world.image, lambda: self.settings), self.written
        )
        self.world.put_topic("a", 3)
        self.world.put_topic("b", 1)

    def key(self, topic: str = "a", partition: int = 0) -> SharePartitionKey:
        return SharePartitionKey("g", self.world.image.topics[topic].topic_id, partition)

    def ask(self, handle: Callable[[ShareStateShard, Ticket, int], Outcome]) -> Any:
        answer = self.world.ask("broker", handle).answer
        if isinstance(answer, ApiError):
            raise answer
        return answer

    def initialize(self, key: SharePartitionKey, state_epoch: int = 1, start_offset: int = 0) -> Any:
        asked = initialize.PartitionData(key.partition, state_epoch, start_offset)
        return self.ask(lambda shard, ticket, now_ms: shard.handle_initialize(key, asked, ticket, now_ms))

    def read(self, key: SharePartitionKey, leader_epoch: int = 0) -> Any:
        asked = read.PartitionData(key.partition, leader_epoch)
        return self.ask(lambda shard, ticket, now_ms: shard.handle_read(key, asked, ticket, now_ms))

    def write(
        self,
        key: SharePartitionKey,
        *batches: tuple[int, int, int, int],
        start_offset: int = 0,
        complete: int = 0,
        state_epoch: int = 1,
        leader_epoch: int = 0,
    ) -> Any:
        stored = [write.StateBatch(*batch) for batch in batches]
        asked = write.PartitionData(key.partition, state_epoch, leader_epoch, start_offset, complete, stored)
        return self.ask(lambda shard, ticket, now_ms: shard.handle_write(key, asked, ticket, now_ms))

    def delete(self, key: SharePartitionKey) -> Any:
        return self.ask(lambda shard, ticket, now_ms: shard.handle_delete(key, ticket, now_ms))

    def summary(self, key: SharePartitionKey) -> Any:
        return self.ask(lambda shard, ticket, now_ms: shard.handle_read_summary(key, ticket, now_ms))


@pytest.fixture
def coordinator() -> Coordinator:
    return Coordinator()


def batches_of(state: Any) -> list[tuple[int, int, int, int]]:
    return [
        (one.first_offset, one.last_offset, one.delivery_state, one.delivery_count)
        for one in state.state_batches
    ]


def refused(ask: Callable[[], Any]) -> str:
    with pytest.raises(ApiError) as error:
        ask()
    return error.value.code.name


def test_what_is_written_is_read(coordinator: Coordinator) -> None:
    key = coordinator.key()
    coordinator.initialize(key, state_epoch=4, start_offset=10)
    coordinator.write(key, (12, 14, ACKNOWLEDGED, 1), (15, 15, AVAILABLE, 1), start_offset=10, state_epoch=4)
    coordinator.write(key, (10, 11, ARCHIVED, 1), (15, 15, ACKNOWLEDGED, 2), start_offset=10, state_epoch=4)
    state = coordinator.read(key)
    assert (state.state_epoch, state.start_offset) == (4, 10)
    assert batches_of(state) == [(10, 11, 4, 1), (12, 14, 2, 1), (15, 15, 2, 2)]
    coordinator.write(key, start_offset=13, state_epoch=4)
    assert batches_of(coordinator.read(key)) == [(13, 14, 2, 1), (15, 15, 2, 2)]


def test_a_snapshot_comes_after_so_many_updates(coordinator: Coordinator) -> None:
    key = coordinator.key()
    coordinator.initialize(key)
    for offset in range(8):
        coordinator.write(key, (offset, offset, ACKNOWLEDGED, 1))
    snapshot, update = "ShareSnapshot", "ShareUpdate"
    assert coordinator.written.kinds == [snapshot, *[update] * 3, snapshot, *[update] * 3, snapshot]
    state = coordinator.world.machine.states[key]
    assert state.snapshot.snapshot_epoch == 2
    assert batches_of(state.snapshot) == [(0, 7, 2, 1)]


def test_an_old_leader_is_fenced(coordinator: Coordinator) -> None:
    key = coordinator.key()
    coordinator.initialize(key)
    coordinator.read(key, leader_epoch=5)
    assert coordinator.written.kinds == ["ShareSnapshot", "ShareUpdate"], "the epoch is noted"
    coordinator.read(key, leader_epoch=5)
    assert len(coordinator.written.kinds) == 2, "once"
    assert refused(lambda: coordinator.read(key, leader_epoch=4)) == "FENCED_LEADER_EPOCH"
    assert refused(lambda: coordinator.write(key, leader_epoch=4)) == "FENCED_LEADER_EPOCH"
    coordinator.write(key, leader_epoch=-1)
    assert coordinator.summary(key).leader_epoch == 5


def test_who_has_a_state_that_was_made_anew_is_fenced(coordinator: Coordinator) -> None:
    key = coordinator.key()
    coordinator.initialize(key, state_epoch=1)
    coordinator.write(key, (0, 5, ACKNOWLEDGED, 1), start_offset=6)
    coordinator.initialize(key, state_epoch=2, start_offset=3)
    state = coordinator.read(key)
    assert (state.start_offset, batches_of(state)) == (3, [])
    assert refused(lambda: coordinator.write(key, state_epoch=1)) == "FENCED_STATE_EPOCH"
    assert refused(lambda: coordinator.initialize(key, state_epoch=1)) == "FENCED_STATE_EPOCH"


def test_what_is_not_there(coordinator: Coordinator) -> None:
    key = coordinator.key()
    assert refused(lambda: coordinator.read(key)) == "INVALID_REQUEST"
    assert refused(lambda: coordinator.write(key)) == "INVALID_REQUEST"
    summary = coordinator.summary(key)
    assert (summary.start_offset, summary.delivery_complete_count, summary.state_epoch) == (-1, -1, 0)
    coordinator.delete(key)
    assert coordinator.written.kinds == [], "nothing was deleted"
    for wrong in (key._replace(partition=3), key._replace(topic_id=b"\7" * 16)):
        for ask in (coordinator.initialize, coordinator.delete, coordinator.summary):
            assert refused(lambda ask=ask, wrong=wrong: ask(wrong)) == "UNKNOWN_TOPIC_OR_PARTITION"  # type: ignore[misc]
    for ask in (coordinator.initialize, coordinator.read, coordinator.write, coordinator.delete):
        assert refused(lambda ask=ask: ask(key._replace(partition=-1))) == "INVALID_REQUEST"  # type: ignore[misc]


def test_a_deleted_state_is_gone(coordinator: Coordinator) -> None:
    key = coordinator.key()
    coordinator.initialize(key, state_epoch=5)
    coordinator.delete(key)
    assert coordinator.summary(key).start_offset == -1
    coordinator.initialize(key, state_epoch=1)


def test_the_states_of_a_deleted_topic_go(coordinator: Coordinator) -> None:
    coordinator.initialize(coordinator.key("a"))
    gone = coordinator.key("b")
    coordinator.initialize(gone)
    coordinator.world.remove_topic("b")
    assert list(coordinator.world.machine.states) == [coordinator.key("a")]
    assert coordinator.written.kinds[-1] == "tombstone"


def test_the_log_is_cut_below_the_oldest_snapshot_in_use(coordinator: Coordinator) -> None:
    first, second = coordinator.key("a"), coordinator.key("b")
    coordinator.initialize(first)  # 0
    coordinator.initialize(second)  # 1
    for offset in range(4):
        coordinator.write(first, (offset, offset, ACKNOWLEDGED, 1))  # 2 3 4, and the snapshot 5
    assert coordinator.world.machine.first_needed_offset() == 1
    coordinator.delete(second)  # 6
    coordinator.world.advance(coordinator.settings.share_coordinator_state_topic_prune_interval_ms)
    assert PruneLog(5) in coordinator.written.effects


def test_a_state_that_rests_is_written_again(coordinator: Coordinator) -> None:
    key = coordinator.key()
    coordinator.initialize(key)
    coordinator.write(key, (0, 3, ACKNOWLEDGED, 1))
    coordinator.world.advance(coordinator.settings.share_coordinator_cold_partition_snapshot_interval_ms)
    assert coordinator.written.kinds == ["ShareSnapshot", "ShareUpdate", "ShareSnapshot"]
    assert batches_of(coordinator.read(key)) == [(0, 3, 2, 1)]
    coordinator.world.advance(2 * coordinator.settings.share_coordinator_cold_partition_snapshot_interval_ms)
    assert len(coordinator.written.kinds) == 3, "once"


# replay


def facts(state: ShareState) -> tuple[Any, ...]:
    value = state.snapshot
    assert isinstance(value, ShareSnapshotValue)
    fields = [getattr(value, one.name) for one in value.SCHEMA if one.name != "state_batches"]
    return (*fields, batches_of(value), state.snapshot_offset, state.update_count, state.highest_leader_epoch)


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["initialize", "read", "write", "write", "write", "write", "delete"]),
        st.integers(0, 2),
        st.integers(0, 30),
        st.integers(0, 5),
    ),
    max_size=40,
)


def take_step(coordinator: Coordinator, what: str, key: SharePartitionKey, offset: int, size: int) -> None:
    if what == "initialize":
        coordinator.initialize(key, state_epoch=size, start_offset=offset)
    elif what == "read":
        coordinator.read(key, leader_epoch=size)
    elif what == "delete":
        coordinator.delete(key)
    else:
        batch = (offset, offset + size, ACKNOWLEDGED, 1 + size)
        coordinator.write(
            key, batch, start_offset=offset // 2, complete=size, leader_epoch=-1, state_epoch=-1
        )


@settings(max_examples=examples(60))
@given(STEPS)
def test_the_log_tells_all(steps: list[tuple[str, int, int, int]]) -> None:
    coordinator = Coordinator()
    for what, partition, offset, size in steps:
        with contextlib.suppress(ApiError):  # to be refused is part of the story
            take_step(coordinator, what, coordinator.key("a", partition), offset, size)
    live = {key: facts(state) for key, state in coordinator.world.machine.states.items()}
    assert {key: facts(state) for key, state in coordinator.world.replayed().states.items()} == live
    needed = coordinator.world.machine.first_needed_offset()
    coordinator.world.log[:needed] = []
    assert {
        key: facts(state) for key, state in coordinator.world.replayed().states.items()
    }.keys() == live.keys()
