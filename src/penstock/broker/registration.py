"""The broker's own places in ZooKeeper: its id, the cluster's id, and its registration.

The registration is an ephemeral node, so it goes with the session; whoever sees it go knows that the broker can't act
for the cluster any more. The moment of its creation is the broker's epoch: it tells one life of a broker from the
next. A copy stays, so that the cluster knows of brokers that are away until somebody unregisters them.
"""

import asyncio
import base64
import logging
import uuid
from collections.abc import Mapping
from typing import Protocol

from penstock.broker.coordination import Coordination, Create, NodeExists, NoNode, VersionConflict
from penstock.broker.image_reading import read_brokers
from penstock.broker.znode_reading import decoded
from penstock.clock import Clock
from penstock.controller import znodes
from penstock.controller.image import BrokerImage
from penstock.errors import ConfigError
from penstock.settings.broker import BrokerSettings

log = logging.getLogger("penstock.broker.registration")

ATTEMPTS = 3


class OwnTest(Protocol):
    def __call__(self, data: bytes, /) -> bool: ...


class Registration:
    def __init__(self, settings: BrokerSettings, clock: Clock, coordination: Coordination) -> None:
        self.settings = settings
        self.clock = clock
        self.coordination = coordination
        self.broker_id = settings.broker_id
        self.endpoints: Mapping[str, tuple[str, int]] = {}
        self.whole_since: int | None = None
        """The first of this broker's lives of which nothing that was written is lost; None: the one that begins now."""

    async def identify(self, stored_broker_id: int | None) -> str:
        """Makes sure of the layout and of this broker's id; the cluster's id."""
        await asyncio.gather(*(self.coordination.ensure(path) for path in znodes.PERSISTENT_PATHS))
        cluster_id = await self._cluster_id()
        if self.broker_id < 0:
            if stored_broker_id is None and not self.settings.broker_id_generation_enable:
                raise ConfigError(f"broker.id: got {self.broker_id}; takes a number from 0 on")
            self.broker_id = stored_broker_id if stored_broker_id is not None else await self._generate_id()
        return cluster_id

    async def _cluster_id(self) -> str:
        try:
            node = await self.coordination.get(znodes.CLUSTER_ID)
            return decoded(znodes.CLUSTER_ID, znodes.decode_cluster_id, node.data)
        except NoNode:
            fresh = base64.urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()
            await self.coordination.ensure(znodes.CLUSTER_ID, znodes.encode_cluster_id(fresh))
            return znodes.decode_cluster_id((await self.coordination.get(znodes.CLUSTER_ID)).data)

    async def _generate_id(self) -> int:
        version = await self.coordination.set(znodes.BROKER_SEQUENCE, b"")
        return self.settings.reserved_broker_max_id + version

    # the registration

    async def check_addresses(self, endpoints: Mapping[str, tuple[str, int]]) -> None:
        """Refuses what another broker tells clients to connect to: they would come to the wrong one."""
        ids = await self.coordination.children(znodes.BROKER_IDS)
        for other in (await read_brokers(self.coordination, ids)).values():
            shared = {*other.endpoints.values()} & {*endpoints.values()}
            if other.id != self.broker_id and shared:
                taken = ", ".join(f"{host}:{port}" for host, port in sorted(shared))
                raise ConfigError(
                    f"advertised.listeners: got {taken}, which broker {other.id} has; takes addresses of its own"
                )

    async def register(self, endpoints: Mapping[str, tuple[str, int]]) -> None:
        """Under the addresses that clients are to use."""
        self.endpoints = dict(endpoints)
        data = self._data()
        await self.take(znodes.broker_path(self.broker_id), data, self._is_own)
        await self._leave_copy(znodes.known_broker_path(self.broker_id), data)
        if self.whole_since is None:
            self.whole_since = await self._own_epoch()

    async def _own_epoch(self) -> int | None:
        try:
            return (await self.coordination.get(znodes.broker_path(self.broker_id))).creation_zxid
        except NoNode:  # the session has expired meanwhile; the next registration tells
            return None

    async def _leave_copy(self, path: str, data: bytes) -> None:
        try:
            await self.coordination.set(path, data)
        except NoNode:
            await self.coordination.ensure(path, data)

    def leaving(self) -> tuple[str, bytes]:
        """The node, and what it says of a broker that has others take over what it leads."""
        return znodes.broker_path(self.broker_id), self._data(is_leaving=True)

    def _data(self, *, is_leaving: bool = False) -> bytes:
        return znodes.encode_broker(
            self.endpoints,
            self.settings.security_protocols,
            self.settings.broker_rack,
            self.clock.now_ms(),
            whole_since=self.whole_since,
            is_leaving=is_leaving,
        )

    def _is_own(self, data: bytes) -> bool:
        other = znodes.decode_broker(self.broker_id, data, -1)
        if dict(other.endpoints) == self.endpoints:
            return True
        raise ConfigError(
            f"broker.id: got {self.broker_id}, which a broker at {_addresses(other)} has; takes a number of its own"
        )

    async def take(self, path: str, data: bytes, is_own: OwnTest) -> None:
        """Creates an ephemeral node; one that an earlier run of this very broker left behind is replaced."""
        for _ in range(ATTEMPTS):
            try:
                await self.coordination.create(Create(path, data, ephemeral=True))
                return
            except NodeExists:
                if await self.is_held_by_this_session(path, is_own):
                    return
        raise NodeExists(f"{path} is taken by another session again and again")

    async def is_held_by_this_session(self, path: str, is_own: OwnTest) -> bool:
        """An ephemeral node; one of an earlier run is removed, one of somebody else raises NodeExists."""
        try:
            node = await self.coordination.get(path)
            if node.ephemeral_owner == self.coordination.session_id:
                return True
            if not is_own(node.data):
                raise NodeExists(f"{path} belongs to another broker")
            log.info("removing %s, left behind by an earlier run of this broker", path)
            await self.coordination.delete(path, node.version)
        except (NoNode, VersionConflict):
            pass
        return False


def _addresses(broker: BrokerImage) -> str:
    return ", ".join(f"{host}:{port}" for host, port in broker.endpoints.values())
