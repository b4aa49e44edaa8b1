"""The console share consumer at work: each record is written, then acknowledged as the user asked for.

Records that were acquired but are not wanted any more (the limit is reached, a signal came) are released, so that
others of the group get them at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from penstock.cli.first_contact import check_first_contact
from penstock.cli.tools.clients.client_log import ClientLog
from penstock.cli.tools.clients.log_lines import log_error
from penstock.cli.tools.clients.stop_signals import StopSignals
from penstock.cli.tools.common.failures import as_java_says
from penstock.cli.tools.console.consumer_loop import ConsumerLoop, consume_until_signal
from penstock.client.share.share_consumer import AcknowledgeType, ShareConsumer, SharedRecord
from penstock.wire_client import Cluster, ClusterConfig, blocking_cluster, now
from penstock.wire_client.errors import KafkaError, KafkaTimeoutError

if TYPE_CHECKING:
    from penstock.cli.tools.kafka_console_share_consumer import Request

LOGGER = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
TURN_MS = 1_000
"""After that long without an answer of the cluster, a signal or the end of the timeout is noticed."""
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


class ConsoleShareConsumer(ConsumerLoop["Request", SharedRecord]):
    def __init__(self, request: Request, cluster: Cluster, stop: StopSignals) -> None:
        super().__init__(request, stop, LOGGER)
        self._consumer = ShareConsumer(cluster, request.configs["group.id"], [request.topic])
        self._acknowledgement = AcknowledgeType.ACCEPT
        if request.rejects:
            self._acknowledgement = AcknowledgeType.REJECT
        elif request.releases:
            self._acknowledgement = AcknowledgeType.RELEASE

    def next_records(self) -> Sequence[SharedRecord]:
        """A cluster that does not answer for a while may answer later."""
        try:
            return now(self._consumer.poll())
        except KafkaTimeoutError:
            return ()
        except KafkaError as error:
            self.problem = as_java_says(error)
            return ()

    def write(self, records: Sequence[SharedRecord]) -> None:
        pieces: list[bytes] = []
        done = 0
        try:
            for record in records:
                if self.has_enough:
                    break
                self.count += 1
                done += 1
                self._consumer.acknowledge(record, self._format(record, pieces))
        finally:
            self.output.write(b"".join(pieces))
            for record in records[done:]:
                self._consumer.acknowledge(record, AcknowledgeType.RELEASE)

    def _format(self, record: SharedRecord, pieces: list[bytes]) -> AcknowledgeType:
        """Writes one record; how it is to be acknowledged."""
        try:
            pieces.append(self.request.formatter.format(ShownRecord(record)))
        except KafkaError as error:
            if not self.request.rejects_on_error:
                raise
            log_error("Error processing message, rejecting this message: ", LOGGER, as_java_says(error))
            return AcknowledgeType.REJECT
        return self._acknowledgement

    def close(self) -> None:
        try:
            now(self._consumer.close())
        except KafkaError as error:
            log_error("Error while leaving the share group", LOGGER, as_java_says(error))
        self.say_total()


def consume_to_output(request: Request) -> int:
    configs = request.configs
    check_first_contact(configs, request.timeout_ms)
    ClientLog(f"ShareConsumer clientId={configs['client.id']}, groupId={configs['group.id']}").install()
    return consume_until_signal(request, _consume, LOGGER, (KafkaError,), as_java_says)


def _consume(request: Request, stop: StopSignals) -> None:
    config = ClusterConfig.from_configs(request.configs)._replace(default_api_timeout_ms=TURN_MS)
    with blocking_cluster(config) as cluster:
        consumer = ConsoleShareConsumer(request, cluster, stop)
        try:
            consumer.run()
        finally:
            consumer.close()
