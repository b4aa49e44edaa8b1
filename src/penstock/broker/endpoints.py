"""Where brokers are, as a client sees them that came through one of the listeners."""

from collections.abc import Iterable
from typing import NamedTuple, Protocol, TypeVar

from penstock.controller.image import ClusterImage
from penstock.errors import ErrorCode
from penstock.replica.replica_set import NO_LEADER, ReplicaSet

EndpointT = TypeVar("EndpointT", covariant=True)


class EndpointType(Protocol[EndpointT]):
    def __call__(self, node_id: int, host: str, port: int, rack: str | None, /) -> EndpointT: ...


def endpoints_of(
    image: ClusterImage, broker_ids: Iterable[int], listener: str, make: EndpointType[EndpointT]
) -> list[EndpointT]:
    """Of those that are alive, under the addresses that belong to the listener that the client came through."""
    brokers = (image.brokers.get(broker_id) for broker_id in sorted(set(broker_ids)))
    return [
        make(broker.id, *broker.endpoints[listener], broker.rack)
        for broker in brokers
        if broker is not None and listener in broker.endpoints
    ]


class SeenPartition(NamedTuple):
    """A partition for a client: who leads it, if the client can go there, and which replicas it could not reach."""

    error_code: ErrorCode
    leader_id: int
    offline_replicas: tuple[int, ...]


class View:
    """Of partitions, through a listener of this broker, where some may have failed."""

    def __init__(self, image: ClusterImage, listener: str, broker_id: int, no_listener: ErrorCode) -> None:
        """`no_listener` is the error of a partition whose leader has no such listener."""
        self._brokers = image.brokers
        self._reachable = {one.id for one in image.brokers.values() if listener in one.endpoints}
        self._broker_id = broker_id
        self._no_listener = no_listener

    def of(self, state: ReplicaSet, *, has_failed_here: bool = False) -> SeenPartition:
        """A partition whose log directory failed has no leader until the directory is back."""
        reachable, failed = self._reachable, self._broker_id if has_failed_here else NO_LEADER
        offline = tuple([one for one in state.replicas if one not in reachable or one == failed])
        if state.leader in reachable and state.leader != failed:
            return SeenPartition(ErrorCode.NONE, state.leader, offline)
        is_there = state.leader in self._brokers and state.leader != failed
        return SeenPartition(
            self._no_listener if is_there else ErrorCode.LEADER_NOT_AVAILABLE, NO_LEADER, offline
        )
