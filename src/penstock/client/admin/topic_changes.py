"""New topics, more partitions, and the end of topics.

A call about several topics gives a result for each: what came of it, or the error. The controller may put off some of
them for its quota of such changes; those are asked for again until the time is up, unless the caller does not want to.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from penstock.client.admin.topic_ids import topic_id_bytes, topic_id_text
from penstock.errors import ErrorCode
from penstock.wire.messages.create_partitions import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
)
from penstock.wire.messages.create_topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatableTopicResult,
    CreateTopicsRequest,
    CreateTopicsResponse,
)
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicsResponse, DeleteTopicState
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, UnsupportedVersionError, error_for

T = TypeVar("T")

LEFT_TO_THE_BROKER = -1
FIRST_VERSION_WITH_IDS = 6

Errors = dict[str, KafkaError | None]
"""For each name why it could not be done; None where it was."""


@dataclass(frozen=True, slots=True)
class NewTopic:
    """A topic to create.

    >>> from penstock.client import NewTopic
    >>> NewTopic("prices", num_partitions=3, configs={"cleanup.policy": "compact"}).name
    'prices'
    """

    name: str
    num_partitions: int | None = None
    """None leaves it to the broker's `num.partitions`."""
    replication_factor: int | None = None
    """None leaves it to the broker's `default.replication.factor`."""
    replicas: Mapping[int, Sequence[int]] | None = None
    """The brokers of each partition, the preferred leader first, instead of the two numbers."""
    configs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CreatedTopic:
    name: str
    topic_id: str
    num_partitions: int
    replication_factor: int
    configs: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class NewPartitions:
    total_count: int
    """How many there are to be in all."""
    new_replicas: Sequence[Sequence[int]] | None = None
    """The brokers of each partition that is added; None leaves it to the cluster."""


async def create_topics(
    cluster: Cluster,
    topics: Iterable[NewTopic],
    *,
    validate_only: bool = False,
    retry_on_quota_violation: bool = True,
) -> dict[str, CreatedTopic | KafkaError]:
    async def ask(left: list[NewTopic]) -> Sequence[Any]:
        request = CreateTopicsRequest(
            [_creatable(topic) for topic in left], cluster.config.request_timeout_ms, validate_only
        )
        answer = await cluster.ask_controller(
            request, CreateTopicsResponse, error_of=lambda said: _not_controller(said.topics)
        )
        return answer.topics

    wanted = {topic.name: topic for topic in topics}
    results = await _ask_within_quota(cluster, wanted, ask, retry_on_quota_violation)
    return {name: _error_of(results, name) or _created(results[name]) for name in wanted}


def _creatable(topic: NewTopic) -> CreatableTopic:
    assigned = topic.replicas or {}
    factor = topic.replication_factor
    return CreatableTopic(
        topic.name,
        LEFT_TO_THE_BROKER if assigned or topic.num_partitions is None else topic.num_partitions,
        LEFT_TO_THE_BROKER if assigned or factor is None else factor,
        [CreatableReplicaAssignment(number, list(brokers)) for number, brokers in assigned.items()],
        [CreatableTopicConfig(key, value) for key, value in topic.configs.items()],
    )


def _created(result: CreatableTopicResult) -> CreatedTopic:
    return CreatedTopic(
        result.name,
        topic_id_text(result.topic_id),
        result.num_partitions,
        result.replication_factor,
        {config.name: config.value for config in result.configs or ()},
    )


async def create_partitions(
    cluster: Cluster,
    new_partitions: Mapping[str, NewPartitions],
    *,
    validate_only: bool = False,
    retry_on_quota_violation: bool = True,
) -> Errors:
    async def ask(left: list[CreatePartitionsTopic]) -> Sequence[Any]:
        request = CreatePartitionsRequest(left, cluster.config.request_timeout_ms, validate_only)
        answer = await cluster.ask_controller(
            request, CreatePartitionsResponse, error_of=lambda said: _not_controller(said.results)
        )
        return answer.results

    wanted = {name: _more_partitions(name, new) for name, new in new_partitions.items()}
    results = await _ask_within_quota(cluster, wanted, ask, retry_on_quota_violation)
    return {name: _error_of(results, name) for name in wanted}


def _more_partitions(name: str, wanted: NewPartitions) -> CreatePartitionsTopic:
    replicas = wanted.new_replicas
    assigned = None if replicas is None else [CreatePartitionsAssignment(list(each)) for each in replicas]
    return CreatePartitionsTopic(name, wanted.total_count, assigned)


async def delete_topics(
    cluster: Cluster, names: Iterable[str], *, retry_on_quota_violation: bool = True
) -> Errors:
    async def ask(left: list[str]) -> Sequence[Any]:
        # Each version takes its own of the two forms.
        request = DeleteTopicsRequest(
            left, [DeleteTopicState(name) for name in left], cluster.config.request_timeout_ms
        )
        return await _deleted(cluster, request)

    wanted = {name: name for name in names}
    results = await _ask_within_quota(cluster, wanted, ask, retry_on_quota_violation)
    return {name: _error_of(results, name) for name in wanted}


async def delete_topics_by_id(cluster: Cluster, topic_ids: Iterable[str]) -> Errors:
    await _require_ids(cluster)
    wanted = list(dict.fromkeys(topic_ids))
    states = [DeleteTopicState(None, topic_id_bytes(topic_id)) for topic_id in wanted]
    answers = await _deleted(cluster, DeleteTopicsRequest((), states, cluster.config.request_timeout_ms))
    results = {topic_id_text(each.topic_id): each for each in answers}
    return {topic_id: _error_of(results, topic_id) for topic_id in wanted}


async def _require_ids(cluster: Cluster) -> None:
    version = await cluster.newest_version_of_controller(DeleteTopicsRequest)
    if version < FIRST_VERSION_WITH_IDS:
        raise UnsupportedVersionError(
            f"The controller deletes topics by name only: it has version {version} of DeleteTopics, and ids came with "
            f"{FIRST_VERSION_WITH_IDS}.",
            ErrorCode.UNSUPPORTED_VERSION,
        )


async def _deleted(cluster: Cluster, request: DeleteTopicsRequest) -> Sequence[Any]:
    answer = await cluster.ask_controller(
        request, DeleteTopicsResponse, error_of=lambda said: _not_controller(said.responses)
    )
    return answer.responses


# --- answers with a result for each topic


async def _ask_within_quota(
    cluster: Cluster,
    wanted: Mapping[str, T],
    ask: Callable[[list[T]], Awaitable[Sequence[Any]]],
    retry_on_quota_violation: bool,
) -> dict[str, Any]:
    results: dict[str, Any] = {}
    left = dict(wanted)
    async for attempt in cluster.attempts("room in the quota of changes to topics"):
        results |= {result.name: result for result in await ask(list(left.values()))}
        left = {name: each for name, each in left.items() if _is_put_off(results.get(name))}
        if not left or not retry_on_quota_violation:
            break
        attempt.failed(error_for(ErrorCode.THROTTLING_QUOTA_EXCEEDED))
    return results


def _is_put_off(result: Any) -> bool:
    return result is not None and result.error_code == ErrorCode.THROTTLING_QUOTA_EXCEEDED


def _error_of(results: Mapping[str, Any], name: str) -> KafkaError | None:
    if name not in results:
        return KafkaError(f"The controller response did not contain a result for topic {name}")
    result = results[name]
    return error_for(result.error_code, result.error_message) if result.error_code else None


def _not_controller(results: Iterable[Any]) -> int:
    errors = {result.error_code for result in results}
    return ErrorCode.NOT_CONTROLLER if ErrorCode.NOT_CONTROLLER in errors else ErrorCode.NONE
