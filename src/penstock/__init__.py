"""Penstock: the whole Kafka platform in one pip install.

The clients' names are imported when they are used first: the broker and the tools start without them.
"""

from importlib import import_module

TYPE_CHECKING = False  # as `typing` has it, whose import takes longer than all of this
if TYPE_CHECKING:
    from penstock.client.admin.faces import AsyncKafkaAdmin, KafkaAdmin
    from penstock.client.config import AdminConfig, ConsumerConfig, ProducerConfig
    from penstock.client.consumer.async_kafka_consumer import AsyncKafkaConsumer
    from penstock.client.consumer.kafka_consumer import KafkaConsumer
    from penstock.client.consumer.rebalance import RebalanceListener
    from penstock.client.producer.async_kafka_producer import AsyncKafkaProducer
    from penstock.client.producer.kafka_producer import KafkaProducer
    from penstock.client.producer.partitioners import PriorityPartitioner, RoundRobinPartitioner
    from penstock.client.records import (
        ConsumerRecord,
        OffsetAndMetadata,
        ProducerRecord,
        RecordBatch,
        RecordMetadata,
        TopicPartition,
    )
    from penstock.client.serializers import JsonDeserializer, JsonSerializer
    from penstock.wire_client.errors import (
        AuthenticationError,
        AuthorizationError,
        BrokerUnreachableError,
        FatalError,
        KafkaError,
        KafkaTimeoutError,
        RetriableError,
        SerializationError,
        TransactionAbortableError,
        UnsupportedVersionError,
    )

__version__ = "0.1.0"

__all__ = [
    "AdminConfig",
    "AsyncKafkaAdmin",
    "AsyncKafkaConsumer",
    "AsyncKafkaProducer",
    "AuthenticationError",
    "AuthorizationError",
    "BrokerUnreachableError",
    "ConsumerConfig",
    "ConsumerRecord",
    "FatalError",
    "JsonDeserializer",
    "JsonSerializer",
    "KafkaAdmin",
    "KafkaConsumer",
    "KafkaError",
    "KafkaProducer",
    "KafkaTimeoutError",
    "OffsetAndMetadata",
    "PriorityPartitioner",
    "ProducerConfig",
    "ProducerRecord",
    "RebalanceListener",
    "RecordBatch",
    "RecordMetadata",
    "RetriableError",
    "RoundRobinPartitioner",
    "SerializationError",
    "TopicPartition",
    "TransactionAbortableError",
    "UnsupportedVersionError",
]

_NAMES = {
    "penstock.client.admin.faces": (
        "AsyncKafkaAdmin",
        "KafkaAdmin",
    ),
    "penstock.client.consumer.async_kafka_consumer": ("AsyncKafkaConsumer",),
    "penstock.client.producer.async_kafka_producer": ("AsyncKafkaProducer",),
    "penstock.client.config": (
        "AdminConfig",
        "ConsumerConfig",
        "ProducerConfig",
    ),
    "penstock.client.consumer.kafka_consumer": ("KafkaConsumer",),
    "penstock.wire_client.errors": (
        "AuthenticationError",
        "AuthorizationError",
        "BrokerUnreachableError",
        "FatalError",
        "KafkaError",
        "KafkaTimeoutError",
        "RetriableError",
        "SerializationError",
        "TransactionAbortableError",
        "UnsupportedVersionError",
    ),
    "penstock.client.producer.partitioners": (
        "PriorityPartitioner",
        "RoundRobinPartitioner",
    ),
    "penstock.client.producer.kafka_producer": ("KafkaProducer",),
    "penstock.client.consumer.rebalance": ("RebalanceListener",),
    "penstock.client.records": (
        "ConsumerRecord",
        "OffsetAndMetadata",
        "ProducerRecord",
        "RecordBatch",
        "RecordMetadata",
        "TopicPartition",
    ),
    "penstock.client.serializers": (
        "JsonDeserializer",
        "JsonSerializer",
    ),
}
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}


def __getattr__(name: str) -> object:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
