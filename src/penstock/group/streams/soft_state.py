"""What a streams group knows besides its records; a new coordinator begins without it."""

from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.group.streams.member import UserEndpoint
from penstock.group.streams.tasks import HeldTasks
from penstock.group.streams.topics import ConfiguredTopology
from penstock.wire.messages.streams_group_heartbeat import EndpointToPartitions


class ToldEndpoint(NamedTuple):
    """What was last told of a member with an endpoint, and what that was made of."""

    assigned: HeldTasks
    endpoint: UserEndpoint
    configured: ConfiguredTopology
    told: EndpointToPartitions


@dataclass(slots=True)
class SoftState:
    configured: ConfiguredTopology | None = None
    checked_epoch: int | None = None
    """The group epoch in which the topics' metadata was last found to be taken account of."""
    shutdown_member_id: str | None = None
    """The member that wants the whole program to end."""
    endpoint_epoch: int = 0
    """Grows with each change of what members with an endpoint have."""
    endpoints: dict[str, ToldEndpoint] = field(default_factory=dict)
    """By member id."""
