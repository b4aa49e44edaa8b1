"""Random threads of a program in one group: they join, heartbeat, lose answers, leave and crash, while topics grow.

Whatever happens, no active task has two owners at one time, by what they themselves believe, and no process has a task
twice; when it is quiet, every task is active; and the log tells the state at every moment.
"""

from collections import Counter

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from penstock.wire.messages.streams_group_heartbeat import Subtopology, TopicInfo, Topology
from tests.group.streams.threads import Thread, durable_state, sender, streams_group, streams_world
from tests.support.examples import examples

TOPOLOGY = Topology(
    0,
    [
        Subtopology("0", ["lines"], repartition_sink_topics=["words"]),
        Subtopology(
            "1",
            repartition_source_topics=[TopicInfo("words", 2)],
            state_changelog_topics=[TopicInfo("counts")],
        ),
    ],
)
MAX_LINES = 6
SESSION_TIMEOUT_MS = 45_000

picks = st.integers(0, 1_000_000)


class StreamsGroupLife(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.threads: list[Thread] = []
        self.born = 0

    @initialize(
        delay_ms=st.sampled_from(["0", "3000"]),
        interval_ms=st.sampled_from(["0", "1000"]),
        standbys=st.sampled_from(["0", "1", "2"]),
    )
    def begin(self, delay_ms: str, interval_ms: str, standbys: str) -> None:
        configs = {
            "group.streams.initial.rebalance.delay.ms": delay_ms,
            "group.streams.assignment.interval.ms": interval_ms,
        }
        self.world = streams_world(configs, {"streams.num.standby.replicas": standbys})
        for name in ("lines", "words", "counts"):
            self.world.put_topic(name, 2)

    def pick(self, pick: int) -> Thread:
        return self.threads[pick % len(self.threads)]

    @rule(process=st.sampled_from(["p1", "p2", "p3"]))
    def join(self, process: str) -> None:
        if len(self.threads) == 5:
            return
        self.born += 1
        self.threads.append(Thread(sender(self.world), f"m{self.born}", process, TOPOLOGY))

    @precondition(lambda self: self.threads)
    @rule(pick=picks, is_lost=st.booleans())
    def heartbeat(self, pick: int, is_lost: bool) -> None:
        self.pick(pick).heartbeat(is_lost=is_lost)

    @precondition(lambda self: self.threads)
    @rule(pick=picks)
    def give_up(self, pick: int) -> None:
        self.pick(pick).give_up()

    @precondition(lambda self: self.threads)
    @rule(pick=picks)
    def act(self, pick: int) -> None:
        self.pick(pick).act()

    @precondition(lambda self: self.threads)
    @rule(pick=picks)
    def beat(self, pick: int) -> None:
        self.pick(pick).beat()

    @precondition(lambda self: self.threads)
    @rule(pick=picks)
    def leave(self, pick: int) -> None:
        thread = self.pick(pick)
        thread.leave()
        self.threads.remove(thread)

    @precondition(lambda self: self.threads)
    @rule(pick=picks)
    def crash(self, pick: int) -> None:
        """It is dead at once; the group finds out when its session ends, and the others stay alive meanwhile."""
        self.threads.remove(self.pick(pick))
        for _ in range(5):
            self.world.advance(SESSION_TIMEOUT_MS // 4)
            for thread in self.threads:
                thread.heartbeat()

    @rule(duration_ms=st.integers(1, 20_000))
    def wait(self, duration_ms: int) -> None:
        self.world.advance(duration_ms)
        self.forget_what_ended()

    @rule(more=st.integers(1, 2))
    def grow(self, more: int) -> None:
        count = len(self.world.image.topics["lines"].partitions)
        if count + more <= MAX_LINES:
            self.world.put_topic("lines", count + more)

    @rule()
    def restart_broker(self) -> None:
        self.world.reload()

    def forget_what_ended(self) -> None:
        """A thread closes its tasks when it has not reached the coordinator within its session timeout."""
        group = streams_group(self.world.machine)
        for thread in self.threads:
            if group is None or thread.member_id not in group.members:
                thread.forget()

    @invariant()
    def no_active_task_has_two_owners(self) -> None:
        counts = Counter(task for thread in self.threads for task in thread.active)
        assert all(count == 1 for count in counts.values()), counts

    @invariant()
    def no_process_has_a_task_twice(self) -> None:
        held = Counter(
            (thread.process_id, task) for thread in self.threads for task in [*thread.active, *thread.standby]
        )
        assert all(count == 1 for count in held.values()), held

    @invariant()
    def the_log_tells_the_state(self) -> None:
        if hasattr(self, "world"):
            live, replayed = streams_group(self.world.machine), streams_group(self.world.replayed())
            assert durable_state(live) == durable_state(replayed)

    def teardown(self) -> None:
        if not self.threads:
            return
        for _ in range(12):
            self.world.advance(SESSION_TIMEOUT_MS // 4)
            for thread in self.threads:
                thread.beat()
                self.no_active_task_has_two_owners()
                self.no_process_has_a_task_twice()
        group = streams_group(self.world.machine)
        assert group is not None
        assert group.state_name == "Stable"
        lines = len(self.world.image.topics["lines"].partitions)
        active = {task for thread in self.threads for task in thread.active}
        assert active == {*(("0", index) for index in range(lines)), ("1", 0), ("1", 1)}


StreamsGroupLife.TestCase.settings = settings(
    max_examples=examples(60),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
TestStreamsGroupLife = StreamsGroupLife.TestCase
