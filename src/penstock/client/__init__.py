"""Producer, consumer and admin client, for any Kafka.

Names are imported when they are used first: librdkafka and asyncio take their time, and not everybody needs them.
"""

from importlib import import_module

TYPE_CHECKING = False  # as `typing` has it, whose import takes longer than all of this
if TYPE_CHECKING:
    from penstock.client.admin.faces import AsyncKafkaAdmin, KafkaAdmin
    from penstock.client.admin.list_offsets import OffsetSpec
    from penstock.client.admin.topic_changes import NewTopic
    from penstock.client.config import AdminConfig, ConsumerConfig, ProducerConfig
    from penstock.client.consumer.async_kafka_consumer import AsyncKafkaConsumer
    from penstock.client.consumer.decode import RecordDeserializationError
    from penstock.client.consumer.fetched_batch import FetchedBatch
    from penstock.client.consumer.kafka_consumer import KafkaConsumer
    from penstock.client.consumer.rebalance import RebalanceListener
    from penstock.client.consumer.state import ConsumerState, WaitsFor
    from penstock.client.consumer.use import ConcurrentUseError, WakeupError
    from penstock.client.producer.async_kafka_producer import AsyncKafkaProducer, AsyncTransaction
    from penstock.client.producer.futures import SendFuture
    from penstock.client.producer.kafka_producer import KafkaProducer
    from penstock.client.producer.partitioners import (
        FunctionPartitioner,
        Outgoing,
        Partitioner,
        PriorityPartitioner,
        RoundRobinPartitioner,
        murmur2,
        partition_of_key,
    )
    from penstock.client.producer.transactions import Transaction
    from penstock.client.records import (
        ConsumerRecord,
        OffsetAndMetadata,
        ProducerRecord,
        RecordBatch,
        RecordMetadata,
        TimestampType,
        TopicPartition,
    )
    from penstock.client.registry import (
        AvroDeserializer,
        AvroSerializer,
        CompatibilityCheck,
        JsonSchemaDeserializer,
        JsonSchemaSerializer,
        ProtobufDeserializer,
        ProtobufSerializer,
        RegisteredSchema,
        Schema,
        SchemaReference,
        SchemaRegistryClient,
        SchemaRegistryError,
        SchemaRegistryUnreachableError,
    )
    from penstock.client.serializers import (
        BytesDeserializer,
        BytesSerializer,
        Deserializer,
        DoubleDeserializer,
        DoubleSerializer,
        FloatDeserializer,
        FloatSerializer,
        FunctionDeserializer,
        FunctionSerializer,
        IntegerDeserializer,
        IntegerSerializer,
        JsonDeserializer,
        JsonSerializer,
        LongDeserializer,
        LongSerializer,
        Serializer,
        ShortDeserializer,
        ShortSerializer,
        StringDeserializer,
        StringSerializer,
        UUIDDeserializer,
        UUIDSerializer,
    )
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

__all__ = [
    "AdminConfig",
    "AsyncKafkaAdmin",
    "AsyncKafkaConsumer",
    "AsyncKafkaProducer",
    "AsyncTransaction",
    "AuthenticationError",
    "AuthorizationError",
    "AvroDeserializer",
    "AvroSerializer",
    "BrokerUnreachableError",
    "BytesDeserializer",
    "BytesSerializer",
    "CompatibilityCheck",
    "ConcurrentUseError",
    "ConsumerConfig",
    "ConsumerRecord",
    "ConsumerState",
    "Deserializer",
    "DoubleDeserializer",
    "DoubleSerializer",
    "FatalError",
    "FetchedBatch",
    "FloatDeserializer",
    "FloatSerializer",
    "FunctionDeserializer",
    "FunctionPartitioner",
    "FunctionSerializer",
    "IntegerDeserializer",
    "IntegerSerializer",
    "JsonDeserializer",
    "JsonSchemaDeserializer",
    "JsonSchemaSerializer",
    "JsonSerializer",
    "KafkaAdmin",
    "KafkaConsumer",
    "KafkaError",
    "KafkaProducer",
    "KafkaTimeoutError",
    "LongDeserializer",
    "LongSerializer",
    "NewTopic",
    "OffsetAndMetadata",
    "OffsetSpec",
    "Outgoing",
    "Partitioner",
    "PriorityPartitioner",
    "ProducerConfig",
    "ProducerRecord",
    "ProtobufDeserializer",
    "ProtobufSerializer",
    "RebalanceListener",
    "RecordBatch",
    "RecordDeserializationError",
    "RecordMetadata",
    "RegisteredSchema",
    "RetriableError",
    "RoundRobinPartitioner",
    "Schema",
    "SchemaReference",
    "SchemaRegistryClient",
    "SchemaRegistryError",
    "SchemaRegistryUnreachableError",
    "SendFuture",
    "SerializationError",
    "Serializer",
    "ShortDeserializer",
    "ShortSerializer",
    "StringDeserializer",
    "StringSerializer",
    "TimestampType",
    "TopicPartition",
    "Transaction",
    "TransactionAbortableError",
    "UUIDDeserializer",
    "UUIDSerializer",
    "UnsupportedVersionError",
    "WaitsFor",
    "WakeupError",
    "murmur2",
    "partition_of_key",
]

_NAMES = {
    "penstock.client.admin.faces": (
        "AsyncKafkaAdmin",
        "KafkaAdmin",
    ),
    "penstock.client.admin.list_offsets": ("OffsetSpec",),
    "penstock.client.admin.topic_changes": ("NewTopic",),
    "penstock.client.consumer.async_kafka_consumer": ("AsyncKafkaConsumer",),
    "penstock.client.producer.async_kafka_producer": (
        "AsyncKafkaProducer",
        "AsyncTransaction",
    ),
    "penstock.client.config": (
        "AdminConfig",
        "ConsumerConfig",
        "ProducerConfig",
    ),
    "penstock.client.consumer.kafka_consumer": ("KafkaConsumer",),
    "penstock.client.consumer.decode": ("RecordDeserializationError",),
    "penstock.client.consumer.state": (
        "ConsumerState",
        "WaitsFor",
    ),
    "penstock.client.consumer.use": (
        "ConcurrentUseError",
        "WakeupError",
    ),
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
    "penstock.client.producer.futures": ("SendFuture",),
    "penstock.client.consumer.fetched_batch": ("FetchedBatch",),
    "penstock.client.producer.partitioners": (
        "FunctionPartitioner",
        "Outgoing",
        "Partitioner",
        "PriorityPartitioner",
        "RoundRobinPartitioner",
        "murmur2",
        "partition_of_key",
    ),
    "penstock.client.producer.kafka_producer": ("KafkaProducer",),
    "penstock.client.consumer.rebalance": ("RebalanceListener",),
    "penstock.client.records": (
        "ConsumerRecord",
        "OffsetAndMetadata",
        "ProducerRecord",
        "RecordBatch",
        "RecordMetadata",
        "TimestampType",
        "TopicPartition",
    ),
    "penstock.client.registry": (
        "AvroDeserializer",
        "AvroSerializer",
        "CompatibilityCheck",
        "JsonSchemaDeserializer",
        "JsonSchemaSerializer",
        "ProtobufDeserializer",
        "ProtobufSerializer",
        "RegisteredSchema",
        "Schema",
        "SchemaReference",
        "SchemaRegistryClient",
        "SchemaRegistryError",
        "SchemaRegistryUnreachableError",
    ),
    "penstock.client.serializers": (
        "BytesDeserializer",
        "BytesSerializer",
        "Deserializer",
        "DoubleDeserializer",
        "DoubleSerializer",
        "FloatDeserializer",
        "FloatSerializer",
        "FunctionDeserializer",
        "FunctionSerializer",
        "IntegerDeserializer",
        "IntegerSerializer",
        "JsonDeserializer",
        "JsonSerializer",
        "LongDeserializer",
        "LongSerializer",
        "Serializer",
        "ShortDeserializer",
        "ShortSerializer",
        "StringDeserializer",
        "StringSerializer",
        "UUIDDeserializer",
        "UUIDSerializer",
    ),
    "penstock.client.producer.transactions": ("Transaction",),
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
