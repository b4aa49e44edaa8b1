"""The way to the other brokers of the cluster: connections to their inter-broker listeners, by what they are for.

Requests on one connection take turns, so what may take long has a connection of its own.
"""

import asyncio
from typing import TypeVar

from penstock.broker.registration import Registration
from penstock.controller.image import ClusterImage
from penstock.settings.broker import BrokerSettings
from penstock.wire.schema import ApiMessage
from penstock.wire_client import Address, ClusterConfig, Disconnected
from penstock.wire_client.aio import AsyncioNetwork
from penstock.wire_client.connection import Connection

AnswerT = TypeVar("AnswerT", bound=ApiMessage)


class Peers:
    def __init__(self, settings: BrokerSettings, registration: Registration, image: ClusterImage) -> None:
        self.settings = settings
        self.registration = registration
        self.image = image
        self._network = AsyncioNetwork()
        self._connections: dict[tuple[int, str], Connection] = {}
        self._connecting: dict[tuple[int, str], asyncio.Lock] = {}

    async def ask(
        self,
        broker_id: int,
        request: ApiMessage,
        answer: type[AnswerT],
        *,
        purpose: str,
        timeout_ms: int,
        at_most: int | None = None,
    ) -> AnswerT:
        """Its answer; Disconnected if there is none, when the request may have been carried out or not."""
        key = (broker_id, purpose)
        async with self._connecting.setdefault(key, asyncio.Lock()):
            connection = self._connections.get(key)
            if connection is None or connection.is_closed or not self._is_at(broker_id, connection):
                connection = self._connections[key] = await self.connect(broker_id, purpose)
        return await connection.ask(request, answer, timeout_ms=timeout_ms, at_most=at_most)

    def _is_at(self, broker_id: int, connection: Connection) -> bool:
        return connection.address == self._address_of(broker_id)

    async def connect(self, broker_id: int, purpose: str) -> Connection:
        """A connection that is the caller's own."""
        settings = self.settings
        config = ClusterConfig(
            (),
            client_id=f"broker-{self.registration.broker_id}-{purpose}",
            request_timeout_ms=settings.replica_socket_timeout_ms,
            connection_setup_timeout_ms=settings.socket_connection_setup_timeout_ms,
        )
        return await Connection.open(self._network, self._address_of(broker_id), config)

    def _address_of(self, broker_id: int) -> Address:
        known = self.image.brokers.get(broker_id)
        listener = self.settings.inter_broker_listener
        if known is None or listener not in known.endpoints:
            raise Disconnected(f"broker {broker_id} is not registered with a listener {listener}")
        return Address(*known.endpoints[listener])

    async def close(self) -> None:
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()
        await self._network.wait_closed()
