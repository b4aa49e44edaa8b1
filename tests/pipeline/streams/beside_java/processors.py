"""Processors with stores and punctuators."""

from typing import Any

from penstock.streams import (
    Processor,
    ProcessorContext,
    PunctuationType,
    Record,
    Stores,
    StreamsBuilder,
)
from tests.pipeline.streams.beside_java import java, topology


class Previous(Processor):
    """Forwards the value before this one, and how many there were."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.store = context.get_state_store("previous")

    def process(self, record: Record) -> None:
        if record.key is None:
            return
        before = self.store.get(record.key)
        self.store.put(record.key, record.value)
        self.context.forward(record._replace(value=f"{java(before)}<{java(record.value)}"))
        if record.value == "3":
            self.context.forward(record._replace(key="three", timestamp=record.timestamp + 7))


class Periodic(Processor):
    """Forwards all rows when time says so."""

    kind = PunctuationType.STREAM_TIME

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.store = context.get_state_store("rows")
        context.schedule(700, self.kind, self.punctuate)

    def punctuate(self, now: int) -> None:
        for key, value in self.store.all():
            self.context.forward(Record(key, f"{now}={value}", now))

    def process(self, record: Record) -> None:
        if record.key is not None:
            self.store.put(record.key, record.value)


class PeriodicByTheClock(Periodic):
    kind = PunctuationType.WALL_CLOCK_TIME


class Where(Processor):
    """Says where a record came from."""

    def process(self, record: Record) -> None:
        where: Any = self.context.record_metadata
        at = f"{where.topic}{where.partition}/{where.offset}/{self.context.current_stream_time_ms}"
        self.context.forward(record._replace(value=f"{java(record.value)}@{at}"))


class Recent(Processor):
    """Tells what came in the second before."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.store = context.get_state_store("recent")

    def process(self, record: Record) -> None:
        if record.key is None:
            return
        rows = self.store.fetch(record.key, max(0, record.timestamp - 1000), record.timestamp)
        told = "".join(f"{start}={value} " for start, value in rows)
        self.store.put(record.key, record.value, record.timestamp)
        self.context.forward(record._replace(value=told))


@topology
def process(b: StreamsBuilder) -> None:
    b.add_state_store(Stores.key_value_store("previous", "string", "string"))
    b.stream("in").process(Previous, ["previous"]).to("out")


@topology
def process_then_count(b: StreamsBuilder) -> None:
    b.add_state_store(Stores.key_value_store("previous", "string", "string"))
    processed = b.stream("in").process(Previous, ["previous"], "remembering")
    processed.group_by_key().count().to_stream().to("out")


@topology
def process_shared_store(b: StreamsBuilder) -> None:
    b.add_state_store(Stores.key_value_store("previous", "string", "string"))
    one = b.stream("in").process(Previous, ["previous"])
    one.merge(b.stream("other").process(Previous, ["previous"])).to("out")


@topology
def process_values(b: StreamsBuilder) -> None:
    b.stream("in").process_values(Where).to("out")


@topology
def process_values_counted(b: StreamsBuilder) -> None:
    processed = b.stream("in").repartition().process_values(Where)
    processed.group_by_key().reduce(lambda one, two: two + str(len(one))).to_stream().to("out")


@topology
def punctuate_stream_time(b: StreamsBuilder) -> None:
    b.add_state_store(Stores.key_value_store("rows", "string", "string"))
    b.stream("in").process(Periodic, ["rows"]).to("out")


@topology
def punctuate_wall_clock(b: StreamsBuilder) -> None:
    b.add_state_store(Stores.key_value_store("rows", "string", "string"))
    b.stream("in").process(PeriodicByTheClock, ["rows"]).to("out")


@topology
def process_window_store(b: StreamsBuilder) -> None:
    b.add_state_store(Stores.window_store("recent", 100_000, 1000, "string", "string"))
    b.stream("in").process(Recent, ["recent"]).to("out")
