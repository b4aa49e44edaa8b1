"""A share group of a large topic has a state made, and deleted, for each partition: others are served meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any

from penstock.errors import ApiError
from penstock.testing import InProcessBroker
from tests.broker.asking import new_topic, topic_id
from tests.support.wire_client import WireClient

PARTITIONS = 2_000
LONGEST_STRETCH_SECONDS = 0.05
"""Of the processor's time: a turn is a tenth of it, all at once take twice as much and more."""


async def longest_stretch(work: Coroutine[Any, Any, dict[Any, Any]]) -> float:
    """What the event loop spends on it at most before somebody else's turn comes."""
    task, longest = asyncio.ensure_future(work), 0.0
    while not task.done():
        began = time.thread_time()
        await asyncio.sleep(0)
        longest = max(longest, time.thread_time() - began)
    assert not any(isinstance(answer, ApiError) for answer in task.result().values())
    assert len(task.result()) == PARTITIONS
    return longest


def test_states_of_many_partitions_are_made_and_deleted_in_turns(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        topic = topic_id(client, new_topic(client, "large", PARTITIONS))
    sharing = broker.broker.coordinators.sharing
    begins = {topic: dict.fromkeys(range(PARTITIONS), 0)}
    broker.run(sharing.initialize_states("warm", 0, {topic: {0: 0}}))  # the coordinator is there
    assert broker.run(longest_stretch(sharing.initialize_states("g", 0, begins))) < LONGEST_STRETCH_SECONDS
    gone = {topic: range(PARTITIONS)}
    assert broker.run(longest_stretch(sharing.delete_states("g", gone))) < LONGEST_STRETCH_SECONDS
