"""A client of the whole cluster: finds the broker to ask, asks it in the newest version both sides know, and tries
again while trying again can help.

It connects to `bootstrap.servers` first and asks any broker it has a connection to; the controller, coordinators and
leaders are reached at the addresses that the brokers advertise. An address that cannot be reached is named with the
broker that advertised it, since a wrong `advertised.listeners` is the usual reason.

The code is the same for both networks (see `network`): on a `BlockingNetwork` its coroutines never suspend.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import Any, NamedTuple, TypeVar

from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from penstock.wire.schema import ApiMessage
from penstock.wire_client.attempts import Attempts
from penstock.wire_client.config import ClusterConfig
from penstock.wire_client.connection import Connection
from penstock.wire_client.errors import IS_IT_RUNNING, KafkaError, error_for, is_retriable
from penstock.wire_client.network import Address, Disconnected, Network
from penstock.wire_client.warn import warn

A = TypeVar("A", bound=ApiMessage)
T = TypeVar("T")


class CoordinatorKind(IntEnum):
    GROUP = 0
    TRANSACTION = 1
    SHARE = 2


class Node(NamedTuple):
    id: int
    host: str
    port: int
    rack: str | None = None

    @property
    def address(self) -> Address:
        return Address(self.host, self.port)


class ClusterView(NamedTuple):
    """Who is there, as the last metadata said."""

    cluster_id: str | None
    controller_id: int
    nodes: tuple[Node, ...]
    said_by: Address

    def node(self, node_id: int) -> Node | None:
        return next((node for node in self.nodes if node.id == node_id), None)


def _top_level_error(answer: Any) -> int:
    return int(getattr(answer, "error_code", 0))


def _an_answer_to(request: ApiMessage) -> str:
    return f"an answer to {type(request).__name__.removesuffix('Request')}"


class Cluster:
    def __init__(self, config: ClusterConfig, network: Network) -> None:
        self.config = config
        self.network = network
        self.view: ClusterView | None = None
        self._connections: dict[Address, Connection] = {}
        self._has_connected = False
        self._warned_of: str | None = None

    # asking

    async def ask_any(
        self,
        request: ApiMessage,
        answer: type[A],
        *,
        at_most: int | None = None,
        timeout_ms: int | None = None,
    ) -> A:
        """Any broker: the one there is a connection to, or the first that can be reached."""
        return await self._ask(self._any_connection, request, answer, at_most, timeout_ms)

    async def ask_node(
        self,
        node_id: int,
        request: ApiMessage,
        answer: type[A],
        *,
        at_most: int | None = None,
        timeout_ms: int | None = None,
    ) -> A:
        async def find() -> Connection:
            return await self.connection_to(node_id)

        return await self._ask(find, request, answer, at_most, timeout_ms)

    async def ask_controller(
        self,
        request: ApiMessage,
        answer: type[A],
        *,
        at_most: int | None = None,
        timeout_ms: int | None = None,
        error_of: Callable[[Any], int] = _top_level_error,
    ) -> A:
        """The controller, found again if it has moved or does not answer."""
        async for attempt in self.attempts(_an_answer_to(request)):
            node_id = (await self.describe()).controller_id
            if node_id < 0:
                attempt.failed(error_for(ErrorCode.BROKER_NOT_AVAILABLE, "the cluster has no controller"))
                self.view = None
                continue
            try:
                connection = await self.connection_to(node_id)
                said = await connection.ask(request, answer, at_most=at_most, timeout_ms=timeout_ms)
            except Disconnected as error:
                self._on_disconnected(attempt, error)
                self.view = None
                continue
            if error_of(said) != ErrorCode.NOT_CONTROLLER:
                return said
            attempt.failed(error_for(ErrorCode.NOT_CONTROLLER))
            self.view = None
        raise AssertionError("attempts end by raising")

    async def ask_coordinator(
        self,
        key: str,
        request: ApiMessage,
        answer: type[A],
        *,
        kind: CoordinatorKind = CoordinatorKind.GROUP,
        at_most: int | None = None,
        error_of: Callable[[Any], int] = _top_level_error,
    ) -> A:
        """The coordinator of a group, a transactional id or a share partition, found again if it has moved or does not
        answer."""
        async for attempt in self.attempts(f"an answer of the coordinator of {key!r}"):
            node_id = await self.find_coordinator(key, kind)
            try:
                said = await (await self.connection_to(node_id)).ask(request, answer, at_most=at_most)
            except Disconnected as error:
                self._on_disconnected(attempt, error)
                continue
            if error_of(said) not in _COORDINATOR_IS_AWAY:
                return said
            attempt.failed(error_for(error_of(said)))
        raise AssertionError("attempts end by raising")

    async def ask_leader(
        self, node_id: int, request: ApiMessage, answer: type[A], *, at_most: int | None = None
    ) -> A:
        """A node for as long as it leads: the error NETWORK_EXCEPTION, upon which the caller looks who leads now, if it
        does not answer."""
        try:
            return await (await self.connection_to(node_id)).ask(request, answer, at_most=at_most)
        except Disconnected as error:
            raise error_for(ErrorCode.NETWORK_EXCEPTION, str(error)) from error

    async def ask_leaders(
        self,
        wanted: Mapping[TopicPartition, T],
        build: Callable[[dict[TopicPartition, T]], ApiMessage],
        answer: type[A],
        *,
        at_most: int | None = None,
    ) -> dict[int, A]:
        """Asks each leader for the partitions that it leads; the answers by node."""
        leaders = await self.leaders_of(wanted)
        by_node: dict[int, dict[TopicPartition, T]] = {}
        for partition, value in wanted.items():
            by_node.setdefault(leaders[partition], {})[partition] = value
        said = await self.each(
            self.ask_node(node_id, build(part), answer, at_most=at_most) for node_id, part in by_node.items()
        )
        return dict(zip(by_node, said, strict=True))

    # who is who

    async def describe(self) -> ClusterView:
        """Who is there; asks only if it is not known."""
        if self.view is None:
            await self.metadata([])
        assert self.view is not None
        return self.view

    async def metadata(
        self, topics: Sequence[str] | None, *, at_most: int | None = None, create_topics: bool = False
    ) -> MetadataResponse:
        """Of these topics, of none (`[]`), or of all (`None`)."""
        request = MetadataRequest(
            None if topics is None else [MetadataRequestTopic(name=name) for name in topics],
            allow_auto_topic_creation=create_topics,
        )
        connection: Connection | None = None

        async def find() -> Connection:
            nonlocal connection
            connection = await self._any_connection()
            return connection

        answer = await self._ask(find, request, MetadataResponse, at_most, None)
        assert connection is not None
        nodes = tuple(Node(each.node_id, each.host, each.port, each.rack) for each in answer.brokers)
        self.view = ClusterView(answer.cluster_id, answer.controller_id, nodes, connection.address)
        return answer

    async def find_coordinator(self, key: str, kind: CoordinatorKind = CoordinatorKind.GROUP) -> int:
        """The node id of a coordinator; waits while the cluster makes one."""
        async for attempt in self.attempts(f"the coordinator of {key!r}"):
            error, message, node = await self._coordinator(key, kind)
            if not error:
                self._remember(node)
                return node.id
            if not is_retriable(error):
                raise error_for(error, message)
            attempt.failed(error_for(error, message))
        raise AssertionError("attempts end by raising")

    async def _coordinator(self, key: str, kind: CoordinatorKind) -> tuple[int, str | None, Node]:
        from penstock.wire.messages.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse

        both_forms = FindCoordinatorRequest(key, kind, coordinator_keys=[key])  # each version takes its own
        answer = await self.ask_any(both_forms, FindCoordinatorResponse)
        found = answer.coordinators[0] if answer.coordinators else answer
        return found.error_code, found.error_message, Node(found.node_id, found.host, found.port)

    def _remember(self, node: Node) -> None:
        if self.view is not None and self.view.node(node.id) is None:
            self.view = self.view._replace(nodes=(*self.view.nodes, node))

    async def leaders_of(self, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, int]:
        """The node that leads each partition; waits for those that have no leader just now, or no topic yet."""
        wanted = set(partitions)
        topics = sorted({partition.topic for partition in wanted})
        async for attempt in self.attempts(f"leaders for {', '.join(topics)}"):
            leaders = _leaders(await self.metadata(topics))
            missing = [partition for partition in wanted if not _is_led(leaders.get(partition))]
            if not missing:
                return {partition: _node_id(leaders[partition]) for partition in wanted}
            attempt.failed(_why_leaderless(missing[0], leaders))
        raise AssertionError("attempts end by raising")

    # connections

    async def connection_to(self, node_id: int) -> Connection:
        node = (await self.describe()).node(node_id)
        if node is None:
            await self.metadata([])
            node = (await self.describe()).node(node_id)
        if node is None:
            raise Disconnected(f"node {node_id} is not in the cluster")
        return await self._connect(node.address, node)

    async def newest_version(self, node_id: int, request: type[ApiMessage]) -> int:
        """The newest version of an API that this node and this client have."""
        what = f"an answer of node {node_id}"
        return await self._newest_version(what, lambda: self.connection_to(node_id), request)

    async def newest_version_of_any(self, request: type[ApiMessage]) -> int:
        """The same of the broker that `ask_any` asks."""
        return await self._newest_version("an answer of any node", self._any_connection, request)

    async def newest_version_of_leader(self, node_id: int, request: type[ApiMessage]) -> int:
        """The same of a node for as long as it leads, as in `ask_leader`."""
        try:
            return (await self.connection_to(node_id)).newest_version(request)
        except Disconnected as error:
            raise error_for(ErrorCode.NETWORK_EXCEPTION, str(error)) from error

    async def newest_version_of_controller(self, request: type[ApiMessage]) -> int:
        """The same of the controller, found again if it does not answer."""

        async def find() -> Connection:
            try:
                return await self.connection_to((await self.describe()).controller_id)
            except Disconnected:
                self.view = None
                raise

        return await self._newest_version("an answer of the controller", find, request)

    async def _newest_version(
        self, what: str, find: Callable[[], Awaitable[Connection]], request: type[ApiMessage]
    ) -> int:
        async for attempt in self.attempts(what):
            try:
                return (await find()).newest_version(request)
            except Disconnected as error:
                self._on_disconnected(attempt, error)
        raise AssertionError("attempts end by raising")

    async def _any_connection(self) -> Connection:
        for connection in self._connections.values():
            if not connection.is_closed:
                return connection
        reasons: dict[str, None] = {}
        for address, node in self._places():
            try:
                return await self._connect(address, node)
            except Disconnected as error:
                reasons[str(error)] = None
        raise Disconnected("; ".join(reasons) or "there is no broker to ask")

    def _places(self) -> list[tuple[Address, Node | None]]:
        places: list[tuple[Address, Node | None]] = [(address, None) for address in self.config.bootstrap]
        if self.view is not None:
            places += [(node.address, node) for node in self.view.nodes]
        return places

    async def _connect(self, address: Address, node: Node | None) -> Connection:
        known = self._connections.get(address)
        if known is not None and not known.is_closed:
            return known
        try:
            connection = await Connection.open(self.network, address, self.config)
        except Disconnected as error:
            raise Disconnected(self._unreachable(address, node, error)) from error
        if (other := self._connections.get(address)) is not None and not other.is_closed:
            connection.close()
            return other
        self._connections[address] = connection
        self._has_connected = True
        self._warned_of = None
        return connection

    def _unreachable(self, address: Address, node: Node | None, error: Disconnected) -> str:
        if node is None or self.view is None:
            return f"{address} (bootstrap.servers) cannot be reached: {error}"
        return (
            f"{address}, the address of node {node.id} that {self.view.said_by} advertises, cannot be reached: "
            f"{error}; check advertised.listeners of that broker"
        )

    # trying

    def attempts(self, what: str, timeout_ms: int | None = None) -> Attempts:
        return Attempts(self.network, self.config, what, timeout_ms)

    async def each(self, coroutines: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
        return await self.network.each(coroutines)

    async def _ask(
        self,
        find: Callable[[], Awaitable[Connection]],
        request: ApiMessage,
        answer: type[A],
        at_most: int | None,
        timeout_ms: int | None,
    ) -> A:
        async for attempt in self.attempts(_an_answer_to(request)):
            try:
                connection = await find()
                return await connection.ask(request, answer, at_most=at_most, timeout_ms=timeout_ms)
            except Disconnected as error:
                self._on_disconnected(attempt, error)
        raise AssertionError("attempts end by raising")

    def _on_disconnected(self, attempt: Attempts, error: Disconnected) -> None:
        """What is tried again is warned of once; what is not, the error that follows tells."""
        attempt.failed(error, is_nobody_there=not self._has_connected)
        text = str(error) if self._has_connected else f"{error}; {IS_IT_RUNNING}"
        ends_soon = not self._has_connected and self.config.first_contact_timeout_ms is not None
        if attempt.left_ms and not ends_soon and self._warned_of != text:
            self._warned_of = text
            warn(text)

    # the end

    def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()


_COORDINATOR_IS_AWAY = {
    ErrorCode.NOT_COORDINATOR,
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
}


def _leaders(metadata: MetadataResponse) -> dict[TopicPartition, int | KafkaError]:
    """The leader of each partition, or why there is none."""
    found: dict[TopicPartition, int | KafkaError] = {}
    for topic in metadata.topics:
        name = topic.name or ""
        if topic.error_code:
            error = error_for(topic.error_code)
            if not is_retriable(topic.error_code):
                raise error
            found[TopicPartition(name, -1)] = error
        for partition in topic.partitions:
            found[TopicPartition(name, partition.partition_index)] = partition.leader_id
    return found


def _is_led(leader: int | KafkaError | None) -> bool:
    return isinstance(leader, int) and leader >= 0


def _node_id(leader: int | KafkaError) -> int:
    assert isinstance(leader, int)
    return leader


def _why_leaderless(
    partition: TopicPartition, leaders: Mapping[TopicPartition, int | KafkaError]
) -> KafkaError:
    of_topic = leaders.get(TopicPartition(partition.topic, -1))
    if isinstance(of_topic, KafkaError):
        return of_topic
    if partition in leaders:
        return error_for(ErrorCode.LEADER_NOT_AVAILABLE)
    return error_for(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"{partition} does not exist")
