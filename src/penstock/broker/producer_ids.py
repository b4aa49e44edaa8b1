"""Producer ids, taken from ZooKeeper in blocks, so that no id is ever handed out twice in a cluster."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator


class ProducerIds:
    def __init__(self, claim_block: Callable[[], Awaitable[range]]) -> None:
        self._claim_block = claim_block
        self._ids: Iterator[int] = iter(())
        self._claiming = asyncio.Lock()

    async def next(self) -> int:
        while True:
            for producer_id in self._ids:
                return producer_id
            await self._refill(self._ids)

    async def _refill(self, exhausted: Iterator[int]) -> None:
        async with self._claiming:
            if self._ids is exhausted:
                self._ids = iter(await self._claim_block())
