"""One task: the operators of one or more sub-topologies, their stores, and what waits for them.

It has no clock and sends nothing: what it is told of is records and the time, and what its sinks make is returned.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import itemgetter
from typing import Any, Final, NamedTuple

from penstock.errors import PenstockError
from penstock.pipeline.operators.base import NO_TIME, Operator, Raw, Slice, TaskContext
from penstock.pipeline.operators.buffers import Arrived, InputQueue, InputQueues
from penstock.pipeline.operators.processor_api import Headers, PunctuationType, RecordMetadata
from penstock.pipeline.operators.processors import Punctuations, RunProcessor
from penstock.pipeline.operators.stores.changes import Log, Logged
from penstock.pipeline.operators.stores.made import store_of
from penstock.pipeline.operators.table import operator_of
from penstock.pipeline.plan.nodes import Node, Processor, Sink, Source
from penstock.pipeline.plan.operations import PassThrough
from penstock.pipeline.plan.topology import Topology

CLOCK = "clock "
LATEST = "latest of "
STREAM_TIME = "stream time"


class InvalidTimestampError(PenstockError):
    """A record has no valid timestamp, and nothing says where else to take one from."""


class Produced(NamedTuple):
    """What a sink made, or a change of a store."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: Headers
    partition: Callable[[int], int | None] | None = None
    """Of the number of partitions, where the program decides that itself."""


_produced: Final[Callable[[Iterable[Any]], Produced]] = partial(tuple.__new__, Produced)
"""In half the time that its own constructor takes."""


class _SinkOperator(Operator[PassThrough]):
    sink: Sink
    topology: Topology
    produced: list[Produced]

    def process(self, records: Slice) -> None:
        sink = self.sink
        assert sink.key_serde is not None
        assert sink.value_serde is not None
        encode_key, encode_value = sink.key_serde.encode, sink.value_serde.encode
        partition_of = sink.key_serde.partition_of
        if isinstance(sink.topic, str) and sink.partitioner is None and partition_of is None:
            topic = self._name_of(sink.topic)
            self.produced += [
                _produced(
                    (topic, encode_key(topic, key), encode_value(topic, value), timestamp, headers, None)
                )
                for key, value, timestamp, headers in records
            ]
            return
        for key, value, timestamp, headers in records:
            topic = self._name_of(sink.topic if isinstance(sink.topic, str) else sink.topic(key, value))
            partition: Callable[[int], int | None] | None = None
            if sink.partitioner is not None:
                partition = partial(sink.partitioner, topic, key, value)
            elif partition_of is not None and key is not None:
                partition = partial(partition_of, topic, key)
            key_bytes, value_bytes = encode_key(topic, key), encode_value(topic, value)
            self.produced.append(Produced(topic, key_bytes, value_bytes, timestamp, headers, partition))

    def _name_of(self, topic: str) -> str:
        return self.topology.topic_name(self.context.application_id, topic)


def _is_a_tree(nodes: list[Node]) -> bool:
    names = {node.name for node in nodes}
    stores = [store for node in nodes if isinstance(node, Processor) for store in node.stores]
    topics = [node.topic for node in nodes if isinstance(node, Sink)]
    return (
        all(len(names.intersection(node.predecessors)) <= 1 for node in nodes)
        and len(stores) == len(set(stores))
        and len(topics) == len(set(topics))
    )


class Task:
    """`nodes` are those of its sub-topologies; stores that others own, global ones, are given."""

    def __init__(
        self,
        topology: Topology,
        nodes: Iterable[Node],
        application_id: str,
        *,
        task_id: str = "0_0",
        partition: int = 0,
        now_ms: int = 0,
        emit_interval_ms: int = 1_000,
        global_stores: dict[str, Any] | None = None,
    ) -> None:
        self._topology = topology
        self._nodes = list(nodes)
        own = dict.fromkeys(
            store for node in self._nodes if isinstance(node, Processor) for store in node.stores
        )
        stores = {name: store_of(topology.stores[name], application_id) for name in own}
        self.context = TaskContext(
            application_id, task_id, {**(global_stores or {}), **stores}, partition, now_ms
        )
        self.context.emit_interval_ms = emit_interval_ms
        self.produced: list[Produced] = []
        self.stores = stores
        for name, store in stores.items():
            if isinstance(store, Logged) and topology.stores[name].is_logged:
                store.record_time = lambda: self.context.record_time
                store.log = self._logged(f"{application_id}-{topology.stores[name].changelog}")
        self._global_stores = tuple(global_stores or ())
        self._punctuations = {kind: Punctuations() for kind in PunctuationType}
        self._operators: dict[str, Operator[Any]] = {}
        self._sources: dict[str, tuple[Source, Operator[Any], InputQueue]] = {}
        self._queues = InputQueues()
        self._link()
        self.takes_runs = self._can_take_runs()
        """Whether records of one input that are next to each other may be processed together."""
        self.takes_slices = self.takes_runs and self._has_one_input()
        """Whether all records of the input may, without waiting for their turn."""
        if not self.takes_runs:
            for operator in self._operators.values():
                operator.forward_depth_first()

    # --- made once

    def _logged(self, changelog: str) -> Log:
        def log(key: bytes, value: bytes | None, timestamp: int) -> None:
            self.produced.append(Produced(changelog, key, value, timestamp, ()))

        return log

    def _link(self) -> None:
        for node in self._nodes:
            operator = self._operators[node.name] = self._operator(node)
            for parent in node.predecessors:
                self._operators[parent].children.append(operator)
            if isinstance(node, Source):
                for topic in node.topics:
                    name = self._topology.topic_name(self.context.application_id, topic)
                    self._sources[name] = (node, operator, InputQueue(name))

    def _operator(self, node: Node) -> Operator[Any]:
        match node:
            case Processor():
                return operator_of(node.name, node.operation, self.context)
            case Sink():
                sink = _SinkOperator(node.name, PassThrough(), self.context)
                sink.sink, sink.topology, sink.produced = node, self._topology, self.produced
                return sink
        return operator_of(node.name, PassThrough(), self.context)

    def _has_one_input(self) -> bool:
        """With times of its own."""
        return len(self._sources) == 1 and all(
            source.timestamp_extractor is None for source, _, _ in self._sources.values()
        )

    def _can_take_runs(self) -> bool:
        """On the way from a source each operator has one parent and its stores to itself, and nothing looks around."""
        looks_around = any(operator.one_record_at_a_time for operator in self._operators.values())
        sources = [node for node in self._nodes if isinstance(node, Source)]
        return not looks_around and all(_is_a_tree(self._below(source)) for source in sources)

    def _below(self, source: Source) -> list[Node]:
        """The source and all nodes that its records come to; parents stand before their children."""
        names, found = {source.name}, list[Node]([source])
        for node in self._nodes:
            if names.intersection(node.predecessors):
                names.add(node.name)
                found.append(node)
        return found

    def start(self) -> None:
        """Before the first record, and after what the stores and the operators have to remember."""
        for node in self._nodes:
            operator = self._operators[node.name]
            if isinstance(operator, RunProcessor) and isinstance(node, Processor):
                operator.start((*node.stores, *self._global_stores), self._punctuations)

    def close(self) -> None:
        for operator in self._operators.values():
            operator.close()

    # --- what it remembers besides its stores

    def notes(self) -> dict[str, list[int]]:
        """By the names of its operators; kept with the positions in its inputs."""
        told = {name: note for name, operator in self._operators.items() if (note := operator.note())}
        clocks = {f"{CLOCK}{name}": clock.note() for name, clock in self.context.clocks.items()}
        latest = {
            f"{LATEST}{topic}": [queue.latest]
            for topic, (source, _, queue) in self._sources.items()
            if source.timestamp_extractor is not None
        }
        return {**told, **clocks, **latest, STREAM_TIME: [self.context.stream_time]}

    def recall(self, notes: Mapping[str, list[int]]) -> None:
        """Takes the notes of the same task, when it is made anew."""
        for name, note in notes.items():
            if name == STREAM_TIME:
                (self.context.stream_time,) = note
            elif name.startswith(CLOCK):
                self.context.clock(name.removeprefix(CLOCK)).recall(note)
            elif name.startswith(LATEST):
                if (known := self._sources.get(name.removeprefix(LATEST))) is not None:
                    (known[2].latest,) = note
            elif name in self._operators:
                self._operators[name].recall(note)

    # --- records

    @property
    def topics(self) -> tuple[str, ...]:
        return tuple(self._sources)

    def source(self, topic: str) -> Source:
        """Which reads a topic, by its name on the broker."""
        return self._sources[topic][0]

    @property
    def has_records(self) -> bool:
        return bool(self._queues)

    def read_pattern(self, pattern: str, topic: str) -> None:
        """A topic that has turned out to match a source's pattern."""
        for node in self._nodes:
            if isinstance(node, Source) and node.pattern == pattern:
                self._sources[topic] = (node, self._operators[node.name], InputQueue(topic))

    def add(
        self,
        topic: str,
        offset: int,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Headers = (),
    ) -> None:
        """Decodes a record and lets it wait for its turn."""
        record = self.decoded(topic, offset, key, value, timestamp, headers)
        if record is not None:
            self.add_decoded(topic, ((record, offset),))

    def add_decoded(self, topic: str, records: Sequence[Arrived]) -> None:
        self._queues.add(self._sources[topic][2], records)

    def decoded_slice(
        self,
        topic: str,
        keys: Iterable[bytes | None],
        values: Iterable[bytes | None],
        timestamps: Sequence[int],
        headers: Iterable[Headers],
    ) -> list[Raw]:
        """Many records at once; if it raises, `decoded` of each says with which."""
        source, _, _ = self._sources[topic]
        assert source.key_serde is not None
        assert source.value_serde is not None
        if source.timestamp_extractor is not None:
            raise ValueError("records whose time the program finds out are decoded one by one")
        decode_key, decode_value = source.key_serde.decode, source.value_serde.decode
        if min(timestamps) < 0:
            raise InvalidTimestampError("a record has no valid timestamp")
        return [
            (decode_key(topic, key), decode_value(topic, value), timestamp, each)
            for key, value, timestamp, each in zip(keys, values, timestamps, headers, strict=True)
        ]

    def takes_time_as_it_is(self, topic: str) -> bool:
        return self._sources[topic][0].timestamp_extractor is None

    def decoded(
        self,
        topic: str,
        offset: int,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Headers = (),
    ) -> Raw | None:
        """None of one that the program's timestamp extractor wants to be dropped."""
        source, _, queue = self._sources[topic]
        assert source.key_serde is not None
        assert source.value_serde is not None
        try:
            decoded_key = source.key_serde.decode(topic, key)
            decoded = source.value_serde.decode(topic, value)
        except Exception as error:
            error.add_note(f"This was the record at offset {offset} of topic {topic}.")
            raise
        if source.timestamp_extractor is not None:
            try:
                timestamp = source.timestamp_extractor(decoded_key, decoded, timestamp, queue.latest)
            except Exception as error:
                error.add_note(
                    f"This was the timestamp extractor of {source.name}"
                    f"{f' ({source.place})' if source.place else ''}, "
                    f"with the record at offset {offset} of topic {topic}."
                )
                raise
            if timestamp < 0:
                self.context.drop(source.name)
                return None
        elif timestamp < 0:
            raise InvalidTimestampError(
                f"topic {topic}, offset {offset}: the record's timestamp is {timestamp}; "
                f"Consumed(timestamp_extractor=...) can take one from elsewhere"
            )
        return decoded_key, decoded, timestamp, headers

    def waiting(self, topic: str) -> int:
        """How many records of a topic wait."""
        return len(self._sources[topic][2].records)

    def next_up(self) -> tuple[str, int]:
        """Topic and offset of the record that `process_next` takes."""
        queue = self._queues.first()
        return queue.topic, queue.records[0][1]

    def process_next(self, now_ms: int) -> None:
        """The earliest of the records that wait, all the way down; then what is due in stream time."""
        queue, (record, offset) = self._queues.take()
        context = self.context
        context.now_ms = now_ms
        context.metadata = RecordMetadata(queue.topic, context.partition, offset)
        context.stream_time = max(context.stream_time, record[2])
        try:
            self._sources[queue.topic][1].process((record,))
        except Exception as error:
            self._tell(error, f", with the record at offset {offset} of topic {queue.topic}")
            raise
        context.metadata = None
        self._run_due(PunctuationType.STREAM_TIME, context.stream_time)

    def process_run(self, now_ms: int) -> tuple[str, int, int]:
        """The earliest of the records that wait, and those after it that are of the same input; only where they may be
        taken together. The input, the last offset, and how many they were."""
        assert self.takes_runs
        queue, run = self._queues.take_run()
        self._process_all(queue.topic, [record for record, _ in run], now_ms)
        return queue.topic, run[-1][1], len(run)

    def process_slice(self, topic: str, records: list[Raw], now_ms: int) -> None:
        """Records in the order of their input, at once; only where `takes_slices`."""
        assert self.takes_slices
        self._process_all(topic, records, now_ms)

    def _process_all(self, topic: str, records: list[Raw], now_ms: int) -> None:
        context = self.context
        context.now_ms = now_ms
        context.stream_time = max(context.stream_time, max(map(itemgetter(2), records), default=NO_TIME))
        try:
            self._sources[topic][1].process(records)
        except Exception as error:
            self._tell(error, f", with one of {len(records)} records of topic {topic}")
            raise

    def punctuate(self, now_ms: int) -> bool:
        """What is due in wall-clock time; whether there was anything."""
        self.context.now_ms = now_ms
        return self._run_due(PunctuationType.WALL_CLOCK_TIME, now_ms)

    def _run_due(self, kind: PunctuationType, time: int) -> bool:
        try:
            return self._punctuations[kind].run_due(time)
        except Exception as error:
            self._tell(error, f", in a punctuator at {time}")
            raise

    def _tell(self, error: Exception, record: str) -> None:
        """Adds to an error in which step of the topology it was, which the user's file shows no other way."""
        step, traceback = "", error.__traceback__
        while traceback is not None:
            owner = traceback.tb_frame.f_locals.get("self")
            step = owner.name if isinstance(owner, Operator) else step
            traceback = traceback.tb_next
        place = self._topology.nodes[step].place if step in self._topology.nodes else ""
        error.add_note(f"This was in {step or 'a task'}{f' ({place})' if place else ''}{record}.")

    @property
    def dropped(self) -> dict[str, int]:
        """How many records were dropped, by the operator, or by the store that they came too late for."""
        expired = {name: getattr(store, "expired_records", 0) for name, store in self.stores.items()}
        return {**self.context.dropped, **{name: count for name, count in expired.items() if count}}

    def take_produced(self) -> list[Produced]:
        taken = list(self.produced)
        self.produced.clear()
        return taken
