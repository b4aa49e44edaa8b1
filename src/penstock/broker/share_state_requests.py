"""What the five APIs of the share coordinator have in common: many share partitions are asked for, each on its own."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from penstock.broker.share_state_operations import Handle
from penstock.broker.share_states import answers
from penstock.errors import ApiError
from penstock.group.share_state import SharePartitionKey

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


class AskedTopic(Protocol):
    @property
    def topic_id(self) -> bytes: ...
    @property
    def partitions(self) -> Sequence[Any]: ...


class Request(Protocol):
    @property
    def group_id(self) -> str: ...
    @property
    def topics(self) -> Sequence[AskedTopic]: ...


ResultT = TypeVar("ResultT")
Refuse = Callable[[int, int, str | None], Any]
"""Makes the result of a partition that is refused: of its number, the error code and the message."""


async def ask_all(
    broker: "Broker",
    request: Request,
    handle: Handle,
    topic_result: Callable[[bytes, list[Any]], ResultT],
    refuse: Refuse,
) -> list[ResultT]:
    """The results of all topics; none if the request asks for nothing, or for nothing of one topic."""
    if not request.group_id or not all(topic.partitions for topic in request.topics):
        return []
    return [
        topic_result(topic.topic_id, await _ask_partitions(broker, request.group_id, topic, handle, refuse))
        for topic in request.topics
    ]


async def _ask_partitions(
    broker: "Broker", group_id: str, topic: AskedTopic, handle: Handle, refuse: Refuse
) -> list[Any]:
    def ask(asked: Any) -> Awaitable[Any]:
        key = SharePartitionKey(group_id, topic.topic_id, asked.partition)
        return broker.coordinators.sharing.states.ask_here(
            key, lambda shard, ticket, now_ms: handle(shard, key, asked, ticket, now_ms)
        )

    found = await answers(ask(asked) for asked in topic.partitions)
    return [
        refuse(asked.partition, answer.code, answer.message) if isinstance(answer, ApiError) else answer
        for asked, answer in zip(topic.partitions, found, strict=True)
    ]
