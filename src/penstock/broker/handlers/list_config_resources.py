"""ListConfigResources. v0 lists client metrics alone (there are none); v1 takes the types, none meaning all."""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ErrorCode
from penstock.wire.messages.list_config_resources import (
    ConfigResource,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32
SUPPORTED = (TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP)


@handles(ListConfigResourcesRequest, versions=(0, 1))
def handle_list_config_resources(
    broker: "Broker", request: ListConfigResourcesRequest, context: RequestContext
) -> ListConfigResourcesResponse:
    if context.version == 0:
        return ListConfigResourcesResponse()
    types = list(request.resource_types) or list(SUPPORTED)
    if not set(types) <= set(SUPPORTED):
        return ListConfigResourcesResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    brokers = [str(member.id) for member in broker.image.live_brokers()]
    names = {
        TOPIC: sorted(broker.image.topics),
        BROKER: brokers,
        BROKER_LOGGER: brokers,
        GROUP: sorted(broker.image.group_configs),
    }
    return ListConfigResourcesResponse(
        config_resources=[
            ConfigResource(name, resource_type)
            for resource_type in types
            for name in names.get(resource_type, [])
        ]
    )
