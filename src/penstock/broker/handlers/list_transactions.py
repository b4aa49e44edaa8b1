"""ListTransactions: the transactional ids of this broker's coordinators.

v1 filters by how long a transaction has run; v2 by a regular expression that the whole transactional id has to match.
"""

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError, ErrorCode
from penstock.txn.listing import TransactionFilter
from penstock.wire.messages.list_transactions import (
    ListTransactionsRequest,
    ListTransactionsResponse,
    TransactionState,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(ListTransactionsRequest, versions=(0, 2))
def handle_list_transactions(
    broker: "Broker", request: ListTransactionsRequest, context: RequestContext
) -> ListTransactionsResponse | Awaitable[ListTransactionsResponse]:
    shards = list(broker.coordinators.transactions)
    if not all(shard.is_active for shard in shards):
        return ListTransactionsResponse(error_code=ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    try:
        wanted = TransactionFilter(request, broker.clock.now_ms())
    except ApiError as error:
        return ListTransactionsResponse(error_code=error.code)
    found = [
        TransactionState(one.transactional_id, one.producer_id, one.state.kafka_name)
        for shard in shards
        for one in shard.machine.transactions.values()
        if wanted.includes(one)
    ]
    if wanted.takes_long:
        return _match_ids(broker, wanted, found)
    return ListTransactionsResponse(unknown_state_filters=wanted.unknown_states, transaction_states=found)


async def _match_ids(
    broker: "Broker", wanted: TransactionFilter, found: list[TransactionState]
) -> ListTransactionsResponse:
    def match() -> list[TransactionState]:
        return [each for each in found if wanted.includes_id(each.transactional_id)]

    async with broker.long_work:
        matching = await asyncio.to_thread(match)
    return ListTransactionsResponse(unknown_state_filters=wanted.unknown_states, transaction_states=matching)
