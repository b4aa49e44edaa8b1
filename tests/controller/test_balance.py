"""Which brokers get the lead back, and of what."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.controller.balance import decide_balance
from penstock.controller.elections import Brokers
from penstock.controller.image import BrokerImage, TopicImage
from penstock.replica.replica_set import NO_LEADER, ReplicaSet
from penstock.types import TopicPartition

WRITTEN = 100


def brokers(*ids: int) -> Brokers:
    return {broker_id: BrokerImage(broker_id, {}, epoch=1) for broker_id in ids}


def topic(*states: tuple[tuple[int, ...], tuple[int, ...], int]) -> TopicImage:
    """Of replicas, those in sync, and the leader."""
    partitions = {
        index: ReplicaSet(replicas, isr, leader, 5, version=1, zxid=WRITTEN)
        for index, (replicas, isr, leader) in enumerate(states)
    }
    return TopicImage("orders", bytes(16), partitions)


AS_IT_SHOULD_BE = ((1, 2), (1, 2), 1)
LED_BY_ANOTHER = ((1, 2), (1, 2), 2)
LAGGING = ((1, 2), (2,), 2)


def test_a_share_that_is_small_enough_is_left_alone() -> None:
    nine_of_ten = topic(*[AS_IT_SHOULD_BE] * 9, LED_BY_ANOTHER)
    assert decide_balance([nine_of_ten], brokers(1, 2), 10) == {}
    assert list(decide_balance([nine_of_ten], brokers(1, 2), 9)) == [TopicPartition("orders", 9)]
    assert decide_balance([topic(AS_IT_SHOULD_BE)], brokers(1, 2), 0) == {}


def test_those_that_can_lead_do() -> None:
    decided = decide_balance([topic(LED_BY_ANOTHER, LAGGING, LED_BY_ANOTHER)], brokers(1, 2), 10)
    assert list(decided) == [TopicPartition("orders", 0), TopicPartition("orders", 2)]
    for state in decided.values():
        assert (state.leader, state.leader_epoch, state.isr) == (1, 6, (1, 2))


def test_brokers_that_are_away_wait() -> None:
    assert decide_balance([topic(LED_BY_ANOTHER)], brokers(2), 0) == {}


def test_each_broker_by_itself() -> None:
    """Broker 2 is far off, broker 1 is not."""
    others = ((2, 1), (2, 1), 1)
    balanced = decide_balance([topic(*[AS_IT_SHOULD_BE] * 9, LED_BY_ANOTHER, others)], brokers(1, 2), 10)
    assert list(balanced) == [TopicPartition("orders", 10)]


@given(
    states=st.lists(
        st.permutations([1, 2, 3]).flatmap(
            lambda replicas: st.tuples(
                st.just(tuple(replicas)),
                st.sets(st.sampled_from(replicas), min_size=1).map(lambda isr: tuple(sorted(isr))),
            ).flatmap(lambda each: st.tuples(*map(st.just, each), st.sampled_from((*each[1], NO_LEADER))))
        )
    ),
    live=st.sets(st.sampled_from([1, 2, 3])),
    percentage=st.integers(0, 100),
)
def test_what_always_holds(
    states: list[tuple[tuple[int, ...], tuple[int, ...], int]], live: set[int], percentage: int
) -> None:
    before = topic(*states)
    decided = decide_balance([before], brokers(*live), percentage)
    for partition, state in decided.items():
        known = before.partitions[partition.partition]
        assert state.leader == known.replicas[0] != known.leader
        assert state.leader in known.isr
        assert state.leader in live
        assert state.isr == known.isr
    after = {index: decided.get(TopicPartition("orders", index), s) for index, s in before.partitions.items()}
    again = decide_balance([TopicImage("orders", bytes(16), after)], brokers(*live), percentage)
    assert again == {}, "what was balanced stays so"
