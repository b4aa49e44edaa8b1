"""What the wire client warns of, in the layout of Kafka's tools, and each thing once a minute."""

import logging
import time

from penstock.cli.tools.clients.log_lines import log_warning

NETWORK_CLIENT = "org.apache.kafka.clients.NetworkClient"
SILENT_SECONDS = 60.0


class ClientLog(logging.Handler):
    """In the place of other handlers of the client's log, once it is `installed`."""

    def __init__(self, who: str) -> None:
        super().__init__(logging.WARNING)
        self._who = who
        self._told: dict[str, float] = {}

    def install(self) -> None:
        log = logging.getLogger("penstock.client")
        log.addHandler(self)
        log.propagate = False

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        now = time.monotonic()
        if now - self._told.get(text, -SILENT_SECONDS) >= SILENT_SECONDS:
            self._told[text] = now
            log_warning(f"[{self._who}] {text}", NETWORK_CLIENT)
