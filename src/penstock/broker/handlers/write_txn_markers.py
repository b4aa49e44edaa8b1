"""WriteTxnMarkers: ends transactions in partitions of this broker. Sent by coordinators, and by `kafka-transactions` to
abort a transaction that hangs. Answered when the markers are committed.

v1 is flexible; v2 says which transaction protocol a marker belongs to, whose markers are checked more strictly from
protocol 2 on.
"""

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from penstock.broker.committing import wait_until_committed
from penstock.broker.partition import Partition
from penstock.broker.router import RequestContext, handles
from penstock.broker.transaction_markers import COMMIT_TIMEOUT_MS, Marker, append_marker
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
def handle_write_txn_markers(
    broker: "Broker", request: WriteTxnMarkersRequest, context: RequestContext
) -> WriteTxnMarkersResponse | Awaitable[WriteTxnMarkersResponse]:
    written = [_Written(broker, marker) for marker in request.markers]
    response = WriteTxnMarkersResponse([one.result for one in written])
    uncommitted = [each for one in written for each in one.uncommitted]
    return _wait(response, uncommitted) if uncommitted else response


async def _wait(
    response: WriteTxnMarkersResponse,
    uncommitted: list[tuple[Partition, WritableTxnMarkerPartitionResult]],
) -> WriteTxnMarkersResponse:
    await asyncio.gather(*(_wait_for(partition, result) for partition, result in uncommitted))
    return response


async def _wait_for(partition: Partition, result: WritableTxnMarkerPartitionResult) -> None:
    try:
        await wait_until_committed(partition, COMMIT_TIMEOUT_MS)
    except ApiError as error:
        result.error_code = error.code


class _Written:
    """A marker in its partitions, as far as they are led here; those where it has to be committed yet."""

    def __init__(self, broker: "Broker", asked: WritableTxnMarker) -> None:
        self._broker = broker
        self._marker = Marker(
            Producer(asked.producer_id, asked.producer_epoch),
            asked.transaction_result,
            asked.coordinator_epoch,
            asked.transaction_version,
        )
        self.uncommitted: list[tuple[Partition, WritableTxnMarkerPartitionResult]] = []
        topics = [
            WritableTxnMarkerTopicResult(
                topic.name, [self._write(topic.name, index) for index in topic.partition_indexes]
            )
            for topic in asked.topics
        ]
        self.result = WritableTxnMarkerResult(asked.producer_id, topics)

    def _write(self, topic: str, index: int) -> WritableTxnMarkerPartitionResult:
        result = WritableTxnMarkerPartitionResult(index)
        now_ms = self._broker.clock.now_ms()
        try:
            partition = append_marker(self._broker, TopicPartition(topic, index), self._marker, now_ms)
        except ApiError as error:
            result.error_code = error.code
        else:
            if partition is not None:
                self.uncommitted.append((partition, result))
        return result
