"""The errors of the client: one tree, sorted by what the catcher can do.

    KafkaError
      RetriableError            try again, perhaps later
        KafkaTimeoutError       it did not come about in the time that was given
          BrokerUnreachableError    ... because no broker answered: names the addresses, and who advertised them
      AuthenticationError       give other credentials
      AuthorizationError        have the principal granted what the message names
      SerializationError        this key or value does not fit its serializer
      TransactionAbortableError abort the transaction; the next one may succeed
      FatalError                this client is done for: close it, and make another
      UnsupportedVersionError   this broker cannot do that

An error that the broker answered carries its `code`. `java_name` is what Kafka's own client would have thrown.
"""

from typing import ClassVar

from penstock.errors import ErrorCode, PenstockError
from penstock.wire_client.error_facts import FACTS, Kind

JAVA_ERRORS_PACKAGE = "org.apache.kafka.common.errors"
IS_IT_RUNNING = "is `penstock up` running?"
"""What is asked where no broker has ever answered at the addresses that the user gave."""


class KafkaError(PenstockError):
    """The root of the client's errors; what fits none of the others.

    >>> from penstock import KafkaError, KafkaProducer
    >>> with KafkaProducer(bootstrap_servers="localhost:9092") as producer:
    ...     try:
    ...         producer.send("orders", b"x" * 2_000_000).result(timeout=30)
    ...     except KafkaError as error:
    ...         print(error.code.name)
    MESSAGE_TOO_LARGE
    """

    JAVA_NAME: ClassVar[str] = "org.apache.kafka.common.KafkaException"

    def __init__(self, message: str, code: ErrorCode | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code

    @property
    def java_name(self) -> str:
        return self.JAVA_NAME if self.code is None else java_exception_name(self.code)


class RetriableError(KafkaError):
    """The same call may succeed later.

    >>> from penstock import KafkaTimeoutError, RetriableError
    >>> issubclass(KafkaTimeoutError, RetriableError)
    True
    """


class KafkaTimeoutError(RetriableError, TimeoutError):
    """It did not come about in the time that was given; the message says what was waited for.

    >>> from penstock import KafkaProducer, KafkaTimeoutError
    >>> with KafkaProducer(bootstrap_servers="localhost:9092", linger_ms=60_000) as producer:
    ...     try:
    ...         producer.send("orders", b"2 cups").result(timeout=0.1)
    ...     except KafkaTimeoutError as error:
    ...         print(error)
    the record has no outcome after 0.1 s
    """

    JAVA_NAME = f"{JAVA_ERRORS_PACKAGE}.TimeoutException"


class BrokerUnreachableError(KafkaTimeoutError):
    """No broker answered; the message names the addresses, and who advertised them.

    >>> from penstock import BrokerUnreachableError, KafkaProducer
    >>> with KafkaProducer(bootstrap_servers="localhost:1", max_block_ms=300) as producer:
    ...     try:
    ...         producer.partitions_of("orders")
    ...     except BrokerUnreachableError as error:
    ...         print("localhost:1" in str(error))
    True
    """


class AuthenticationError(KafkaError):
    """The broker does not accept who we say we are.

    >>> from penstock import AuthenticationError
    >>> from penstock.wire_client.errors import error_for
    >>> from penstock.errors import ErrorCode
    >>> isinstance(error_for(ErrorCode.SASL_AUTHENTICATION_FAILED), AuthenticationError)
    True
    """

    JAVA_NAME = f"{JAVA_ERRORS_PACKAGE}.SaslAuthenticationException"


class AuthorizationError(KafkaError):
    """The principal may not do this.

    >>> from penstock import AuthorizationError
    >>> from penstock.wire_client.errors import error_for
    >>> from penstock.errors import ErrorCode
    >>> isinstance(error_for(ErrorCode.TOPIC_AUTHORIZATION_FAILED), AuthorizationError)
    True
    """


class SerializationError(KafkaError):
    """A key or a value does not fit its serializer.

    >>> from penstock import KafkaProducer, SerializationError
    >>> with KafkaProducer(bootstrap_servers="localhost:9092", value_serializer="integer") as producer:
    ...     try:
    ...         producer.send("counts", "forty-two")
    ...     except SerializationError as error:
    ...         print(str(error).split(": ")[1])
    the value is a str, which IntegerSerializer cannot serialize
    """

    JAVA_NAME = f"{JAVA_ERRORS_PACKAGE}.SerializationException"


class TransactionAbortableError(KafkaError):
    """This transaction cannot be committed any more: abort it, and do its work again in another.

    >>> from penstock import TransactionAbortableError
    >>> from penstock.wire_client.errors import error_for
    >>> from penstock.errors import ErrorCode
    >>> isinstance(error_for(ErrorCode.TRANSACTION_ABORTABLE), TransactionAbortableError)
    True
    """

    JAVA_NAME = f"{JAVA_ERRORS_PACKAGE}.TransactionAbortableException"


class FatalError(KafkaError):
    """This client cannot go on: close it, and make another.

    >>> from penstock import FatalError, KafkaProducer
    >>> config = {"bootstrap.servers": "localhost:9092", "transactional.id": "transfers-1"}
    >>> with KafkaProducer(config) as first, KafkaProducer(config) as second:
    ...     first.begin_transaction()
    ...     debit = first.send("accounts", b"-5").result(timeout=30)
    ...     second.init_transactions()
    ...     try:
    ...         first.commit_transaction()
    ...     except FatalError:
    ...         print("the second has taken over")
    the second has taken over
    """


class UnsupportedVersionError(KafkaError):
    """The broker has no version of this API that can do what was asked.

    >>> from penstock import UnsupportedVersionError
    >>> from penstock.wire_client.errors import error_for
    >>> from penstock.errors import ErrorCode
    >>> isinstance(error_for(ErrorCode.UNSUPPORTED_VERSION), UnsupportedVersionError)
    True
    """

    JAVA_NAME = f"{JAVA_ERRORS_PACKAGE}.UnsupportedVersionException"


_CLASS_OF_KIND: dict[Kind, type[KafkaError]] = {
    Kind.PLAIN: KafkaError,
    Kind.RETRIABLE: RetriableError,
    Kind.AUTHENTICATION: AuthenticationError,
    Kind.AUTHORIZATION: AuthorizationError,
}
_CLASS_OF_CODE: dict[ErrorCode, type[KafkaError]] = {
    ErrorCode.REQUEST_TIMED_OUT: KafkaTimeoutError,
    ErrorCode.UNSUPPORTED_VERSION: UnsupportedVersionError,
    ErrorCode.PRODUCER_FENCED: FatalError,
    ErrorCode.INVALID_PRODUCER_EPOCH: FatalError,
    ErrorCode.FENCED_INSTANCE_ID: FatalError,
    ErrorCode.TRANSACTION_ABORTABLE: TransactionAbortableError,
}


def error_for(code: int, message: str | None = None) -> KafkaError:
    """The error of a code that a broker answered, with the broker's message or Kafka's usual one."""
    known = known_code(code)
    facts = FACTS[known]
    cls = _CLASS_OF_CODE.get(known) or _CLASS_OF_KIND[facts.kind]
    return cls(message or facts.message, known)


def raise_for(code: int, message: str | None = None) -> None:
    """Raises the error of a code, unless it is none."""
    if code != ErrorCode.NONE:
        raise error_for(code, message)


def known_code(code: int) -> ErrorCode:
    """A code of a newer broker that this client has no name for is an unknown error, as in Kafka's client."""
    try:
        return ErrorCode(code)
    except ValueError:
        return ErrorCode.UNKNOWN_SERVER_ERROR


def java_exception_name(code: ErrorCode) -> str:
    return f"{JAVA_ERRORS_PACKAGE}.{FACTS[code].java_name}"


def is_retriable(code: int) -> bool:
    return code != ErrorCode.NONE and FACTS[known_code(code)].kind is Kind.RETRIABLE
