"""`KafkaAdmin` blocks, `AsyncKafkaAdmin` is awaited; both have the same methods, which stand in `calls`."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from functools import wraps
from inspect import Parameter, signature
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Self, TypeVar

from penstock.client.admin.calls import cluster as cluster_calls
from penstock.client.admin.calls import configs, groups, security, topics, transactions
from penstock.client.config import AdminConfig
from penstock.wire_client import Cluster, ClusterConfig, now
from penstock.wire_client.blocking import BlockingNetwork

if TYPE_CHECKING:
    from typing import Unpack

    from penstock.client.config import AdminKeywords

P = ParamSpec("P")
R = TypeVar("R")
M = TypeVar("M", bound=Callable[..., Any])
Call = Callable[Concatenate[Cluster, P], Coroutine[Any, Any, R]]


def _with_self(method: M) -> M:
    """For `help()` and editors: a call has the cluster first, a method itself."""
    of_call = signature(method)
    first, *others = of_call.parameters.values()
    own = first.replace(name="self", annotation=Parameter.empty)
    method.__signature__ = of_call.replace(parameters=[own, *others])  # type: ignore[attr-defined]
    return method


def _blocking(call: Call[P, R]) -> Callable[Concatenate[KafkaAdmin, P], R]:
    @wraps(call)
    def method(self: KafkaAdmin, /, *args: P.args, **kwargs: P.kwargs) -> R:
        with self._lock:
            return now(call(self._cluster, *args, **kwargs))

    return _with_self(method)


def _awaited(call: Call[P, R]) -> Callable[Concatenate[AsyncKafkaAdmin, P], Coroutine[Any, Any, R]]:
    @wraps(call)
    async def method(self: AsyncKafkaAdmin, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await call(self._cluster, *args, **kwargs)

    return _with_self(method)


class KafkaAdmin:
    """Looks after a cluster: topics, settings, groups, offsets, ACLs, users. Several threads may share one.

    >>> from penstock import KafkaAdmin
    >>> with KafkaAdmin(bootstrap_servers="localhost:9092") as admin:
    ...     admin.create_topic("orders", partitions=3).num_partitions
    3
    """

    def __init__(
        self, config: AdminConfig | Mapping[str, object] | None = None, **keywords: Unpack[AdminKeywords]
    ) -> None:
        from threading import Lock

        self.config = AdminConfig.of(config, keywords)
        self._cluster = Cluster(ClusterConfig.from_configs(self.config), BlockingNetwork())
        self._lock = Lock()

    def close(self) -> None:
        """Closes the connections; a later call opens them again.

        >>> from penstock import KafkaAdmin
        >>> admin = KafkaAdmin(bootstrap_servers="localhost:9092")
        >>> admin.close()
        """
        self._cluster.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    list_topics = _blocking(topics.list_topics)
    describe_topics = _blocking(topics.describe_topics)
    create_topic = _blocking(topics.create_topic)
    create_topics = _blocking(topics.create_topics)
    delete_topics = _blocking(topics.delete_topics)
    add_partitions = _blocking(topics.add_partitions)
    delete_records = _blocking(topics.delete_records)

    describe_configs = _blocking(configs.describe_configs)
    alter_configs = _blocking(configs.alter_configs)

    list_groups = _blocking(groups.list_groups)
    describe_consumer_groups = _blocking(groups.describe_consumer_groups)
    describe_share_groups = _blocking(groups.describe_share_groups)
    describe_streams_groups = _blocking(groups.describe_streams_groups)
    delete_groups = _blocking(groups.delete_groups)
    committed_offsets = _blocking(groups.committed_offsets)
    alter_group_offsets = _blocking(groups.alter_group_offsets)
    delete_group_offsets = _blocking(groups.delete_group_offsets)
    list_offsets = _blocking(groups.list_offsets)

    describe_cluster = _blocking(cluster_calls.describe_cluster)
    describe_features = _blocking(cluster_calls.describe_features)
    describe_log_dirs = _blocking(cluster_calls.describe_log_dirs)
    elect_leaders = _blocking(cluster_calls.elect_leaders)
    reassign_partitions = _blocking(cluster_calls.reassign_partitions)
    list_reassignments = _blocking(cluster_calls.list_reassignments)

    list_acls = _blocking(security.list_acls)
    create_acls = _blocking(security.create_acls)
    delete_acls = _blocking(security.delete_acls)
    list_users = _blocking(security.list_users)
    upsert_user = _blocking(security.upsert_user)
    delete_user = _blocking(security.delete_user)
    list_quotas = _blocking(security.list_quotas)
    alter_quotas = _blocking(security.alter_quotas)

    list_transactions = _blocking(transactions.list_transactions)
    describe_transaction = _blocking(transactions.describe_transaction)
    terminate_transaction = _blocking(transactions.terminate_transaction)


class AsyncKafkaAdmin:
    """`KafkaAdmin` for an event loop: the same methods, awaited.

    >>> import asyncio
    >>> from penstock import AsyncKafkaAdmin
    >>> async def main():
    ...     async with AsyncKafkaAdmin(bootstrap_servers="localhost:9092") as admin:
    ...         await admin.create_topic("orders", partitions=3)
    ...         return [topic.name for topic in await admin.list_topics()]
    >>> asyncio.run(main())
    ['orders']
    """

    def __init__(
        self, config: AdminConfig | Mapping[str, object] | None = None, **keywords: Unpack[AdminKeywords]
    ) -> None:
        from penstock.wire_client.aio import AsyncioNetwork

        self.config = AdminConfig.of(config, keywords)
        self._network = AsyncioNetwork()
        self._cluster = Cluster(ClusterConfig.from_configs(self.config), self._network)

    async def close(self) -> None:
        """Closes the connections; a later call opens them again.

        >>> import asyncio
        >>> from penstock import AsyncKafkaAdmin
        >>> async def main():
        ...     admin = AsyncKafkaAdmin(bootstrap_servers="localhost:9092")
        ...     await admin.describe_cluster()
        ...     await admin.close()
        >>> asyncio.run(main())
        """
        self._cluster.close()
        await self._network.wait_closed()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    list_topics = _awaited(topics.list_topics)
    describe_topics = _awaited(topics.describe_topics)
    create_topic = _awaited(topics.create_topic)
    create_topics = _awaited(topics.create_topics)
    delete_topics = _awaited(topics.delete_topics)
    add_partitions = _awaited(topics.add_partitions)
    delete_records = _awaited(topics.delete_records)

    describe_configs = _awaited(configs.describe_configs)
    alter_configs = _awaited(configs.alter_configs)

    list_groups = _awaited(groups.list_groups)
    describe_consumer_groups = _awaited(groups.describe_consumer_groups)
    describe_share_groups = _awaited(groups.describe_share_groups)
    describe_streams_groups = _awaited(groups.describe_streams_groups)
    delete_groups = _awaited(groups.delete_groups)
    committed_offsets = _awaited(groups.committed_offsets)
    alter_group_offsets = _awaited(groups.alter_group_offsets)
    delete_group_offsets = _awaited(groups.delete_group_offsets)
    list_offsets = _awaited(groups.list_offsets)

    describe_cluster = _awaited(cluster_calls.describe_cluster)
    describe_features = _awaited(cluster_calls.describe_features)
    describe_log_dirs = _awaited(cluster_calls.describe_log_dirs)
    elect_leaders = _awaited(cluster_calls.elect_leaders)
    reassign_partitions = _awaited(cluster_calls.reassign_partitions)
    list_reassignments = _awaited(cluster_calls.list_reassignments)

    list_acls = _awaited(security.list_acls)
    create_acls = _awaited(security.create_acls)
    delete_acls = _awaited(security.delete_acls)
    list_users = _awaited(security.list_users)
    upsert_user = _awaited(security.upsert_user)
    delete_user = _awaited(security.delete_user)
    list_quotas = _awaited(security.list_quotas)
    alter_quotas = _awaited(security.alter_quotas)

    list_transactions = _awaited(transactions.list_transactions)
    describe_transaction = _awaited(transactions.describe_transaction)
    terminate_transaction = _awaited(transactions.terminate_transaction)
