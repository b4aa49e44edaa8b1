"""What a processor of the user's own is written against."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, ClassVar, NamedTuple, Protocol, TypeAlias

Header: TypeAlias = tuple[str, bytes | None]
Headers: TypeAlias = tuple[Header, ...]


class Record(NamedTuple):
    """`record._replace(value=...)` makes another one of it."""

    key: Any
    value: Any
    timestamp: int
    headers: Headers = ()


class RecordMetadata(NamedTuple):
    topic: str
    partition: int
    offset: int


class PunctuationType(Enum):
    STREAM_TIME = "stream time"
    """As the timestamps of records tell it."""
    WALL_CLOCK_TIME = "wall-clock time"


class Cancellable(Protocol):
    def cancel(self) -> None: ...


class ProcessorContext(Protocol):
    def forward(self, record: Record, child: str | None = None) -> None:
        """To all that comes after, or to the one of that name."""

    def get_state_store(self, name: str) -> Any: ...

    def schedule(
        self, interval_ms: int, kind: PunctuationType, punctuator: Callable[[int], object]
    ) -> Cancellable:
        """Calls the punctuator with the time, each time so much of it has passed."""

    @property
    def record_metadata(self) -> RecordMetadata | None:
        """None while a punctuator runs."""

    @property
    def current_stream_time_ms(self) -> int: ...

    @property
    def current_system_time_ms(self) -> int: ...

    @property
    def task_id(self) -> str: ...

    @property
    def application_id(self) -> str: ...


class Processor(ABC):
    """Subclass it, and give the class to `KStream.process`; each task makes one of its own.

    >>> from penstock.streams import Processor, Record
    >>> class Doubler(Processor):
    ...     def process(self, record: Record) -> None:
    ...         self.context.forward(record._replace(value=record.value * 2))
    """

    stores: ClassVar[Sequence[Any]] = ()
    """Builders of stores that come with it."""
    context: ProcessorContext

    def init(self, context: ProcessorContext) -> None:
        """Called before the first record; who overrides it calls it too."""
        self.context = context

    @abstractmethod
    def process(self, record: Record) -> None: ...

    def close(self) -> None:  # noqa: B027  # most have nothing to close
        """Called when the task ends."""


ProcessorSupplier: TypeAlias = Callable[[], Processor]
