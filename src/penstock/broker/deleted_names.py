"""Names of topics that are being deleted, or were a moment ago: nobody gets a topic of such a name without creating
it.

A producer that still knows a deleted topic asks for it, and would take its name from whoever deleted it in order to
create it anew, and whose request is on its way. It asks again.
"""

import asyncio
import math

KEPT_SECONDS = 0.5


class DeletedNames:
    def __init__(self) -> None:
        self._until: dict[str, float] = {}

    def hold(self, name: str) -> None:
        """While the topic is being deleted; `keep` ends it."""
        self._until[name] = math.inf

    def keep(self, name: str) -> None:
        """For a moment; as the last one, so that the first is the first to be forgotten."""
        now = asyncio.get_running_loop().time()
        self._until.pop(name, None)
        self._until[name] = now + KEPT_SECONDS
        while self._until[first := next(iter(self._until))] < now:
            del self._until[first]

    def on_removed(self, name: str) -> None:
        """This broker has heard that the topic is gone."""
        if self._until.get(name) != math.inf:
            self.keep(name)

    def is_kept(self, name: str) -> bool:
        return self._until.get(name, 0.0) > asyncio.get_running_loop().time()
