"""Tasks whose behaviour their configuration says."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock.pipeline.connect.api import ConnectError, RetriableConnectError, SinkTask, SourceTask
from penstock.pipeline.connect.connectors.file.source import FileStreamSourceTask
from penstock.pipeline.connect.converters.plain import StringConverter
from penstock.pipeline.connect.data import Headers, SinkRecord, SourceColumns, SourceRecord

TopicPartition = tuple[str, int]


class CountingSource(SourceTask):
    """Counts on from its offset, `at_once` numbers a poll, up to `last`."""

    def start(self, configs: Mapping[str, str]) -> None:
        super().start(configs)
        stored = self.context.offsets.offset({"counter": 1})
        self.number = 0 if stored is None else stored["number"]

    def poll(self) -> Sequence[SourceRecord] | None:
        last = min(int(self.configs["last"]), self.number + int(self.configs.get("at_once", "10")))
        numbers = range(self.number + 1, last + 1)
        self.number = last
        return [self.record(number) for number in numbers]

    def record(self, number: int) -> SourceRecord:
        return SourceRecord({"counter": 1}, {"number": number}, self.configs["topic"], str(number))


class DyingSource(CountingSource):
    """Ends its process while the transaction of its third poll is open."""

    polls = 0

    def poll(self) -> Sequence[SourceRecord] | None:
        self.polls += 1
        if self.polls == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().poll()


class FailingSource(CountingSource):
    def poll(self) -> Sequence[SourceRecord] | None:
        if self.number >= 10:
            raise ConnectError("the source is empty handed")
        return super().poll()


class WaitingSource(CountingSource):
    failures = 0

    def poll(self) -> Sequence[SourceRecord] | None:
        self.failures += 1
        if self.failures == 1:
            raise RetriableConnectError("the database is away")
        return super().poll()


class HangingSource(SourceTask):
    is_released = threading.Event()

    def poll(self) -> None:
        self.is_released.wait(3600)


class OwnTransactions(CountingSource):
    """Commits every tenth number, and takes back what is between 11 and 20."""

    def poll(self) -> Sequence[SourceRecord] | None:
        records = super().poll() or ()
        assert self.context.transaction is not None
        for record in records:
            number = int(record.value)
            if number == 20:
                self.context.transaction.abort_transaction(record)
            elif number % 10 == 0:
                self.context.transaction.commit_transaction(record)
        return records


class MarkedSource(CountingSource):
    def record(self, number: int) -> SourceRecord:
        record = super().record(number)
        record.headers = Headers().add("number", number)
        record.timestamp, record.partition, record.key = 1_700_000_000_000 + number, 0, f"k{number}"
        return record


class ToldSource(CountingSource):
    """Writes down what it hears of its records."""

    def commit_record(self, record: SourceRecord, topic: str, partition: int, offset: int) -> None:
        with Path(self.configs["heard"]).open("a") as file:
            file.write(f"{record.value} {partition} {offset}\n")

    def commit(self) -> None:
        with Path(self.configs["heard"]).open("a") as file:
            file.write("commit\n")


class LinesAsRecords(FileStreamSourceTask):
    """The same lines, one by one."""

    def poll(self) -> Sequence[SourceRecord] | None:  # type: ignore[override]
        columns = super().poll()
        return None if columns is None else list(columns)


class DyingLines(FileStreamSourceTask):
    """Ends its process while the transaction of its third poll is open."""

    polls = 0

    def poll(self) -> SourceColumns | None:
        self.polls += 1
        if self.polls == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().poll()


class ToldLines(FileStreamSourceTask):
    def start(self, configs: Mapping[str, str]) -> None:
        super().start(configs)
        self.heard = Path(configs["heard"])

    def commit_record(self, record: SourceRecord, topic: str, partition: int, offset: int) -> None:
        with self.heard.open("a") as file:
            file.write(f"{record.value} {record.source_offset} {topic} {offset}\n")


class AskedColumns(CountingSource):
    """Counts in columns, and writes down which of their offsets are asked for."""

    def poll(self) -> Sequence[SourceRecord] | None:
        numbers = [int(record.value) for record in super().poll() or ()]

        def offset_at(index: int) -> dict[str, int]:
            with Path(self.configs["asked"]).open("a") as file:
                file.write(f"{numbers[index]}\n")
            return {"number": numbers[index]}

        return SourceColumns({"counter": 1}, offset_at, self.configs["topic"], list(map(str, numbers)), None)


class NoneAsText(StringConverter):
    def from_connect(self, *arguments: object, **more: object) -> bytes | None:
        return super().from_connect(*arguments, **more) or b"nothing"


class FileOfValues(SinkTask):
    """Appends values to a file; what it is told to do differently is in the values."""

    retried = rewound = False

    def open(self, partitions: Sequence[TopicPartition]) -> None:
        if "from" in self.configs:
            self.context.offset({each: int(self.configs["from"]) for each in partitions})

    def put(self, records: Sequence[SinkRecord]) -> None:
        for record in records:
            self.put_one(record)

    def put_one(self, record: SinkRecord) -> None:
        if record.value == "refuse":
            raise ConnectError("refused")
        if record.value == "retry" and not self.retried:
            self.retried = True
            self.context.timeout(20)
            raise RetriableConnectError("not now")
        if record.value == "never":
            self.context.timeout(20)
            raise RetriableConnectError("never")
        if record.value == "report":
            assert self.context.report is not None
            self.context.report(record, ConnectError("bad value"))
            return
        headers = {each.key: each.value for each in record.headers}
        line = [record.topic, record.partition, record.offset, record.key, record.value, headers]
        with Path(self.configs["file"]).open("a") as file:
            file.write(json.dumps(line) + "\n")
        if record.value == "pause":
            self.context.pause((record.original_topic, record.original_partition))
        if record.value == "rewind" and not self.rewound:
            self.rewound = True
            self.context.offset({(record.original_topic, record.original_partition): record.original_offset})


class FileOfColumns(FileOfValues):
    """Like the other, and says how records came."""

    takes_columns = True

    def put(self, records: Sequence[SinkRecord]) -> None:
        if records:
            with Path(self.configs["file"]).with_suffix(".kinds").open("a") as kinds:
                kinds.write(f"{type(records).__name__} {len(records)}\n")
        super().put(records)

    def put_one(self, record: SinkRecord) -> None:
        if record.value == {"a": "report"}:
            assert self.context.report is not None
            self.context.report(record, ConnectError("bad value"))
        else:
            super().put_one(record)
