"""Kafka's records to an HTTP API: the connector and its task.

At least once: what was sent is remembered while the task runs, so that a request that is tried again does not bring
others again, and what was sent before an error is committed. Only a request whose answer was lost, or a task that
fails, sends records twice; with ${topic}, ${partition} and ${offset} in the URL or a header the server can tell.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import ClassVar

from penstock.pipeline.connect.api import ConfigDef, SinkConnector, SinkTask
from penstock.pipeline.connect.connectors.http.exchange import (
    HttpExchange,
    RetriableStatusError,
    StatusError,
)
from penstock.pipeline.connect.connectors.http.http_config import SINK_CHECKS, SINK_KEYS, errors_of
from penstock.pipeline.connect.connectors.http.requests import Requests, Target
from penstock.pipeline.connect.data import SinkRecord
from penstock.pipeline.connect.errors import ConnectError, DataError, RetriableConnectError

log = logging.getLogger("penstock.connect.http")

TopicPartition = tuple[str, int]


class HttpSinkTask(SinkTask):
    def start(self, configs: Mapping[str, str]) -> None:
        self._settings = settings = SINK_KEYS.parse(configs)
        self._exchange = HttpExchange(settings)
        self._requests = Requests(settings)
        self._on_null = settings["behavior.on.null.values"].lower()
        self._on_error = settings["behavior.on.error"].lower()
        self._retries_left = settings["max.retries"]
        self._sent: dict[TopicPartition, int] = {}

    def put(self, records: Sequence[SinkRecord]) -> None:
        for target, run in self._requests.runs(self._with_targets(records)):
            self._send(target, run)
            for record in run:
                self._sent[record.original_topic, record.original_partition] = record.original_offset + 1

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """Also what was sent of records whose `put` failed."""
        further = {each: offset for each, offset in self._sent.items() if offset > offsets.get(each, 0)}
        return {**offsets, **further}

    def stop(self) -> None:
        self._exchange.close()

    def _is_to_send(self, record: SinkRecord) -> bool:
        where = record.original_topic, record.original_partition
        if record.original_offset < self._sent.get(where, 0):
            return False
        if record.value is not None or self._on_null == "delete":
            return True
        if self._on_null == "fail":
            self._refuse(
                [record], ConnectError("a tombstone; behavior.on.null.values says what becomes of it")
            )
        return False

    def _with_targets(self, records: Sequence[SinkRecord]) -> list[tuple[Target, SinkRecord]]:
        found = []
        for record in filter(self._is_to_send, records):
            try:
                found.append((self._requests.target(record), record))
            except DataError as error:
                self._refuse([record], error)
        return found

    def _send(self, target: Target, run: list[SinkRecord]) -> None:
        try:
            body = self._requests.body(run) if target.has_body else None
            self._exchange.ask(target.method, target.url, target.headers, body)
        except RetriableConnectError as error:
            self._try_again_later(error, run)
        except (StatusError, DataError) as error:
            self._refuse(run, error)
        else:
            self._retries_left = self._settings["max.retries"]

    def _try_again_later(self, error: RetriableConnectError, run: list[SinkRecord]) -> None:
        if self._retries_left <= 0:
            raise ConnectError(
                f"{_range_of(run)}: {error}; max.retries={self._settings['max.retries']}"
            ) from error
        self._retries_left -= 1
        asked_ms = error.wait_ms if isinstance(error, RetriableStatusError) else None
        self.context.timeout(self._settings["retry.backoff.ms"] if asked_ms is None else asked_ms)
        raise error

    def _refuse(self, run: list[SinkRecord], error: ConnectError) -> None:
        text = f"{_range_of(run)}: {error}"
        if self._on_error == "log":
            log.error("%s", text)
        elif self._on_error == "fail":
            if self.context.report is None:
                raise ConnectError(text) from error
            for record in run:
                self.context.report(record, error)


class HttpSinkConnector(SinkConnector):
    """Sends records to an HTTP API."""

    task_class = HttpSinkTask
    config_def: ClassVar[ConfigDef] = SINK_KEYS

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        return [dict(self.configs)] * max_tasks

    def validate(self, configs: Mapping[str, str]) -> dict[str, list[str]]:
        return errors_of(SINK_CHECKS, SINK_KEYS.parse(configs))


def _range_of(run: Sequence[SinkRecord]) -> str:
    if len(run) == 1:
        return _where(run[0])
    return f"{len(run)} records from {_where(run[0])} to {_where(run[-1])}"


def _where(record: SinkRecord) -> str:
    return f"{record.original_topic}-{record.original_partition} at offset {record.original_offset}"
