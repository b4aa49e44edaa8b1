"""Requests for the controller that come to another broker: they are passed on, and the answer is passed back.

A client need not know who is controller. A request that was passed on is not passed on again: if the controller has
changed meanwhile the answer is NOT_CONTROLLER, and it is sent once more, to the next one.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from penstock.broker.connection import Answer, RequestContext
from penstock.broker.peers import Peers
from penstock.errors import ApiError, ErrorCode, ProtocolError
from penstock.wire.schema import ApiMessage
from penstock.wire_client import Disconnected

PURPOSE = "forwarding"
PATIENCE_SECONDS = 30.0
ANSWER_MS = 30_000
RETRY_SECONDS = 0.1

AnswerT = TypeVar("AnswerT", bound=ApiMessage)
Handler = Callable[[Any, Any, RequestContext], Answer]


def at_controller(handler: Handler, answer: type[ApiMessage]) -> Handler:
    """The handler where this broker is the controller, else the controller's answer."""

    def handle(broker: Any, request: ApiMessage, context: RequestContext) -> Answer:
        if broker.controller.is_active or is_forwarded(context):
            return handler(broker, request, context)
        return pass_on(broker, request, context)

    async def pass_on(broker: Any, request: ApiMessage, context: RequestContext) -> Any:
        try:
            return await broker.forwarding.ask(request, answer, at_most=context.version)
        except ControllerIsHere:
            own = handler(broker, request, context)
            return await own if isinstance(own, Awaitable) else own
        except ApiError as error:
            raise ProtocolError(f"{type(request).__name__} can't be passed on: {error}") from error

    return handle


def is_forwarded(context: RequestContext) -> bool:
    client_id = context.client_id or ""
    return client_id.startswith("broker-") and client_id.endswith(f"-{PURPOSE}")


class ControllerIsHere(Exception):
    """This broker has become the controller, and may answer for itself."""


class Forwarding:
    def __init__(self, peers: Peers, is_here: Callable[[], bool]) -> None:
        """`is_here` tells whether this broker acts as the controller."""
        self.peers = peers
        self.is_here = is_here

    async def ask(self, request: ApiMessage, answer: type[AnswerT], *, at_most: int | None = None) -> AnswerT:
        """The answer of whoever is controller, as soon as another broker is; ControllerIsHere if this one is."""
        why = ""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while True:
                    if self.is_here():
                        raise ControllerIsHere
                    said, why = await self._try(request, answer, at_most)
                    if said is not None:
                        return said
                    await asyncio.sleep(RETRY_SECONDS)
        except TimeoutError:
            raise ApiError(ErrorCode.NOT_CONTROLLER, why) from None

    async def _try(
        self, request: ApiMessage, answer: type[AnswerT], at_most: int | None
    ) -> tuple[AnswerT | None, str]:
        """The answer, or why there is none."""
        controller_id = self.peers.image.controller_id
        if controller_id in (-1, self.peers.registration.broker_id):
            return None, "there is no controller"
        try:
            said = await self.peers.ask(
                controller_id, request, answer, purpose=PURPOSE, timeout_ms=ANSWER_MS, at_most=at_most
            )
        except Disconnected as error:
            return None, f"broker {controller_id}, the controller, does not answer: {error}"
        if _is_from_another(said):
            return None, f"broker {controller_id} is not the controller any more"
        return said, ""


def _is_from_another(answer: Any) -> bool:
    """Whether the broker that was asked is not the controller."""
    parts = [
        answer,
        *getattr(answer, "topics", ()),
        *getattr(answer, "responses", ()),
        *getattr(answer, "results", ()),
    ]
    return any(getattr(part, "error_code", 0) == ErrorCode.NOT_CONTROLLER for part in parts)
