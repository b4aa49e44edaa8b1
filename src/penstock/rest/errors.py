"""Kafka's errors as Confluent's REST proxy answers them.

The codes are Confluent's. What may go better the next time is answered with status 503 and Retry-After, though, where
Confluent's says 500.
"""

from typing import NamedTuple

from penstock.errors import ApiError, ErrorCode
from penstock.web.errors import HttpError, unavailable
from penstock.wire_client.errors import (
    AuthenticationError,
    AuthorizationError,
    BrokerUnreachableError,
    KafkaError,
    KafkaTimeoutError,
    RetriableError,
    SerializationError,
)

RETRY_AFTER_SECONDS = 5

BAD_REQUEST = 40002
AUTHENTICATION, AUTHORIZATION = 40101, 40301
TOPIC_NOT_FOUND, PARTITION_NOT_FOUND, UNKNOWN_TOPIC_OR_PARTITION = 40401, 40402, 40403
DESERIALIZATION = 40801
KEY_SCHEMA_MISSING, VALUE_SCHEMA_MISSING, INVALID_SCHEMA = 42201, 42202, 42205
INVALID_PAYLOAD, SERIALIZATION, INVALID_BATCH = 42206, 42207, 42208
TOO_MANY_REQUESTS = 42901
KAFKA, RETRIABLE = 50002, 50003
UNREACHABLE = 50302


class Answer(NamedTuple):
    status: int
    error_code: int


_BY_CODE = {
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: Answer(404, UNKNOWN_TOPIC_OR_PARTITION),
    ErrorCode.UNKNOWN_TOPIC_ID: Answer(404, UNKNOWN_TOPIC_OR_PARTITION),
    ErrorCode.GROUP_ID_NOT_FOUND: Answer(404, 404),
    ErrorCode.SECURITY_DISABLED: Answer(400, BAD_REQUEST),
    ErrorCode.MESSAGE_TOO_LARGE: Answer(413, 413),
    ErrorCode.RECORD_LIST_TOO_LARGE: Answer(413, 413),
    ErrorCode.THROTTLING_QUOTA_EXCEEDED: Answer(429, TOO_MANY_REQUESTS),
    **dict.fromkeys(
        (
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            ErrorCode.TOPIC_ALREADY_EXISTS,
            ErrorCode.INVALID_PARTITIONS,
            ErrorCode.INVALID_REPLICATION_FACTOR,
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            ErrorCode.INVALID_CONFIG,
            ErrorCode.INVALID_REQUEST,
            ErrorCode.INVALID_RECORD,
            ErrorCode.INVALID_TIMESTAMP,
            ErrorCode.INVALID_GROUP_ID,
            ErrorCode.OFFSET_OUT_OF_RANGE,
            ErrorCode.POLICY_VIOLATION,
            ErrorCode.TOPIC_DELETION_DISABLED,
            ErrorCode.UNSUPPORTED_VERSION,
            ErrorCode.CORRUPT_MESSAGE,
            ErrorCode.UNKNOWN_SERVER_ERROR,
        ),
        Answer(400, BAD_REQUEST),
    ),
}
_BY_CLASS: tuple[tuple[type[KafkaError], Answer], ...] = (
    (AuthenticationError, Answer(401, AUTHENTICATION)),
    (AuthorizationError, Answer(403, AUTHORIZATION)),
    (SerializationError, Answer(422, SERIALIZATION)),
    (RetriableError, Answer(503, RETRIABLE)),
)
UNKNOWN_PARTITION = "Unknown partition"


def translate(error: Exception) -> HttpError | None:
    """The answer to a request that ended in one of the clients' errors."""
    if isinstance(error, ApiError):
        error = KafkaError(str(error), error.code)
    return of_kafka_error(error) if isinstance(error, KafkaError) else None


def of_kafka_error(error: KafkaError) -> HttpError:
    if isinstance(error, BrokerUnreachableError):
        return unavailable(error.message, retry_after_seconds=RETRY_AFTER_SECONDS, error_code=UNREACHABLE)
    if UNKNOWN_PARTITION in error.message:
        return partition_not_found()
    if error.code in _BY_CODE:
        return HttpError(*_BY_CODE[error.code], error.message)
    if isinstance(error, KafkaTimeoutError):
        return unavailable(error.message, retry_after_seconds=RETRY_AFTER_SECONDS, error_code=RETRIABLE)
    for kind, answer in _BY_CLASS:
        if isinstance(error, kind):
            headers = {"retry-after": str(RETRY_AFTER_SECONDS)} if answer.status == 503 else None
            return HttpError(*answer, error.message, headers)
    return HttpError(500, KAFKA, f"Kafka error: {error.message}")


def partition_not_found() -> HttpError:
    return HttpError(404, PARTITION_NOT_FOUND, "Partition not found.")


def topic_not_found() -> HttpError:
    return HttpError(404, TOPIC_NOT_FOUND, "Topic not found.")


def not_found(message: str) -> HttpError:
    return HttpError(404, 404, message)


def bad_field(name: str, got: object, takes: str) -> HttpError:
    return HttpError(400, 400, f"{name}: got {shown(got)}, takes {takes}")


class UnrecognizedField(HttpError):
    """A field that no object of this kind has, in the words of Confluent's proxy."""

    def __init__(self, status: int, name: str) -> None:
        super().__init__(status, status, f"Unrecognized field: {shown_name(name)}")


def missing_field(name: str) -> HttpError:
    return HttpError(422, 422, f"{name}: is missing")


LONGEST_SHOWN = 80


def shown_name(name: str) -> str:
    """A name that may not be one, fit to be answered with."""
    text = name.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."


_WORDS = {None: "null", True: "true", False: "false"}


def shown(value: object) -> str:
    """A value of a request in JSON's words, not too long."""
    if value is None or isinstance(value, bool):
        return _WORDS[value]
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}..."
