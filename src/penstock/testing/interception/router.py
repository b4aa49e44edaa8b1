"""The router of a broker in tests: looks at each request before the handlers do, if anybody wants it to."""

import asyncio
import logging
from typing import TYPE_CHECKING

from penstock.broker.connection import Connection
from penstock.broker.router import APIS, Router
from penstock.errors import ProtocolError
from penstock.testing.interception.exchange import Exchange
from penstock.testing.interception.interceptor import Interceptor
from penstock.testing.interception.rules import Rule
from penstock.testing.interception.seen import SeenRequest, topics_in
from penstock.wire.api_keys import ApiKey
from penstock.wire.codec import decode_message, is_flexible
from penstock.wire.frames import decode_client_id, decode_request_start, skip_header_tags
from penstock.wire.messages.fetch import FetchRequest
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

log = logging.getLogger("penstock.testing.interception")


class InterceptedRouter(Router):
    def __init__(self, interceptor: Interceptor, broker: "Broker", loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(broker, loop)
        self.interceptor = interceptor

    def dispatch(self, connection: Connection, frame: memoryview) -> None:
        if self.interceptor.is_idle:
            super().dispatch(connection, frame)
            return
        seen = self._seen(memoryview(bytes(frame)))
        rule = None if seen is None else self.interceptor.take(seen)
        if seen is None or rule is None:
            super().dispatch(connection, frame)
            return
        correlation_id = decode_request_start(frame)[2]
        exchange = Exchange(
            self.broker, connection, seen, self._decode(frame, type(seen.message), seen.version)[0]
        )
        connection.answer(self._answer(rule, exchange), seen.version, correlation_id)

    def _seen(self, frame: memoryview) -> SeenRequest | None:
        """None for what the broker will refuse."""
        key, version, _, _ = decode_request_start(frame)
        api = APIS.get(key)
        if api is None or not api.versions[0] <= version <= api.versions[1]:
            return None
        try:
            message, client_id = self._decode(frame, api.request, version)
        except ProtocolError:
            return None
        return SeenRequest(ApiKey(key), version, client_id, message, frozenset(self._topics_of(message)))

    def _decode(
        self, frame: memoryview, request: type[ApiMessage], version: int
    ) -> tuple[ApiMessage, str | None]:
        client_id, position = decode_client_id(frame, decode_request_start(frame)[3])
        if is_flexible(request, version):
            position = skip_header_tags(frame, position)
        return decode_message(request, version, frame, position), client_id

    def _topics_of(self, message: ApiMessage) -> set[str]:
        topics = set(topics_in(message, self._name_of))
        if isinstance(message, FetchRequest):
            session = self.broker.fetch_sessions.sessions.get(message.session_id)
            for topic, _ in session.partitions if session is not None else ():
                topics.add(topic.name or self._name_of(topic.topic_id) or "")
        return topics

    def _name_of(self, topic_id: bytes) -> str | None:
        topic = self.broker.image.topic_by_id(topic_id)
        return None if topic is None else topic.name

    async def _answer(self, rule: Rule, exchange: Exchange) -> ApiMessage | None:
        try:
            return await rule.action(rule, exchange)
        except Exception as error:
            log.warning("%s failed: %r", rule, error)
            self.interceptor.on_failure(error)
            exchange.close()
            return None
