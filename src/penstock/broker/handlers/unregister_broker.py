"""UnregisterBroker: the cluster forgets a broker that does not come back.

A registration ends with the broker's session, so with ZooKeeper Kafka has no such request. Whoever uses it knows it
from Kafka without ZooKeeper, where brokers that are away stay registered, and are listed as fenced, until then. So it
is here, too, by the copy that a broker leaves of its registration:

- one that is away is forgotten; replicas that it has stay assigned to it, as in Kafka;
- one that runs is refused. Kafka takes it out, and leaves it running as one that nobody asks for anything until it is
  started again; here it could even be the controller. Whoever means it stops it first;
- one that the cluster does not know is refused with BROKER_ID_NOT_REGISTERED.
"""

import logging
from typing import TYPE_CHECKING

from penstock.broker.controller import NotController
from penstock.broker.coordination import CoordinationError, Delete, NoNode
from penstock.broker.router import RequestContext, handles
from penstock.controller import znodes
from penstock.controller.changes import Changes
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.unregister_broker import UnregisterBrokerRequest, UnregisterBrokerResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

log = logging.getLogger("penstock.broker.handlers.unregister_broker")


@handles(UnregisterBrokerRequest, versions=(0, 0), at_controller=UnregisterBrokerResponse)
async def handle_unregister_broker(
    broker: "Broker", request: UnregisterBrokerRequest, context: RequestContext
) -> UnregisterBrokerResponse:
    try:
        await _unregister(broker, request.broker_id)
    except ApiError as error:
        return UnregisterBrokerResponse(error_code=error.code, error_message=error.message)
    return UnregisterBrokerResponse()


async def _unregister(broker: "Broker", broker_id: int) -> None:
    if broker_id in broker.image.brokers:
        raise ApiError(
            ErrorCode.INVALID_REQUEST,
            f"Broker ID {broker_id} is running; stop it first, and unregister it when its session has ended",
        )
    try:
        await broker.controller.write([Delete(znodes.known_broker_path(broker_id))], Changes())
    except NoNode as error:
        raise ApiError(
            ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {broker_id} is not currently registered"
        ) from error
    except NotController as error:
        raise ApiError(ErrorCode.NOT_CONTROLLER, str(error)) from error
    except CoordinationError as error:
        raise ApiError(ErrorCode.UNKNOWN_SERVER_ERROR, str(error)) from error
    log.info("broker %d was unregistered", broker_id)
