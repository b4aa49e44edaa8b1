"""DescribeProducers: the producers that a partition remembers. Only v0 exists.

Each partition is answered once, however often it is asked for: it may have had a hundred thousand producers.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from penstock.broker.parked import Large
from penstock.broker.partition import Partition
from penstock.broker.router import RequestContext, handles
from penstock.broker.turns import Turns
from penstock.errors import ApiError
from penstock.types import TopicPartition
from penstock.wire.messages.describe_producers import (
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(DescribeProducersRequest, versions=(0, 0))
async def handle_describe_producers(
    broker: "Broker", request: DescribeProducersRequest, context: RequestContext
) -> Large:
    describing = _Describing(broker)
    return Large(
        DescribeProducersResponse(
            topics=[
                TopicResponse(topic.name, await describing.partitions(topic.name, topic.partition_indexes))
                for topic in request.topics
            ]
        )
    )


class _Describing:
    def __init__(self, broker: "Broker") -> None:
        self._broker = broker
        self._described: set[TopicPartition] = set()
        self._turns = Turns()

    async def partitions(self, topic: str, indexes: Iterable[int]) -> list[PartitionResponse]:
        found = []
        for index in indexes:
            where = TopicPartition(topic, index)
            if where not in self._described:
                self._described.add(where)
                found.append(await self._describe(where))
            if self._turns.is_over:
                await self._turns.let_others()
        return found

    async def _describe(self, where: TopicPartition) -> PartitionResponse:
        try:
            partition = self._broker.partitions.find(*where)
            partition.check_leader()
        except ApiError as error:
            return PartitionResponse(where.partition, error.code, error.message)
        return PartitionResponse(where.partition, active_producers=await self._producers_of(partition))

    async def _producers_of(self, partition: Partition) -> list[ProducerState]:
        found = []
        for producer in partition.log.producers():
            found.append(
                ProducerState(
                    producer_id=producer.producer_id,
                    producer_epoch=producer.producer_epoch,
                    last_sequence=producer.last_sequence,
                    last_timestamp=producer.last_timestamp,
                    coordinator_epoch=producer.coordinator_epoch,
                    current_txn_start_offset=producer.current_transaction_first_offset,
                )
            )
            if self._turns.is_over:
                await self._turns.let_others()
        return found
