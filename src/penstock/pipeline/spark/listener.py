"""Hears from Spark what its queries have done."""

import logging
from collections.abc import Callable

from pyspark.sql.streaming.listener import (
    QueryIdleEvent,
    QueryProgressEvent,
    QueryStartedEvent,
    QueryTerminatedEvent,
    StreamingQueryListener,
    StreamingQueryProgress,
)

logger = logging.getLogger(__name__)


class ProgressListener(StreamingQueryListener):
    def __init__(self, on_progress: Callable[[StreamingQueryProgress], None]) -> None:
        self._on_progress = on_progress

    def onQueryStarted(self, event: QueryStartedEvent) -> None:  # noqa: N802 (Spark's names)
        pass

    def onQueryProgress(self, event: QueryProgressEvent) -> None:  # noqa: N802
        try:
            self._on_progress(event.progress)
        except Exception:
            logger.exception("the progress of a query was not understood")

    def onQueryIdle(self, event: QueryIdleEvent) -> None:  # noqa: N802
        pass

    def onQueryTerminated(self, event: QueryTerminatedEvent) -> None:  # noqa: N802
        pass
