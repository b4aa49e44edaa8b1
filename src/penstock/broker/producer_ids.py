"""Producer ids, taken from ZooKeeper in blocks, so that no id is ever handed out twice in a cluster."""

import asyncio
import logging
from collections import deque
from collections.abc import Awaitable, Callable

from penstock.broker.coordination import Coordination, CoordinationError, NoNode, VersionConflict
from penstock.broker.znode_reading import decoded
from penstock.controller import znodes
from penstock.errors import ApiError, ErrorCode

log = logging.getLogger("penstock.broker.producer_ids")


BLOCK = 1000


async def claim_producer_ids(coordination: Coordination, broker_id: int) -> range:
    """A block of producer ids that no other broker will ever hand out."""
    while True:
        try:
            node = await coordination.get(znodes.PRODUCER_IDS)
        except NoNode:
            await coordination.ensure(znodes.PRODUCER_IDS, znodes.encode_producer_block(broker_id, 0, -1))
            continue
        first = decoded(znodes.PRODUCER_IDS, znodes.decode_producer_block, node.data)[1] + 1
        block = range(first, first + BLOCK)
        data = znodes.encode_producer_block(broker_id, block.start, block.stop - 1)
        try:
            await coordination.set(znodes.PRODUCER_IDS, data, node.version)
        except VersionConflict:
            continue
        return block


class ProducerIds:
    def __init__(self, claim_block: Callable[[], Awaitable[range]]) -> None:
        self._claim_block = claim_block
        self._ids: deque[int] = deque()
        self._claiming = asyncio.Lock()
        self._refilling: asyncio.Task[None] | None = None

    @property
    def is_empty(self) -> bool:
        return not self._ids

    def take(self) -> int:
        """The next id of the block at hand; without one, the next block is asked for, and so is the client again."""
        if not self._ids:
            if self._refilling is None or self._refilling.done():
                self._refilling = asyncio.get_running_loop().create_task(self.refill())
            raise ApiError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, "no producer id is at hand")
        return self._ids.popleft()

    async def refill(self) -> None:
        """Makes sure that there is an id to take, if ZooKeeper can be reached."""
        async with self._claiming:
            if not self._ids:
                try:
                    self._ids.extend(await self._claim_block())
                except CoordinationError as error:
                    log.warning("no producer ids at hand, clients are to ask again: %s", error)
