"""What consumer groups see of the world around them, and what is known of them outside the log."""

from penstock.controller.image import ClusterImage
from penstock.group.classic import ClassicGroups
from penstock.group.consumer_member import Member
from penstock.group.groups import GroupContext
from penstock.group.topic_regexes import Matching
from penstock.machine import Outcome, TimerKey
from penstock.settings.broker import BrokerSettings

SESSION, REBALANCE, REJOIN, SYNC, REGEXES = (
    "consumer-session",
    "consumer-rebalance",
    "consumer-rejoin",
    "consumer-sync",
    "consumer-regexes",
)

REFRESH_PATIENCE_MS = 1000


def session_timer(group_id: str, member_id: str) -> TimerKey:
    """How long a member may be silent."""
    return SESSION, group_id, member_id


def rebalance_timer(group_id: str, member_id: str) -> TimerKey:
    """How long a member may take to give up partitions."""
    return REBALANCE, group_id, member_id


def rejoin_timer(group_id: str, member_id: str) -> TimerKey:
    """How long a classic member may take to join again once it is told to."""
    return REJOIN, group_id, member_id


def sync_timer(group_id: str, member_id: str) -> TimerKey:
    """How long a classic member may take from joining to asking for its assignment."""
    return SYNC, group_id, member_id


REGEXES_TIMER: TimerKey = (REGEXES,)
"""Matching regular expressions, apart from the requests that call for it: one turn of one group each time."""


class ConsumerWorld:
    def __init__(self, context: GroupContext, classic: ClassicGroups) -> None:
        self.context = context
        self.classic = classic
        self.topic_hashes = context.topic_hashes
        self.topics_version = 0
        """Grows with each change of topics; higher after a restart than ever before it."""
        self.refreshing: dict[str, int] = {}
        """Groups whose regular expressions are about to be matched, and since when."""
        self.matchings: dict[str, Matching] = {}
        """How far it has come with them; the first is the next to have a turn."""
        self.rejoining: set[tuple[str, str]] = set()
        """Classic members that were told to join again."""
        self._configured_assignors: tuple[str, ...] = ()
        self._assignors: tuple[str, ...] = ()

    @property
    def image(self) -> ClusterImage:
        return self.context.image

    @property
    def settings(self) -> BrokerSettings:
        return self.context.settings

    def session_timeout_ms(self, group_id: str) -> int:
        return self.context.group_config(group_id).consumer_session_timeout_ms

    def heartbeat_interval_ms(self, group_id: str) -> int:
        return self.context.group_config(group_id).consumer_heartbeat_interval_ms

    def assignment_interval_ms(self, group_id: str) -> int:
        return self.context.group_config(group_id).consumer_assignment_interval_ms

    def assignors(self) -> tuple[str, ...]:
        """The default first."""
        configured = self.settings.group_consumer_assignors
        if configured is not self._configured_assignors:
            self._configured_assignors = configured
            self._assignors = tuple(_name_of_assignor(name) for name in configured)
        return self._assignors

    def is_refreshing(self, group_id: str, now_ms: int) -> bool:
        """Matching comes within moments; if it has not by then, the write that called for it was refused."""
        since_ms = self.refreshing.get(group_id)
        return since_ms is not None and now_ms - since_ms < REFRESH_PATIENCE_MS

    def refresh_regexes(self, group_id: str, outcome: Outcome, now_ms: int) -> None:
        """Has a group's regular expressions matched, in moments that the groups have one after the other."""
        self.refreshing[group_id] = now_ms
        self.matchings.setdefault(group_id, Matching())
        outcome.start_timer(REGEXES_TIMER, 0)

    def start_session(self, group_id: str, member: Member, outcome: Outcome) -> None:
        """A sign of life: its time begins anew."""
        classic = member.metadata.classic
        timeout_ms = self.session_timeout_ms(group_id) if classic is None else classic.session_timeout_ms
        outcome.start_timer(session_timer(group_id, member.member_id), timeout_ms)

    def stop_timers(self, group_id: str, member_id: str, outcome: Outcome) -> None:
        self.rejoining.discard((group_id, member_id))
        for timer in (session_timer, rebalance_timer, rejoin_timer, sync_timer):
            outcome.stop_timer(timer(group_id, member_id))


def _name_of_assignor(configured: str) -> str:
    """`uniform`, also where the setting has the name of Kafka's class."""
    return configured.rpartition(".")[2].removesuffix("Assignor").lower()
