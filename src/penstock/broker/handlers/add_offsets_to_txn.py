"""AddOffsetsToTxn: the offsets of a group will be committed in the transaction.

v2 may answer PRODUCER_FENCED; v3 is flexible; v4 knows TRANSACTION_ABORTABLE. Producers of the second transaction
protocol don't send it; TxnOffsetCommit does it for them.
"""

from typing import TYPE_CHECKING

from penstock.broker.connection import Answer
from penstock.broker.internal_topics import partition_for
from penstock.broker.router import RequestContext, handles
from penstock.broker.transaction_errors import known_to
from penstock.errors import ApiError, ErrorCode
from penstock.machine import Outcome, Ticket
from penstock.txn.shard import TransactionShard
from penstock.types import TopicPartition
from penstock.wire.messages.add_offsets_to_txn import AddOffsetsToTxnRequest, AddOffsetsToTxnResponse

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

FIRST_VERSION_WITH_PRODUCER_FENCED = 2


@handles(AddOffsetsToTxnRequest, versions=(0, 4))
def handle_add_offsets_to_txn(
    broker: "Broker", request: AddOffsetsToTxnRequest, context: RequestContext
) -> Answer:
    version = context.version
    groups = broker.coordinators.groups
    if not groups.partition_count():
        return _refuse(ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE), version)
    partition = TopicPartition(groups.topic.name, partition_for(request.group_id, groups.partition_count()))

    def add(shard: TransactionShard, ticket: Ticket, now_ms: int) -> Outcome:
        return shard.handle_add_offsets_to_txn(request, partition, ticket, now_ms)

    return broker.coordinators.transactions.ask(
        request.transactional_id, add, lambda error: _refuse(error, version)
    )


def _refuse(error: ApiError, version: int) -> AddOffsetsToTxnResponse:
    code = known_to(version, error.code, first_with_fenced=FIRST_VERSION_WITH_PRODUCER_FENCED)
    return AddOffsetsToTxnResponse(error_code=code)
