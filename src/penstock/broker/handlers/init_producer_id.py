"""InitProducerId, for idempotent producers.

v2 is flexible; v3 lets a producer keep its id and ask for the next epoch; v4 may answer PRODUCER_FENCED; v5 belongs
to the second transaction protocol. v6 (two-phase commit) is not stable in Kafka and not served.

Not done: transactional ids (need the transaction coordinator).
"""

import logging
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from penstock.broker.coordination import CoordinationError
from penstock.broker.router import RequestContext, handles
from penstock.errors import ErrorCode
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

log = logging.getLogger("penstock.broker.handlers.init_producer_id")


@handles(InitProducerIdRequest, versions=(0, 5))
def handle_init_producer_id(
    broker: "Broker", request: InitProducerIdRequest, context: RequestContext
) -> InitProducerIdResponse | Awaitable[InitProducerIdResponse]:
    if request.transactional_id is not None:
        return InitProducerIdResponse(error_code=ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return _next_producer_id(broker)


async def _next_producer_id(broker: "Broker") -> InitProducerIdResponse:
    try:
        return InitProducerIdResponse(producer_id=await broker.producer_ids.next(), producer_epoch=0)
    except CoordinationError as error:
        log.warning("no producer id at hand, the client is to ask again: %s", error)
        return InitProducerIdResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
