"""DescribeTransactions: how a transaction stands. Only v0 exists."""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError, ErrorCode
from penstock.txn.transaction import group_by_topic
from penstock.wire.messages.describe_transactions import (
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
    TransactionState,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(DescribeTransactionsRequest, versions=(0, 0))
def handle_describe_transactions(
    broker: "Broker", request: DescribeTransactionsRequest, context: RequestContext
) -> DescribeTransactionsResponse:
    return DescribeTransactionsResponse(
        transaction_states=[_describe(broker, one) for one in request.transactional_ids]
    )


def _describe(broker: "Broker", transactional_id: str) -> TransactionState:
    try:
        return _find(broker, transactional_id)
    except ApiError as error:
        return TransactionState(error.code, transactional_id)


def _find(broker: "Broker", transactional_id: str) -> TransactionState:
    if not transactional_id:
        raise ApiError(ErrorCode.INVALID_REQUEST)
    shard = broker.coordinators.transactions.find(transactional_id)
    transaction = shard.machine.transactions.get(transactional_id)
    if transaction is None:
        raise ApiError(ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
    return TransactionState(
        transactional_id=transactional_id,
        transaction_state=transaction.state.kafka_name,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.start_ms,
        producer_id=transaction.producer_id,
        producer_epoch=transaction.producer_epoch,
        topics=[TopicData(*topic) for topic in group_by_topic(transaction.partitions).items()],
    )
