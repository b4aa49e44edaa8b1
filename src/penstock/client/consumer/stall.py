"""How long a consumer has waited, when to ask the cluster why, and when to say so in the log."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from penstock.client.consumer.state import (
    IS_USUAL,
    IS_WANTED,
    ConsumerState,
    Facts,
    Finding,
    WaitsFor,
    decide_state,
)

logger = logging.getLogger("penstock.client")

FIRST_LOOK_SECONDS, LOOK_INTERVAL_SECONDS = 2.0, 10.0
FIRST_LINE_SECONDS, LONGEST_SILENCE_SECONDS = 5.0, 60.0


class Stall:
    """Time without records; `facts` and `look` are asked for only while it lasts."""

    def __init__(self, facts: Callable[[], Facts], look: Callable[[], Finding | None]) -> None:
        self._facts = facts
        self._look = look
        self._since: float | None = None
        self._next_look = self._next_line = self._silence = 0.0
        self._finding: Finding | None = None
        self._has_looked = False

    def ended(self) -> None:
        """Records came, or what is waited for is another thing now."""
        self._since = None
        self._finding = None
        self._has_looked = False

    def found(self, finding: Finding) -> None:
        """Something that librdkafka has said itself."""
        self._finding = finding

    def goes_on(self) -> None:
        """Called again and again while nothing comes."""
        now = time.monotonic()
        if self._since is None:
            self._since = now
            self._next_look, self._next_line = now + FIRST_LOOK_SECONDS, now + FIRST_LINE_SECONDS
            self._silence = FIRST_LINE_SECONDS
            return
        if now >= self._next_look:
            self._next_look = now + LOOK_INTERVAL_SECONDS
            self._ask()
        if now >= self._next_line:
            self._silence = min(2 * self._silence, LONGEST_SILENCE_SECONDS)
            self._next_line = now + self._silence
            self._log(self.state())

    def _ask(self) -> None:
        self._finding = self._look()
        self._has_looked = True

    def _log(self, state: ConsumerState) -> None:
        if state.waits_for in IS_USUAL:
            return
        level = logging.INFO if state.waits_for in IS_WANTED else logging.WARNING
        logger.log(level, "no records for %.0f s: %s", state.seconds, state.message)

    def state(self) -> ConsumerState:
        seconds = 0.0 if self._since is None else time.monotonic() - self._since
        facts = self._facts()
        if self._has_looked:  # what the look has found is newer than what librdkafka has said
            facts = replace(facts, trouble="")
        state = decide_state(facts, self._finding, seconds)
        if self._since is None and state.waits_for is WaitsFor.FETCH:
            return ConsumerState(
                WaitsFor.NOTHING, state.message.replace("waiting for", "has not waited for", 1)
            )
        return state
