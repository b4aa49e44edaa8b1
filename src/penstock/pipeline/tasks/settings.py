"""The settings of a program: Kafka Streams' names, and Spark's.

What begins with `producer.`, `consumer.` or `admin.` goes to the clients without the prefix, `security.`, `sasl.` and
`ssl.` to all of them; `topic.` to the topics that the program makes for itself; `spark.` to Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from penstock.errors import ConfigError
from penstock.settings.declare import HIGH, LOW, integer, items, long, string
from penstock.settings.table import UnknownName, table_of
from penstock.settings.takes import at_least, one_of

CLIENT_PREFIXES: Final = ("security.", "sasl.", "ssl.")
PREFIXES: Final = (*CLIENT_PREFIXES, "producer.", "consumer.", "admin.", "topic.", "spark.")
HANDLERS: Final = ("fail", "continue")
_HANDLER_OF_CLASS: Final = {
    "LogAndFailExceptionHandler": "fail",
    "LogAndFailProcessingExceptionHandler": "fail",
    "DefaultProductionExceptionHandler": "fail",
    "LogAndContinueExceptionHandler": "continue",
    "LogAndContinueProcessingExceptionHandler": "continue",
}
Client = Literal["producer", "consumer", "admin"]


@dataclass(frozen=True)
class StreamsSettings:
    bootstrap_servers: tuple[str, ...] = items(
        ("localhost:9092",), "The Kafka to run on: host:port, several with commas.", importance=HIGH
    )
    processing_guarantee: str = string(
        "exactly_once_v2",
        "Every program runs exactly once, also where its file asks for less.",
        one_of("exactly_once_v2", "at_least_once"),
    )
    commit_interval_ms: int = long(
        100,
        "How long results wait at most while there is more to do; else they are committed at once.",
        at_least(1),
    )
    max_task_idle_ms: int = long(
        0,
        "How long a task waits for an input that has nothing, to take records in the order of their times; -1 for not "
        "even for what is on its way.",
        at_least(-1),
    )
    buffered_records_per_partition: int = integer(
        1_000, "How many records wait in memory, of each.", at_least(1)
    )
    num_stream_threads: int = integer(
        0, "Processes of Spark that tasks are packed into; 0 for as many as there are cores.", at_least(0)
    )
    auto_offset_reset: str = string(
        "earliest", "Where to begin in a topic of which nothing was read yet.", one_of("earliest", "latest")
    )
    replication_factor: int = integer(
        -1,
        "Replicas of the topics that the program makes for itself; -1 for the brokers' default.",
        at_least(-1),
    )
    deserialization_exception_handler: str = string(
        "fail",
        "What becomes of a record that can't be read: `fail`, or `continue` without it.",
        one_of(*HANDLERS),
    )
    processing_exception_handler: str = string(
        "fail", "What becomes of a record that the program raises for.", one_of(*HANDLERS)
    )
    errors_dead_letter_queue_topic_name: str | None = string(
        None, "Where records go that handlers go on without, with the error in their headers."
    )
    repartition_purge_interval_ms: int = long(
        30_000,
        "How often records that were read are deleted from repartition topics.",
        at_least(1),
        importance=LOW,
    )
    session_timeout_ms: int = integer(
        10_000, "A process that was not heard of for so long loses its tasks to the others.", at_least(1)
    )
    transaction_timeout_ms: int = integer(
        10_000,
        "How long a transaction of a process that died may hold up those who read its results.",
        at_least(1),
    )
    tick_ms: int = long(
        24 * 60 * 60 * 1000,
        "How long Spark runs tasks at a stretch; they stop at once when they are to.",
        at_least(1),
        importance=LOW,
    )
    state_dir: str = string("/tmp/penstock-streams", "Where Spark keeps its files.")
    spark_master: str = string(
        "local[32]", "Where tasks run: local[slots], spark://host:port, or any other of Spark's."
    )
    configs: Mapping[str, str] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def from_configs(cls, configs: Mapping[str, Any], where: str = "") -> StreamsSettings:
        texts = {name: _text_of(name, value) for name, value in configs.items() if value is not None}
        values: dict[str, Any] = {
            one.attribute: one.parse(texts[name], where)
            for name, one in STREAMS_TABLE.items()
            if name in texts
        }
        for name, nearest in find_unknown(texts):
            hint = f"; did you mean {nearest}?" if nearest else ""
            raise ConfigError(f"{name}: is no setting of a program{hint}" + (f" ({where})" if where else ""))
        return cls(**values, configs=texts)

    def client_configs(self, client: Client) -> dict[str, str]:
        """In Kafka's names: what is for all clients, then what is for this kind."""
        shared = {name: text for name, text in self.configs.items() if name.startswith(CLIENT_PREFIXES)}
        return {
            **shared,
            **self.with_prefix(f"{client}."),
            "bootstrap.servers": ",".join(self.bootstrap_servers),
        }

    def with_prefix(self, prefix: str) -> dict[str, str]:
        return {
            name.removeprefix(prefix): text for name, text in self.configs.items() if name.startswith(prefix)
        }

    @property
    def spark_configs(self) -> dict[str, str]:
        return {
            name: text
            for name, text in self.configs.items()
            if name.startswith("spark.") and name not in STREAMS_TABLE
        }


def _text_of(name: str, value: Any) -> str:
    """As Java's properties have it; handlers may be given by the names of Kafka Streams' classes."""
    if isinstance(value, list | tuple):
        return ",".join(map(str, value))
    text = str(value).lower() if isinstance(value, bool) else str(value)
    if name.endswith(".exception.handler"):
        return _HANDLER_OF_CLASS.get(text.rpartition(".")[2], text)
    return text


STREAMS_TABLE = table_of(StreamsSettings)


def find_unknown(configs: Mapping[str, str]) -> Iterator[UnknownName]:
    for name in configs:
        if name not in STREAMS_TABLE and not name.startswith(PREFIXES):
            yield UnknownName(name, STREAMS_TABLE.nearest(name))
