"""Random consumers in one group: they join, heartbeat, lose answers, leave and crash, while topics grow.

Whatever happens, no partition is owned by two consumers at one time, by what they themselves believe; when it is quiet,
every partition is owned; and the log tells the state at every moment.
"""

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.group.consumers import Consumer, consumer_group, durable_state, group_world, sender, settle
from tests.support.examples import examples

TOPICS = ("t1", "t2", "t3")
MAX_PARTITIONS = 9
SESSION_TIMEOUT_MS = 45_000

subscriptions = st.sets(st.sampled_from(TOPICS), min_size=1)
picks = st.integers(0, 1_000_000)


class ConsumerGroupLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.consumers: list[Consumer] = []
        self.born = 0

    @initialize(
        assignor=st.sampled_from(["uniform,range", "range,uniform"]),
        interval_ms=st.sampled_from(["0", "1000"]),
    )
    def begin(self, assignor: str, interval_ms: str) -> None:
        self.world = group_world(
            {"group.consumer.assignors": assignor, "group.consumer.assignment.interval.ms": interval_ms}
        )
        self.world.put_topic("t1", 3)
        self.world.put_topic("t2", 2)

    def pick(self, pick: int) -> Consumer:
        return self.consumers[pick % len(self.consumers)]

    @rule(topics=subscriptions, is_static=st.booleans(), regex=st.sampled_from([None, "t.*", "t[12]"]))
    def join(self, topics: set[str], is_static: bool, regex: str | None) -> None:
        if len(self.consumers) == 5:
            return
        self.born += 1
        instance_id = f"i{self.born}" if is_static else None
        wanted = () if regex else topics
        self.consumers.append(Consumer(sender(self.world), f"m{self.born}", wanted, instance_id, regex))

    @precondition(lambda self: self.consumers)
    @rule(pick=picks, is_lost=st.booleans())
    def heartbeat(self, pick: int, is_lost: bool) -> None:
        self.pick(pick).heartbeat(is_lost=is_lost)

    @precondition(lambda self: self.consumers)
    @rule(pick=picks)
    def act(self, pick: int) -> None:
        self.pick(pick).act()

    @precondition(lambda self: self.consumers)
    @rule(pick=picks)
    def beat(self, pick: int) -> None:
        self.pick(pick).beat()

    @precondition(lambda self: self.consumers)
    @rule(pick=picks, topics=subscriptions)
    def subscribe(self, pick: int, topics: set[str]) -> None:
        self.pick(pick).subscribe(topics)

    @precondition(lambda self: self.consumers)
    @rule(pick=picks)
    def leave(self, pick: int) -> None:
        consumer = self.pick(pick)
        consumer.leave()
        self.consumers.remove(consumer)

    @precondition(lambda self: any(consumer.instance_id for consumer in self.consumers))
    @rule(pick=picks)
    def restart_static(self, pick: int) -> None:
        static = [consumer for consumer in self.consumers if consumer.instance_id]
        old = static[pick % len(static)]
        old.leave(epoch=-2)
        self.consumers.remove(old)
        self.born += 1
        self.consumers.append(
            Consumer(sender(self.world), f"m{self.born}", old.topics, old.instance_id, old.regex)
        )

    @precondition(lambda self: self.consumers)
    @rule(pick=picks)
    def crash(self, pick: int) -> None:
        """It is dead at once; the group finds out when its session ends, and the others stay alive meanwhile."""
        self.consumers.remove(self.pick(pick))
        for _ in range(5):
            self.world.advance(SESSION_TIMEOUT_MS // 4)
            for consumer in self.consumers:
                consumer.heartbeat()

    @rule(duration_ms=st.integers(1, 20_000))
    def wait(self, duration_ms: int) -> None:
        self.world.advance(duration_ms)
        self.forget_what_ended()

    @rule(name=st.sampled_from(TOPICS), more=st.integers(1, 3))
    def grow(self, name: str, more: int) -> None:
        topic = self.world.image.topics.get(name)
        count = len(topic.partitions) if topic else 0
        if count + more <= MAX_PARTITIONS:
            self.world.put_topic(name, count + more)

    @rule()
    def restart_broker(self) -> None:
        self.world.reload()

    def forget_what_ended(self) -> None:
        """A consumer stops consuming when it has not reached the coordinator within its session timeout."""
        group = consumer_group(self.world.machine)
        for consumer in self.consumers:
            if group is None or consumer.member_id not in group.members:
                consumer.owned.clear()

    @invariant()
    def no_partition_has_two_owners(self) -> None:
        owned = [place for consumer in self.consumers for place in consumer.owned]
        assert len(owned) == len(set(owned)), [(one.member_id, one.owned) for one in self.consumers]

    @invariant()
    def the_log_tells_the_state(self) -> None:
        if hasattr(self, "world"):
            live, replayed = consumer_group(self.world.machine), consumer_group(self.world.replayed())
            assert durable_state(live) == durable_state(replayed)

    def teardown(self) -> None:
        if not self.consumers:
            return
        for _ in range(3):  # so that sessions end, intervals pass and expressions are matched
            self.world.advance(SESSION_TIMEOUT_MS - 1)
            for consumer in self.consumers:
                consumer.beat()
        for _ in range(20):
            self.world.advance(1000)
            for consumer in self.consumers:
                consumer.beat()
            self.no_partition_has_two_owners()
        settle(self.consumers)
        self.every_partition_is_owned()

    def every_partition_is_owned(self) -> None:
        topics = self.world.image.topics
        wanted = {name for consumer in self.consumers for name in consumer.topics if name in topics}
        for consumer in self.consumers:
            wanted |= {
                name for name in topics if consumer.regex == "t.*" or (consumer.regex and name != "t3")
            }
        places = {(topics[name].topic_id, index) for name in wanted for index in topics[name].partitions}
        owned = [place for consumer in self.consumers for place in consumer.owned]
        assert sorted(owned) == sorted(places)


TestConsumerGroupLife = ConsumerGroupLife.TestCase
TestConsumerGroupLife.settings = settings(
    max_examples=examples(60),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
