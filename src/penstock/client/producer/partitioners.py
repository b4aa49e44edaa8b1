"""Who decides which partition a record goes to that names none.

The default is librdkafka's, which puts keys where Java's client puts them (murmur2) and lets records without a key
stick to one partition for a while, so that batches fill. Everything else is asked in Python, record by record.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, cast

from penstock.client.records import HeadersInput
from penstock.errors import ConfigError

PartitionFunction: TypeAlias = Callable[[str, Any, Any, int], int]
PartitionerSpec: TypeAlias = "Partitioner | str | PartitionFunction | None"

_SEED = 0x9747B28C
_MULTIPLIER = 0x5BD1E995
_MASK = 0xFFFFFFFF


class Outgoing(NamedTuple):
    """A record that looks for its partition; `key_bytes` is its key as it will be sent.

    >>> from penstock.client import Outgoing
    >>> Outgoing("orders", "customer-7", {"cups": 2}, (), b"customer-7").key_bytes
    b'customer-7'
    """

    topic: str
    key: Any
    value: Any
    headers: HeadersInput
    key_bytes: bytes | None

    def header(self, name: str) -> bytes | str | None:
        """The last header of that name.

        >>> from penstock.client import Outgoing
        >>> Outgoing("orders", None, b"2 cups", {"priority": b"high"}, None).header("priority")
        b'high'
        """
        if isinstance(self.headers, Mapping):
            return self.headers.get(name)
        return next((value for key, value in reversed(self.headers) if key == name), None)


class Partitioner(ABC):
    """Picks partitions. Subclass it, or give the producer a function `f(topic, key, value, partitions)`.

    >>> from penstock.client import Partitioner
    >>> class LastOne(Partitioner):
    ...     def partition(self, record, partitions):
    ...         return partitions - 1
    """

    @abstractmethod
    def partition(self, record: Outgoing, partitions: int) -> int:
        """One of 0 to `partitions` - 1.

        >>> from penstock.client import Outgoing, RoundRobinPartitioner
        >>> partitioner = RoundRobinPartitioner()
        >>> record = Outgoing("orders", None, b"2 cups", (), None)
        >>> [partitioner.partition(record, 3) for _ in range(4)]
        [0, 1, 2, 0]
        """


def murmur2(data: bytes) -> int:
    """Kafka's hash of a key, as an unsigned number.

    >>> from penstock.client import murmur2
    >>> hex(murmur2(b"customer-7"))
    '0xb37a4cf7'
    """
    value = _SEED ^ len(data)
    for start in range(0, len(data) & ~3, 4):
        word = int.from_bytes(data[start : start + 4], "little") * _MULTIPLIER & _MASK
        word = (word ^ word >> 24) * _MULTIPLIER & _MASK
        value = value * _MULTIPLIER & _MASK ^ word
    if tail := data[len(data) & ~3 :]:
        value = (value ^ int.from_bytes(tail, "little")) * _MULTIPLIER & _MASK
    value = (value ^ value >> 13) * _MULTIPLIER & _MASK
    return value ^ value >> 15


def partition_of_key(key: bytes, partitions: int) -> int:
    """Where Java's client, and this one, put a key.

    >>> from penstock.client import partition_of_key
    >>> partition_of_key(b"customer-7", 6)
    1
    """
    return (murmur2(key) & 0x7FFFFFFF) % partitions


class RoundRobinPartitioner(Partitioner):
    """One partition after the other, whatever the key.

    >>> from penstock import KafkaProducer
    >>> from penstock.client import RoundRobinPartitioner
    >>> with KafkaProducer(bootstrap_servers="localhost:9092", partitioner_class=RoundRobinPartitioner()) as producer:
    ...     producer.send("orders", b"2 cups").result(timeout=30).partition
    0
    """

    def __init__(self) -> None:
        self._next: dict[str, int] = {}

    def partition(self, record: Outgoing, partitions: int) -> int:
        turn = self._next.get(record.topic, 0)
        self._next[record.topic] = turn + 1
        return turn % partitions


class PriorityPartitioner(Partitioner):
    """Gives each priority partitions of its own, so that consumers can take the urgent ones first.

    The priority of a record is its header `priority`, or what `priority_of` (a function of the record) says. Among the
    partitions of its priority a record goes to where its key hashes to, without a key to the next in turn.

    >>> from penstock.client import Outgoing, PriorityPartitioner
    >>> partitioner = PriorityPartitioner({"high": [0, 1], "low": [2]}, default="low")
    >>> partitioner.partition(Outgoing("orders", None, b"2 cups", {"priority": b"high"}, None), 3)
    0
    >>> partitioner.partition(Outgoing("orders", None, b"2 cups", (), None), 3)
    2
    """

    def __init__(
        self,
        partitions_of: Mapping[Any, Sequence[int]],
        *,
        header: str = "priority",
        priority_of: Callable[[Outgoing], Any] | None = None,
        default: Any = None,
    ) -> None:
        self.partitions_of = {priority: tuple(chosen) for priority, chosen in partitions_of.items()}
        if not self.partitions_of or not all(self.partitions_of.values()):
            raise ConfigError(
                "PriorityPartitioner: got a priority without partitions; takes at least one for each"
            )
        if default is not None and default not in self.partitions_of:
            raise ConfigError(f"PriorityPartitioner: got default {default!r}; takes {self._words()}")
        self.header, self.default = header, default
        self._priority_of = priority_of or self._by_header
        self._turns: dict[tuple[str, Any], int] = {}

    def partition(self, record: Outgoing, partitions: int) -> int:
        priority = self._priority_of(record)
        if priority not in self.partitions_of:
            priority = self.default
        chosen = self.partitions_of.get(priority)
        if chosen is None:
            raise ValueError(f"the record's priority is {self._priority_of(record)!r}; takes {self._words()}")
        return self._among(chosen, record, priority)

    def _among(self, chosen: tuple[int, ...], record: Outgoing, priority: Any) -> int:
        if record.key_bytes is not None:
            return chosen[partition_of_key(record.key_bytes, len(chosen))]
        turn = self._turns.get((record.topic, priority), 0)
        self._turns[record.topic, priority] = turn + 1
        return chosen[turn % len(chosen)]

    def _by_header(self, record: Outgoing) -> object:
        value = record.header(self.header)
        return value.decode() if isinstance(value, bytes) else value

    def _words(self) -> str:
        return f"one of {', '.join(map(repr, self.partitions_of))}"


class FunctionPartitioner(Partitioner):
    """A function `f(topic, key, value, partitions)` as a partitioner.

    >>> from penstock.client import FunctionPartitioner, Outgoing
    >>> by_length = FunctionPartitioner(lambda topic, key, value, partitions: len(value) % partitions)
    >>> by_length.partition(Outgoing("orders", None, b"2 cups", (), None), 4)
    2
    """

    def __init__(self, function: PartitionFunction) -> None:
        self.function = function

    def partition(self, record: Outgoing, partitions: int) -> int:
        return self.function(record.topic, record.key, record.value, partitions)


_DEFAULT_NAMES = {"default", "org.apache.kafka.clients.producer.internals.DefaultPartitioner"}
_ROUND_ROBIN_NAMES = {"round_robin", "org.apache.kafka.clients.producer.RoundRobinPartitioner"}


def resolve_partitioner(given: PartitionerSpec) -> Partitioner | None:
    """None stands for the default, which librdkafka applies itself."""
    if given is None or given in _DEFAULT_NAMES:
        return None
    if isinstance(given, Partitioner):
        return given
    if isinstance(given, type) and issubclass(given, Partitioner):
        return given()
    if given in _ROUND_ROBIN_NAMES:
        return RoundRobinPartitioner()
    if callable(given):
        return FunctionPartitioner(cast(PartitionFunction, given))
    raise ConfigError(
        f"partitioner.class: got {given!r}; takes a Partitioner, a function of topic, key, value and the number of "
        "partitions, or one of default, round_robin"
    )
