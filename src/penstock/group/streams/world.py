"""What streams groups see of the world around them, and what is known of them outside the log."""

from penstock.controller.image import ClusterImage
from penstock.group.groups import GroupContext
from penstock.group.streams.member import Member
from penstock.machine import Outcome, TimerKey
from penstock.settings.broker import BrokerSettings
from penstock.settings.group_config import GroupConfig

SESSION, REBALANCE, INITIAL_DELAY = "streams-session", "streams-rebalance", "streams-initial-delay"


def session_timer(group_id: str, member_id: str) -> TimerKey:
    """How long a member may be silent."""
    return SESSION, group_id, member_id


def rebalance_timer(group_id: str, member_id: str) -> TimerKey:
    """How long a member may take to give up tasks."""
    return REBALANCE, group_id, member_id


def delay_timer(group_id: str) -> TimerKey:
    """How long the first assignment of a group waits for more members."""
    return INITIAL_DELAY, group_id


class StreamsWorld:
    def __init__(self, context: GroupContext) -> None:
        self.context = context
        self.delayed: set[str] = set()
        """Groups whose first assignment waits for more members."""

    @property
    def image(self) -> ClusterImage:
        return self.context.image

    @property
    def settings(self) -> BrokerSettings:
        return self.context.settings

    def config(self, group_id: str) -> GroupConfig:
        return self.context.group_config(group_id)

    def assignment_configs(self, group_id: str) -> dict[str, str]:
        """What the assignor goes by, as it is stored with the group: a change calls for another assignment."""
        return {"num.standby.replicas": str(self.config(group_id).streams_num_standby_replicas)}

    def start_session(self, group_id: str, member_id: str, outcome: Outcome) -> None:
        """A sign of life: the member's time begins anew."""
        timeout_ms = self.config(group_id).streams_session_timeout_ms
        outcome.start_timer(session_timer(group_id, member_id), timeout_ms)

    def start_rebalance(self, group_id: str, member: Member, outcome: Outcome) -> None:
        timeout_ms = member.metadata.rebalance_timeout_ms
        outcome.start_timer(rebalance_timer(group_id, member.member_id), timeout_ms)

    def stop_timers(self, group_id: str, member_id: str, outcome: Outcome) -> None:
        outcome.stop_timer(session_timer(group_id, member_id))
        outcome.stop_timer(rebalance_timer(group_id, member_id))
