"""What a member of a group is told when partitions come and go."""

from collections.abc import Callable, Sequence
from typing import Protocol, TypeAlias, runtime_checkable

from penstock.types import TopicPartition

PartitionsCallback: TypeAlias = Callable[[list[TopicPartition]], object]


@runtime_checkable
class RebalanceListener(Protocol):
    """An object to give to `subscribe`; subclass this one, or have any of its methods.

    All are called from within `poll`, by the thread that polls.

    >>> from penstock import KafkaConsumer, KafkaProducer
    >>> from penstock.client import RebalanceListener
    >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
    ...     _ = producer.send("orders", b"2 cups").result(30)
    >>> class Announcer(RebalanceListener):
    ...     def on_assigned(self, partitions):
    ...         print("assigned", *partitions)
    ...     def on_revoked(self, partitions):
    ...         print("revoked", *partitions)
    >>> with KafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing") as consumer:
    ...     consumer.subscribe("orders", listener=Announcer())
    ...     while not consumer.assignment():
    ...         records = consumer.poll(timeout=0.1)
    assigned orders-0
    revoked orders-0
    """

    def on_assigned(self, partitions: list[TopicPartition]) -> object:
        """These are this member's now, beside those it had. Nothing was read yet: `seek` is still possible.

        >>> from penstock import KafkaConsumer
        >>> consumer = KafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing")
        >>> consumer.subscribe("orders", on_assigned=consumer.seek_to_beginning)
        >>> consumer.close()
        """
        return None

    def on_revoked(self, partitions: list[TopicPartition]) -> object:
        """These go to another member. What was processed is committed already, if that is done by itself; if not,
        this is the last moment to do it.

        >>> from penstock import KafkaConsumer
        >>> consumer = KafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing", enable_auto_commit=False)
        >>> consumer.subscribe("orders", on_revoked=lambda partitions: consumer.commit())
        >>> consumer.close()
        """
        return None

    def on_lost(self, partitions: list[TopicPartition]) -> object:
        """These went to another member, who may be reading them already: nothing can be committed any more. Unless
        told otherwise, `on_revoked` is called.

        >>> from penstock import KafkaConsumer
        >>> consumer = KafkaConsumer(bootstrap_servers="localhost:9092", group_id="billing")
        >>> consumer.subscribe("orders", on_lost=lambda partitions: print("lost", *partitions))
        >>> consumer.close()
        """
        return self.on_revoked(partitions)


class Listeners:
    """The functions to call, of an object and of functions that were given; what a function does goes first."""

    def __init__(
        self,
        listener: object | None = None,
        on_assigned: PartitionsCallback | None = None,
        on_revoked: PartitionsCallback | None = None,
        on_lost: PartitionsCallback | None = None,
    ) -> None:
        self.on_assigned = on_assigned or _method(listener, "on_assigned")
        self.on_revoked = on_revoked or _method(listener, "on_revoked")
        self.on_lost = on_lost or _method(listener, "on_lost") or self.on_revoked
        if listener is not None and not (self.on_assigned or self.on_revoked or self.on_lost):
            raise TypeError(
                f"listener: got {listener!r}; takes an object with on_assigned, on_revoked or on_lost"
            )


def _method(listener: object | None, name: str) -> PartitionsCallback | None:
    method = getattr(listener, name, None)
    return method if callable(method) else None


def in_order(partitions: Sequence[TopicPartition]) -> str:
    return ", ".join(map(str, sorted(partitions)))
