"""TxnOffsetCommit: offsets that count when the producer's transaction is committed.

v2 carries leader epochs; v3 the consumer's membership, and is flexible; v4 knows TRANSACTION_ABORTABLE; from v5
on (KIP-890) the commit itself makes the group's partition part of the transaction, where before AddOffsetsToTxn had to.
"""

from typing import TYPE_CHECKING

from penstock.broker.callers import caller_of
from penstock.broker.router import RequestContext, handles
from penstock.broker.transaction_membership import operation_of_txn_offset_commit
from penstock.errors import ApiError, ErrorCode
from penstock.group.groups import check_group_id
from penstock.group.offsets_answers import names_existing_partitions, refuse_transactional_commit
from penstock.machine import Caller, Producer
from penstock.wire.messages.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FIRST_VERSION_THAT_KNOWS_LOADING = 2


@handles(TxnOffsetCommitRequest, versions=(0, 5))
async def handle_txn_offset_commit(
    broker: "Broker", request: TxnOffsetCommitRequest, context: RequestContext
) -> TxnOffsetCommitResponse:
    caller = caller_of(context)
    try:
        return await _commit(broker, request, caller)
    except ApiError as error:
        code = error.code
        if (
            code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            and caller.version < FIRST_VERSION_THAT_KNOWS_LOADING
        ):
            code = ErrorCode.COORDINATOR_NOT_AVAILABLE
        return refuse_transactional_commit(request, broker.image, code)


async def _commit(
    broker: "Broker", request: TxnOffsetCommitRequest, caller: Caller
) -> TxnOffsetCommitResponse:
    if not names_existing_partitions(request, broker.image):
        return refuse_transactional_commit(request, broker.image, ErrorCode.NONE)
    check_group_id(request.group_id)
    shard = broker.coordinators.groups.find(request.group_id)
    await broker.coordinators.verify_transaction(
        request.transactional_id,
        Producer(request.producer_id, request.producer_epoch),
        shard.partition.topic_partition,
        operation_of_txn_offset_commit(caller.version),
    )
    response: TxnOffsetCommitResponse = await broker.coordinators.groups.call(
        request.group_id,
        lambda shard, ticket, now_ms: shard.offsets.handle_txn_offset_commit(request, caller, ticket, now_ms),
    )
    return response
