"""What the five APIs of the share coordinator have in common: many share partitions are asked for, each on its own."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from penstock.broker.share_states import answers
from penstock.errors import ApiError
from penstock.group.share_state import SharePartitionKey, ShareStateShard
from penstock.machine import Outcome, Ticket

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


class AskedPartition(Protocol):
    @property
    def partition(self) -> int: ...


PartitionT = TypeVar("PartitionT", bound=AskedPartition)
Handle = Callable[[ShareStateShard, SharePartitionKey, PartitionT, Ticket, int], Outcome]


def is_meant(group_id: str, topics: Sequence[Any]) -> bool:
    """Whether a request asks for anything; if not, it gets an empty answer."""
    return bool(group_id and topics and all(topic.partitions for topic in topics))


async def ask_partitions(
    broker: "Broker",
    group_id: str,
    topic_id: bytes,
    partitions: Sequence[PartitionT],
    handle: Handle[PartitionT],
    refuse: Callable[[int, ApiError], Any],
) -> list[Any]:
    """The results of one topic's partitions."""

    def ask(asked: PartitionT) -> Awaitable[Any]:
        key = SharePartitionKey(group_id, topic_id, asked.partition)
        return broker.coordinators.sharing.states.ask_here(
            key, lambda shard, ticket, now_ms: handle(shard, key, asked, ticket, now_ms)
        )

    found = await answers([ask(asked) for asked in partitions])
    return [
        refuse(asked.partition, answer) if isinstance(answer, ApiError) else answer
        for asked, answer in zip(partitions, found, strict=True)
    ]
