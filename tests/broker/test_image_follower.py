"""Who waits for the image of the cluster is told when nobody keeps it any more."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from penstock.broker.image_follower import ImageFollower
from penstock.controller.changes import Changes
from penstock.testing import InProcessBroker
from tests.broker.conftest import only_penstock

pytestmark = only_penstock
WAYS_TO_WAIT: dict[str, Callable[[ImageFollower], Awaitable[None]]] = {
    "applied": lambda follower: follower.applied("/penstock/changes/change-2147483647"),
    "until": lambda follower: follower.until(lambda: False),
    "read_now": lambda follower: follower.read_now(Changes()),
}


@pytest.mark.parametrize("way", WAYS_TO_WAIT)
@pytest.mark.parametrize("is_stopped_first", [True, False])
def test_nobody_waits_for_an_image_that_is_kept_no_more(way: str, is_stopped_first: bool) -> None:
    """A broker that stops waits for requests at work: one that made a topic in that moment kept it for ten seconds."""

    async def wait_and_stop(follower: ImageFollower) -> None:
        if is_stopped_first:
            follower.stop()
        waiting = asyncio.ensure_future(WAYS_TO_WAIT[way](follower))
        await asyncio.sleep(0)
        follower.stop()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    with InProcessBroker() as broker:
        broker.run(wait_and_stop(broker.broker.image_follower))
