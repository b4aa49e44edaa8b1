"""One request that a rule has taken: what a rule can do with it."""

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, cast

from penstock.broker.connection import Answer, Connection
from penstock.broker.handlers.metadata import brokers_of
from penstock.broker.parked import Parked, message_of
from penstock.broker.router import APIS
from penstock.errors import ApiError, ErrorCode
from penstock.testing.interception.error_answers import OF_THE_WHOLE_ANSWER, error_answer
from penstock.testing.interception.seen import SeenRequest
from penstock.wire.api_keys import ApiKey
from penstock.wire.messages.fetch import FetchRequest, FetchResponse, PartitionData
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from penstock.wire.messages.produce import ProduceRequest
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


class Exchange:
    def __init__(
        self, broker: "Broker", connection: Connection, seen: SeenRequest, request: ApiMessage
    ) -> None:
        self.broker = broker
        self.connection = connection
        self._context = connection.context  # which a connection that is lost has no more
        self.seen = seen
        self.request = request
        """As in `seen`, but with the records where they lie in the connection's buffer."""

    async def handle(self) -> ApiMessage | None:
        """Has the broker carry the request out, and returns its answer."""
        context = self._context
        context.version, context.client_id = self.seen.version, self.seen.client_id
        return await _whole(APIS[self.seen.api].handler(self.broker, self.request, context))

    def close(self) -> None:
        self.connection.close()

    def error(self, code: ErrorCode, message: str | None) -> ApiMessage | None:
        """The answer that says just this error; a producer that wants no answer is disconnected, as Kafka does."""
        request, version = self.request, self.seen.version
        if isinstance(request, ProduceRequest) and request.acks == 0:
            self.close()
            return None
        if isinstance(request, FetchRequest) and code not in OF_THE_WHOLE_ANSWER[ApiKey.FETCH]:
            return self._fetch_error(request, code)
        if isinstance(request, MetadataRequest):
            return self._metadata_error(request, code, message)
        return error_answer(request, version, code, message)

    def _fetch_error(self, request: FetchRequest, code: ErrorCode) -> FetchResponse:
        """For each partition that is fetched, also those that only the fetch session knows of."""
        broker = self.broker
        try:
            plan = broker.fetch_sessions.plan(request, self.seen.version, broker.clock.monotonic_ms())
        except ApiError as error:
            return FetchResponse(error_code=error.code)
        read = [
            (
                wanted,
                PartitionData(wanted.fetch.partition, code, -1, aborted_transactions=None, records=b""),
            )
            for wanted in plan.wanted
        ]
        return FetchResponse(session_id=plan.session_id, responses=plan.select(read))

    def _metadata_error(
        self, request: MetadataRequest, code: ErrorCode, message: str | None
    ) -> MetadataResponse:
        """For each topic; the brokers stand there as ever, or the client could ask nobody again."""
        if request.topics is None:
            topics = [MetadataRequestTopic(name=name) for name in self.broker.image.topics]
            request = MetadataRequest(topics=topics)
        answer = cast(MetadataResponse, error_answer(request, self.seen.version, code, message))
        answer.brokers = brokers_of(self.broker, self.connection.listener)
        answer.cluster_id = self.broker.image.cluster_id
        answer.controller_id = self.broker.image.controller_id
        return answer


async def _whole(answer: Answer) -> ApiMessage | None:
    """Waits for an answer that comes later."""
    if isinstance(answer, Parked):
        return await _parked(answer)
    if isinstance(answer, Awaitable):
        return message_of(await answer)
    return answer


async def _parked(parked: Parked) -> ApiMessage:
    answered: asyncio.Future[ApiMessage] = asyncio.get_running_loop().create_future()
    parked.respond = answered.set_result
    try:
        return await answered
    except asyncio.CancelledError:
        parked.on_close()
        raise
