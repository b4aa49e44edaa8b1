"""How many partitions topics have, for partitioners that are asked in Python."""

import time

from penstock.client.librdkafka import KafkaException, client_error, error_of
from penstock.client.producer.delivery import Delivery
from penstock.client.producer.partitioners import Outgoing, Partitioner
from penstock.client.producer.patience import turns
from penstock.errors import ErrorCode
from penstock.wire_client.errors import KafkaError, error_for

RETRY_SECONDS = 0.1
LOOK_SECONDS = 1.0
"""How long one look at a topic may last, at a broker that is slow."""


class Placement:
    """Asks the partitioner, with the number of partitions that the topic has now, or had a while ago."""

    def __init__(
        self, partitioner: Partitioner | None, delivery: Delivery, max_age_ms: int, max_block_ms: int
    ) -> None:
        self._partitioner, self._delivery = partitioner, delivery
        self._max_age, self._max_block = max_age_ms / 1000, max_block_ms / 1000
        self._counts: dict[str, tuple[int, float]] = {}

    @property
    def is_asked(self) -> bool:
        """Whether there is a partitioner in Python at all."""
        return self._partitioner is not None

    def place(self, record: Outgoing) -> int:
        assert self._partitioner is not None
        count = self.partitions_of(record.topic)
        try:
            chosen = self._partitioner.partition(record, count)
        except Exception as error:
            raise self._refusal(record.topic, f"failed: {error}") from error
        if not isinstance(chosen, int) or not 0 <= chosen < count:
            raise self._refusal(record.topic, f"chose {chosen!r}; takes 0 to {count - 1}")
        return chosen

    def _refusal(self, topic: str, why: str) -> KafkaError:
        name = getattr(self._partitioner, "function", type(self._partitioner))
        return KafkaError(f"topic {topic}: the partitioner {getattr(name, '__qualname__', name)} {why}")

    def partitions_of(self, topic: str) -> int:
        count, until = self._counts.get(topic, (0, 0.0))
        now = time.monotonic()
        if now < until:
            return count
        count = self._ask(topic)
        self._counts[topic] = count, now + self._max_age
        return count

    def _ask(self, topic: str) -> int:
        """Waits for a broker that is just being started, and for a topic that is just being created."""
        failure: KafkaException | None = None
        for seconds in turns(self._max_block, LOOK_SECONDS):
            try:
                if count := self._count_now(topic, max(0.001, seconds)):
                    return count
                failure = None
            except KafkaException as exception:
                failure = exception
            time.sleep(min(RETRY_SECONDS, seconds))
        raise self._not_learnt(topic, failure)

    def _count_now(self, topic: str, timeout: float) -> int:
        if self._delivery.is_stopped:
            raise KafkaError("this producer is closed; make another")
        with self._delivery.serving_here():
            listed = self._delivery.native.list_topics(topic, timeout=timeout)
        return len(listed.topics[topic].partitions)

    def _not_learnt(self, topic: str, failure: KafkaException | None) -> KafkaError:
        patience = f"{self._max_block * 1000:.0f} ms"
        if failure is None:
            why = f"topic {topic} is not there after {patience}; create it, or check its name"
            return error_for(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, why)
        what = f"topic {topic}: its partitions cannot be learnt in {patience}"
        return client_error(error_of(failure), what, self._delivery.troubles)
