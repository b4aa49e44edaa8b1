"""EndTxn: commits or aborts a transaction.

v2 may answer PRODUCER_FENCED; v3 is flexible; v4 knows TRANSACTION_ABORTABLE; with v5 (KIP-890) the producer's epoch is
raised with every end, and the response tells it.
"""

from typing import TYPE_CHECKING

from penstock.broker.callers import caller_of
from penstock.broker.connection import Answer
from penstock.broker.router import RequestContext, handles
from penstock.broker.transaction_errors import known_to
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.end_txn import EndTxnRequest, EndTxnResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FIRST_VERSION_WITH_PRODUCER_FENCED = 2


@handles(EndTxnRequest, versions=(0, 5))
def handle_end_txn(broker: "Broker", request: EndTxnRequest, context: RequestContext) -> Answer:
    caller = caller_of(context)
    if not request.transactional_id:
        return _refuse(ApiError(ErrorCode.INVALID_REQUEST), caller.version)
    return broker.coordinators.transactions.ask(
        request.transactional_id,
        lambda shard, ticket, now_ms: shard.handle_end_txn(request, caller, ticket, now_ms),
        lambda error: _refuse(error, caller.version),
    )


def _refuse(error: ApiError, version: int) -> EndTxnResponse:
    code = known_to(version, error.code, first_with_fenced=FIRST_VERSION_WITH_PRODUCER_FENCED)
    return EndTxnResponse(error_code=code)
