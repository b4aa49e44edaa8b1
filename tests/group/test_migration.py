"""Random consumers of both protocols in one group, which changes its kind with them.

No partition is owned by two at one time, whichever way the group goes; when it is quiet, every one is owned; and the
log tells the state as long as it is a consumer group.
"""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.group.classic_consumers import ClassicConsumer
from tests.group.consumers import Consumer, consumer_group, durable_state, group_world, sender
from tests.support.examples import examples

TOPIC = "t"
picks = st.integers(0, 1_000_000)


class MigratingGroupLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.consumers: list[Consumer | ClassicConsumer] = []
        self.born = 0

    @initialize()
    def begin(self) -> None:
        self.world = group_world({"group.initial.rebalance.delay.ms": "0"})
        self.world.put_topic(TOPIC, 6)

    def pick(self, pick: int) -> Consumer | ClassicConsumer:
        return self.consumers[pick % len(self.consumers)]

    @rule(is_classic=st.booleans())
    def come(self, is_classic: bool) -> None:
        if len(self.consumers) == 4:
            return
        self.born += 1
        name = f"m{self.born}"
        if is_classic:
            self.consumers.append(ClassicConsumer(self.world, name, TOPIC))
        else:
            self.consumers.append(Consumer(sender(self.world), name, [TOPIC]))

    @precondition(lambda self: self.consumers)
    @rule(pick=picks)
    def beat(self, pick: int) -> None:
        self.pick(pick).beat()

    @precondition(lambda self: self.consumers)
    @rule()
    def beat_all(self) -> None:
        for consumer in self.consumers:
            consumer.beat()

    @precondition(lambda self: self.consumers)
    @rule(pick=picks)
    def leave(self, pick: int) -> None:
        consumer = self.pick(pick)
        consumer.leave()
        self.consumers.remove(consumer)

    @rule()
    def wait(self) -> None:
        self.world.advance(1000)

    @invariant()
    def no_partition_has_two_owners(self) -> None:
        owned = [place for consumer in self.consumers for place in consumer.owned]
        assert len(owned) == len(set(owned)), [vars(consumer) for consumer in self.consumers]

    @invariant()
    def the_log_tells_the_state(self) -> None:
        if hasattr(self, "world"):
            live, replayed = consumer_group(self.world.machine), consumer_group(self.world.replayed())
            assert durable_state(live) == durable_state(replayed)

    def teardown(self) -> None:
        if not self.consumers:
            return
        for _ in range(200):  # longer than any member that went without a word can be waited for
            self.world.advance(1000)
            self.beat_all()
            self.no_partition_has_two_owners()
        assert all(consumer.is_settled for consumer in self.consumers)
        topic = self.world.image.topics[TOPIC]
        owned = [place for consumer in self.consumers for place in consumer.owned]
        assert sorted(owned) == [(topic.topic_id, index) for index in sorted(topic.partitions)]
        kind = {type(consumer) for consumer in self.consumers}
        assert (consumer_group(self.world.machine) is None) == (kind == {ClassicConsumer})


TestMigratingGroupLife = MigratingGroupLife.TestCase
TestMigratingGroupLife.settings = settings(
    max_examples=examples(50),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
