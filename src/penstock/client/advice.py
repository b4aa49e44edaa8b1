"""What to do about an error, and where librdkafka's own errors stand in the client's tree."""

from typing import NamedTuple

from penstock.errors import ErrorCode
from penstock.wire_client.errors import (
    AuthenticationError,
    BrokerUnreachableError,
    FatalError,
    KafkaError,
    KafkaTimeoutError,
    RetriableError,
    SerializationError,
)

OWN_LIMIT_ADVICE = "raise max.request.size of the producer, or send smaller records"
"""For a record that the client itself finds too large."""

ADVICE: dict[ErrorCode, str] = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "create the topic, or check its name and the number of its partitions",
    ErrorCode.MESSAGE_TOO_LARGE: "raise max.message.bytes of the topic, or send smaller records",
    ErrorCode.RECORD_LIST_TOO_LARGE: "lower batch.size, or raise segment.bytes of the topic",
    ErrorCode.NOT_ENOUGH_REPLICAS: "bring brokers back, or lower min.insync.replicas of the topic",
    ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND: "bring brokers back, or lower min.insync.replicas of the topic",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "have the principal granted access to the topic",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "have the principal granted Read on the group",
    ErrorCode.CLUSTER_AUTHORIZATION_FAILED: "have the principal granted IdempotentWrite on the cluster",
    ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED: "have the principal granted Write on the transactional.id",
    ErrorCode.INVALID_TXN_STATE: "begin and end transactions one after the other",
    ErrorCode.INVALID_TRANSACTION_TIMEOUT: "lower transaction.timeout.ms to the broker's transaction.max.timeout.ms",
    ErrorCode.PRODUCER_FENCED: "another producer has this transactional.id now: close this one",
    ErrorCode.INVALID_PRODUCER_EPOCH: "another producer has this transactional.id now: close this one",
    ErrorCode.FENCED_INSTANCE_ID: "another member has this group.instance.id now: close this one",
    ErrorCode.UNSUPPORTED_VERSION: "the broker is older than this feature",
    ErrorCode.INVALID_RECORD: "a compacted topic takes records with a key only",
    ErrorCode.INVALID_TIMESTAMP: "the topic's message.timestamp settings refuse this time",
    ErrorCode.OFFSET_OUT_OF_RANGE: "seek, or set auto.offset.reset to earliest or latest",
    ErrorCode.SASL_AUTHENTICATION_FAILED: "check sasl.mechanism, user and password",
    ErrorCode.INVALID_GROUP_ID: "set group.id",
    ErrorCode.UNKNOWN_MEMBER_ID: "the member was away for too long: poll more often, or raise max.poll.interval.ms",
    ErrorCode.ILLEGAL_GENERATION: "the group has moved on without this member: poll more often",
    ErrorCode.REBALANCE_IN_PROGRESS: "poll, so that the member can rejoin, and try again",
}


class LocalError(NamedTuple):
    """`of_brokers`: it comes of a broker that does not answer, and should name it."""

    kind: type[KafkaError]
    advice: str = ""
    code: ErrorCode | None = None
    of_brokers: bool = False


_AUTHENTICATION = "check security.protocol, and the ssl and sasl settings"

LOCAL_ERRORS: dict[str, LocalError] = {
    "_MSG_TIMED_OUT": LocalError(
        KafkaTimeoutError, "delivery.timeout.ms has passed without an acknowledgement", of_brokers=True
    ),
    "_TIMED_OUT": LocalError(KafkaTimeoutError, "no answer in the time that was given", of_brokers=True),
    "_TIMED_OUT_QUEUE": LocalError(
        KafkaTimeoutError, "no answer in the time that was given", of_brokers=True
    ),
    "_TRANSPORT": LocalError(
        BrokerUnreachableError, "check bootstrap.servers, and that the broker runs", of_brokers=True
    ),
    "_ALL_BROKERS_DOWN": LocalError(
        BrokerUnreachableError, "check bootstrap.servers, and that the broker runs", of_brokers=True
    ),
    "_RESOLVE": LocalError(
        BrokerUnreachableError, "check the host names in bootstrap.servers", of_brokers=True
    ),
    "_AUTHENTICATION": LocalError(AuthenticationError, _AUTHENTICATION),
    "_SSL": LocalError(AuthenticationError, _AUTHENTICATION),
    "_UNKNOWN_TOPIC": LocalError(
        KafkaError,
        ADVICE[ErrorCode.UNKNOWN_TOPIC_OR_PARTITION],
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ),
    "_UNKNOWN_PARTITION": LocalError(
        KafkaError,
        ADVICE[ErrorCode.UNKNOWN_TOPIC_OR_PARTITION],
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ),
    "_FATAL": LocalError(FatalError, "close this client, and make another"),
    "_FENCED": LocalError(FatalError, "another client has taken this one's place: close it"),
    "_QUEUE_FULL": LocalError(
        KafkaTimeoutError,
        "raise buffer.memory or queue.buffering.max.messages, or send less",
        of_brokers=True,
    ),
    "_PURGE_QUEUE": LocalError(
        KafkaError, "it was dropped with its transaction, or when the producer was closed"
    ),
    "_PURGE_INFLIGHT": LocalError(
        KafkaError,
        "it was dropped with its transaction, or when the producer was closed; it may be written or not",
    ),
    "_STATE": LocalError(KafkaError, "this call does not fit the state that the client is in"),
    "_CONFLICT": LocalError(KafkaError, "another call of the same kind is under way"),
    "_PREV_IN_PROGRESS": LocalError(KafkaError, "another call of the same kind is under way"),
    "_NO_OFFSET": LocalError(KafkaError, "there is no offset to commit"),
    "_AUTO_OFFSET_RESET": LocalError(
        KafkaError, "seek, or set auto.offset.reset to earliest or latest", ErrorCode.OFFSET_OUT_OF_RANGE
    ),
    "_MAX_POLL_EXCEEDED": LocalError(
        RetriableError, "poll more often, take fewer records at a time, or raise max.poll.interval.ms"
    ),
    "_KEY_SERIALIZATION": LocalError(SerializationError),
    "_VALUE_SERIALIZATION": LocalError(SerializationError),
    "_UNSUPPORTED_FEATURE": LocalError(KafkaError, "the broker is older than this feature"),
}
"""By librdkafka's names; those that are not here are a `KafkaError` with librdkafka's text."""
