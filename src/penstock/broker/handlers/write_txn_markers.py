"""WriteTxnMarkers: ends transactions in partitions of this broker. Sent by coordinators, and by `kafka-transactions` to
abort a transaction that hangs.

v1 is flexible; v2 says which transaction protocol a marker belongs to, whose markers are checked more strictly from
protocol 2 on.
"""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.broker.transaction_markers import Marker, write_marker
from penstock.errors import ApiError, ErrorCode
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
) -> WriteTxnMarkersResponse:
    return WriteTxnMarkersResponse([_write(broker, marker) for marker in request.markers])


def _write(broker: "Broker", asked: WritableTxnMarker) -> WritableTxnMarkerResult:
    marker = Marker(
        Producer(asked.producer_id, asked.producer_epoch),
        asked.transaction_result,
        asked.coordinator_epoch,
        asked.transaction_version,
    )
    topics = [
        WritableTxnMarkerTopicResult(
            topic.name,
            [
                WritableTxnMarkerPartitionResult(index, _write_one(broker, topic.name, index, marker))
                for index in topic.partition_indexes
            ],
        )
        for topic in asked.topics
    ]
    return WritableTxnMarkerResult(asked.producer_id, topics)


def _write_one(broker: "Broker", topic: str, index: int, marker: Marker) -> int:
    try:
        write_marker(broker, TopicPartition(topic, index), marker, broker.clock.now_ms())
    except ApiError as error:
        return error.code
    return ErrorCode.NONE
