"""InitProducerId: an id and an epoch for a producer.

v2 is flexible; v3 lets a producer keep its id and ask for the next epoch; v4 may answer PRODUCER_FENCED; v5 belongs
to the second transaction protocol. v6 (two-phase commit) is not stable in Kafka and not served.
"""

from typing import TYPE_CHECKING

from penstock.broker.callers import caller_of
from penstock.broker.connection import Answer
from penstock.broker.router import RequestContext, handles
from penstock.broker.transaction_errors import known_to
from penstock.errors import ApiError, ErrorCode
from penstock.machine import Caller
from penstock.wire.messages.init_producer_id import InitProducerIdRequest, InitProducerIdResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FIRST_VERSION_WITH_PRODUCER_FENCED = 4


@handles(InitProducerIdRequest, versions=(0, 5))
def handle_init_producer_id(
    broker: "Broker", request: InitProducerIdRequest, context: RequestContext
) -> Answer:
    if (request.producer_id == -1) != (request.producer_epoch == -1) or request.transactional_id == "":
        return _refuse(ApiError(ErrorCode.INVALID_REQUEST), context.version)
    caller = caller_of(context)
    if broker.producer_ids.is_empty:
        return _refill_and_init(broker, request, caller)
    if request.transactional_id is None:
        return _init_without_transactions(broker, caller)
    return broker.coordinators.transactions.ask(
        request.transactional_id,
        lambda shard, ticket, now_ms: shard.handle_init_producer_id(request, caller, ticket, now_ms),
        lambda error: _refuse(error, caller.version),
    )


async def _refill_and_init(
    broker: "Broker", request: InitProducerIdRequest, caller: Caller
) -> InitProducerIdResponse:
    await broker.producer_ids.refill()
    if request.transactional_id is None:
        return _init_without_transactions(broker, caller)
    try:
        response: InitProducerIdResponse = await broker.coordinators.transactions.call(
            request.transactional_id,
            lambda shard, ticket, now_ms: shard.handle_init_producer_id(request, caller, ticket, now_ms),
        )
    except ApiError as error:
        return _refuse(error, caller.version)
    return response


def _init_without_transactions(broker: "Broker", caller: Caller) -> InitProducerIdResponse:
    try:
        return InitProducerIdResponse(producer_id=broker.producer_ids.take(), producer_epoch=0)
    except ApiError as error:
        return _refuse(error, caller.version)


def _refuse(error: ApiError, version: int) -> InitProducerIdResponse:
    code = known_to(version, error.code, first_with_fenced=FIRST_VERSION_WITH_PRODUCER_FENCED)
    return InitProducerIdResponse(error_code=code, producer_epoch=-1)
