"""The console share consumer at work: each record is written, then acknowledged as the user asked for.

Records that were acquired but are not wanted any more (the limit is reached, a signal came) are released, so that
others of the group get them at once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.cli.tool import err
from penstock.cli.tools.clients.client_log import ClientLog
from penstock.cli.tools.clients.log_lines import log_error
from penstock.cli.tools.clients.stop_signals import StopSignals
from penstock.cli.tools.console.output import Output
from penstock.client.cluster import Cluster, ClusterConfig, blocking_cluster, now
from penstock.client.errors import KafkaError, KafkaTimeoutError
from penstock.client.share_consumer import AcknowledgeType, ShareConsumer, SharedRecord

if TYPE_CHECKING:
    from penstock.cli.tools.kafka_console_share_consumer import Request

LOGGER = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
TURN_MS = 1_000
"""After that long without an answer of the cluster, a signal or the end of the timeout is noticed."""
TIMEOUT_EXCEPTION = "org.apache.kafka.common.errors.TimeoutException"
CREATE_TIME, LOG_APPEND_TIME = 1, 2


class ShownRecord:
    """A shared record as formatters take it."""

    def __init__(self, shared: SharedRecord) -> None:
        self._shared = shared

    def topic(self) -> str:
        return self._shared.topic

    def partition(self) -> int:
        return self._shared.partition

    def offset(self) -> int:
        return self._shared.offset

    def timestamp(self) -> tuple[int, int]:
        return (LOG_APPEND_TIME if self._shared.is_append_time else CREATE_TIME), self._shared.timestamp_ms

    def key(self) -> bytes | None:
        return self._shared.key

    def value(self) -> bytes | None:
        return self._shared.value

    def headers(self) -> list[tuple[str, bytes | None]]:
        return list(self._shared.headers)

    def delivery_count(self) -> int:
        return self._shared.delivery_count

    def __len__(self) -> int:
        return len(self._shared.value or b"")


class ConsoleShareConsumer:
    def __init__(self, request: Request, cluster: Cluster, stop: StopSignals) -> None:
        self._request = request
        self._stop = stop
        self._output = Output()
        self._consumer = ShareConsumer(cluster, request.configs["group.id"], [request.topic])
        self._acknowledgement = AcknowledgeType.ACCEPT
        if request.rejects:
            self._acknowledgement = AcknowledgeType.REJECT
        elif request.releases:
            self._acknowledgement = AcknowledgeType.RELEASE
        self._count = 0

    def run(self) -> None:
        silent_since = time.monotonic()
        while not self._has_enough and not self._stop.received:
            try:
                records = self._poll()
            except KafkaError as error:
                _log_end(f"{error.java_name}: {error}")
                return
            if records:
                self._write(records)
                silent_since = time.monotonic()
            elif self._has_been_silent(silent_since):
                _log_end(TIMEOUT_EXCEPTION)
                return
            if self._output.is_broken:
                err("Unable to write to standard out, closing consumer.")
                return

    @property
    def _has_enough(self) -> bool:
        limit = self._request.max_messages
        return limit != -1 and self._count >= limit

    def _has_been_silent(self, since: float) -> bool:
        timeout_ms = self._request.timeout_ms
        return timeout_ms is not None and (time.monotonic() - since) * 1000 > timeout_ms

    def _poll(self) -> Sequence[SharedRecord]:
        """A cluster that does not answer for a while may answer later."""
        try:
            return now(self._consumer.poll())
        except KafkaTimeoutError:
            return ()

    def _write(self, records: Sequence[SharedRecord]) -> None:
        pieces: list[bytes] = []
        done = 0
        try:
            for record in records:
                if self._has_enough:
                    break
                self._count += 1
                done += 1
                self._consumer.acknowledge(record, self._format(record, pieces))
        finally:
            self._output.write(b"".join(pieces))
            for record in records[done:]:
                self._consumer.acknowledge(record, AcknowledgeType.RELEASE)

    def _format(self, record: SharedRecord, pieces: list[bytes]) -> AcknowledgeType:
        """Writes one record; how it is to be acknowledged."""
        try:
            pieces.append(self._request.formatter.format(ShownRecord(record)))
        except KafkaError as error:
            if not self._request.rejects_on_error:
                raise
            problem = f"{error.java_name}: {error}"
            log_error("Error processing message, rejecting this message: ", LOGGER, problem)
            return AcknowledgeType.REJECT
        return self._acknowledgement

    def close(self) -> None:
        try:
            now(self._consumer.close())
        except KafkaError as error:
            log_error("Error while leaving the share group", LOGGER, f"{error.java_name}: {error}")
        err(f"Processed a total of {self._count} messages")


def _log_end(problem: str) -> None:
    log_error("Error processing message, terminating consumer process: ", LOGGER, problem)


def consume_to_output(request: Request) -> int:
    configs = request.configs
    ClientLog(f"ShareConsumer clientId={configs['client.id']}, groupId={configs['group.id']}").install()
    with StopSignals() as stop:
        try:
            return _consume(request, stop)
        except KafkaError as error:
            log_error("Unknown error when running consumer: ", LOGGER, f"{error.java_name}: {error}")
            return 1
        finally:
            if request.logs_system_test_events:
                print("shutdown_complete", flush=True)


def _consume(request: Request, stop: StopSignals) -> int:
    config = ClusterConfig.from_configs(request.configs)._replace(default_api_timeout_ms=TURN_MS)
    with blocking_cluster(config) as cluster:
        consumer = ConsoleShareConsumer(request, cluster, stop)
        try:
            consumer.run()
        finally:
            consumer.close()
    return stop.exit_code
