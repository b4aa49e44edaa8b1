"""Batches that would keep the event loop for too long are checked, and recompressed, in a thread.

There is one such thread, so that what they decompress to is in memory one at a time. Who sent the batch waits, with
all that comes behind it on its connection: the order of a client is kept. The others are served meanwhile, and may
write to the same partition.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor

from penstock.records.batch import Batch
from penstock.records.validation import ValidationSettings, prepare


class LongBatches:
    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._thread = ThreadPoolExecutor(1, "long-batches")

    async def prepare(self, batches: list[Batch], settings: ValidationSettings, now_ms: int) -> list[Batch]:
        """What `prepare` does, without its bounds. Raises what that raises."""
        return await self._loop.run_in_executor(
            self._thread, lambda: prepare(batches, settings, now_ms, is_long=True)
        )

    def close(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)
