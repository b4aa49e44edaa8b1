"""Requests for the controller while there is none: they wait, and go to whoever becomes it, be it this broker."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.broker.forwarding import ControllerIsHere, Forwarding, at_controller
from penstock.wire.messages.elect_leaders import ElectLeadersRequest, ElectLeadersResponse

OWN_ID, NOBODY = 3, -1


class Here:
    """A broker that nobody but its own registration says is the controller, until it is."""

    def __init__(self, controller_id: int) -> None:
        self.controller = SimpleNamespace(is_active=False)
        peers: Any = SimpleNamespace(
            image=SimpleNamespace(controller_id=controller_id), registration=SimpleNamespace(broker_id=OWN_ID)
        )
        self.forwarding = Forwarding(peers, lambda: self.controller.is_active)

    async def becomes_controller(self) -> None:
        await asyncio.sleep(0.2)
        self.controller.is_active = True


@pytest.mark.parametrize("controller_id", [OWN_ID, NOBODY])
@pytest.mark.parametrize("is_async", [True, False])
def test_a_broker_that_becomes_the_controller_answers_for_itself(controller_id: int, is_async: bool) -> None:
    answer = ElectLeadersResponse()

    async def later(broker: Any, request: Any, context: Any) -> ElectLeadersResponse:
        return answer

    handle = at_controller(later if is_async else lambda *_: answer, ElectLeadersResponse)
    context: Any = SimpleNamespace(client_id="someone", version=2)

    async def asked() -> Any:
        broker = Here(controller_id)
        async with asyncio.timeout(5), asyncio.TaskGroup() as group:
            group.create_task(broker.becomes_controller())
            waiting: Any = handle(broker, ElectLeadersRequest(0, None, 1_000), context)
            return await waiting

    assert asyncio.run(asked()) is answer


def test_who_is_the_controller_is_asked_nothing() -> None:
    async def asked() -> None:
        broker = Here(OWN_ID)
        broker.controller.is_active = True
        await broker.forwarding.ask(ElectLeadersRequest(0, None, 1_000), ElectLeadersResponse)

    with pytest.raises(ControllerIsHere):
        asyncio.run(asked())
