"""Where brokers are, for a client that has to go to another one."""

from collections.abc import Iterable
from typing import Protocol, TypeVar

from penstock.controller.image import ClusterImage

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
