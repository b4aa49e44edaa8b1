"""What runs on an engine, under its name."""

from typing import Any, Literal, Protocol

QueryState = Literal["STARTING", "RUNNING", "FAILED", "STOPPED"]


class Query(Protocol):
    """A query that the engine keeps alive: after a failure it waits, longer each time, and starts it again."""

    @property
    def name(self) -> str: ...

    @property
    def state(self) -> QueryState:
        """FAILED while it waits for its next attempt."""

    @property
    def failure(self) -> str | None:
        """Why the last attempt ended; None after one that went well."""

    def progress(self) -> dict[str, Any]:
        """Numbers of the last batch or tick, and how often it was started again."""

    def wake(self) -> None:
        """Ends a wait: for a plan that is not empty any more, or for the next attempt after a failure."""

    def went_well(self) -> None:
        """Told by who began it, before a long tick ends: the next failure is a first one again."""

    def stop(self, wait_ms: int = 10_000) -> None:
        """No further tick or batch; a running tick may end in this time, then it is cancelled. Can be called twice."""
