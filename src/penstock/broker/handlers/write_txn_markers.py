"""WriteTxnMarkers: ends transactions in partitions of this broker. Sent by coordinators, and by `kafka-transactions` to
abort a transaction that hangs. Answered when the markers are committed.

v1 is flexible; v2 says which transaction protocol a marker belongs to, whose markers are checked more strictly from
protocol 2 on.
"""

from collections import defaultdict
from typing import TYPE_CHECKING

from penstock.broker.committing import wait_until_committed
from penstock.broker.partition import Partition
from penstock.broker.router import RequestContext, handles
from penstock.broker.transaction_markers import COMMIT_TIMEOUT_MS, Marker
from penstock.broker.turns import Turns, gather_in_turns
from penstock.errors import ApiError
from penstock.machine import Producer
from penstock.types import TopicPartition
from penstock.wire.messages.write_txn_markers import (
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(WriteTxnMarkersRequest, versions=(1, 2))
async def handle_write_txn_markers(
    broker: "Broker", request: WriteTxnMarkersRequest, context: RequestContext
) -> WriteTxnMarkersResponse:
    writing = _Writing(broker)
    response = WriteTxnMarkersResponse([await writing.result_of(marker) for marker in request.markers])
    await writing.until_committed()
    return response


class _Writing:
    """The markers of a request, in the partitions that are led here; those that have to be committed yet."""

    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._turns = Turns()
        self._uncommitted: defaultdict[Partition, list[WritableTxnMarkerPartitionResult]] = defaultdict(list)

    async def result_of(self, asked: WritableTxnMarker) -> WritableTxnMarkerResult:
        marker = Marker(
            Producer(asked.producer_id, asked.producer_epoch),
            asked.transaction_result,
            asked.coordinator_epoch,
            asked.transaction_version,
        )
        topics = []
        for topic in asked.topics:
            results = []
            for index in topic.partition_indexes:
                results.append(self._write(TopicPartition(topic.name, index), marker))
                if self._turns.is_over:
                    await self._turns.let_others()
            topics.append(WritableTxnMarkerTopicResult(topic.name, results))
        return WritableTxnMarkerResult(asked.producer_id, topics)

    def _write(self, where: TopicPartition, marker: Marker) -> WritableTxnMarkerPartitionResult:
        result = WritableTxnMarkerPartitionResult(where.partition)
        try:
            partition = self._broker.coordinators.own_markers.append(where, marker)
        except ApiError as error:
            result.error_code = error.code
        else:
            if partition is not None:
                self._uncommitted[partition].append(result)
        return result

    async def until_committed(self) -> None:
        await gather_in_turns(_wait_for(*one) for one in self._uncommitted.items())


async def _wait_for(partition: Partition, results: list[WritableTxnMarkerPartitionResult]) -> None:
    try:
        await wait_until_committed(partition, COMMIT_TIMEOUT_MS)
    except ApiError as error:
        for result in results:
            result.error_code = error.code
