"""Kafka Streams in Python: programs over streams and tables, in the words that Kafka Streams has.

>>> from penstock.streams import Consumed, StreamsBuilder
>>> builder = StreamsBuilder(default_key_serde="string", default_value_serde="string")
>>> builder.stream("lines").map_values(str.upper).to("shouted")
>>> len(builder.build().nodes)
3
"""

from penstock.pipeline.driver.topics import EmptyTopicError, TestInputTopic, TestOutputTopic, TestRecord
from penstock.pipeline.driver.topology_test_driver import TopologyTestDriver
from penstock.pipeline.formats.windowed import session_windowed_serde, time_windowed_serde
from penstock.pipeline.operators.processor_api import (
    Cancellable,
    Processor,
    ProcessorContext,
    PunctuationType,
    Record,
    RecordMetadata,
)
from penstock.pipeline.operators.processors import ProcessorError
from penstock.pipeline.operators.suppress import BufferFullError
from penstock.pipeline.plan.errors import TopologyError
from penstock.pipeline.plan.serdes import Serde
from penstock.pipeline.plan.topology import Topology
from penstock.pipeline.plan.windows import (
    JoinWindows,
    SessionWindows,
    SlidingWindows,
    TimeWindows,
    Window,
    Windowed,
)
from penstock.pipeline.streams.builder import StreamsBuilder
from penstock.pipeline.streams.configured import (
    Branched,
    BufferConfig,
    Consumed,
    EmitStrategy,
    Grouped,
    Joined,
    Materialized,
    Produced,
    Repartitioned,
    StreamJoined,
    Suppressed,
    TableJoined,
)
from penstock.pipeline.streams.dsl import (
    BranchedKStream,
    CogroupedKStream,
    GlobalKTable,
    KGroupedStream,
    KGroupedTable,
    KStream,
    KTable,
    WindowedKStream,
)
from penstock.pipeline.streams.processors import StoreBuilder, Stores
from penstock.pipeline.tasks.program import Program

__all__ = [
    "Branched",
    "BranchedKStream",
    "BufferConfig",
    "BufferFullError",
    "Cancellable",
    "CogroupedKStream",
    "Consumed",
    "EmitStrategy",
    "EmptyTopicError",
    "GlobalKTable",
    "Grouped",
    "JoinWindows",
    "Joined",
    "KGroupedStream",
    "KGroupedTable",
    "KStream",
    "KTable",
    "Materialized",
    "Processor",
    "ProcessorContext",
    "ProcessorError",
    "Produced",
    "Program",
    "PunctuationType",
    "Record",
    "RecordMetadata",
    "Repartitioned",
    "Serde",
    "SessionWindows",
    "SlidingWindows",
    "StoreBuilder",
    "Stores",
    "StreamJoined",
    "StreamsBuilder",
    "Suppressed",
    "TableJoined",
    "TestInputTopic",
    "TestOutputTopic",
    "TestRecord",
    "TimeWindows",
    "Topology",
    "TopologyError",
    "TopologyTestDriver",
    "Window",
    "Windowed",
    "WindowedKStream",
    "session_windowed_serde",
    "time_windowed_serde",
]
