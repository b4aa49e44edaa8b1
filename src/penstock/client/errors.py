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

from penstock.client.error_facts import FACTS, Kind
from penstock.errors import ErrorCode, PenstockError

JAVA_ERRORS_PACKAGE = "org.apache.kafka.common.errors"


class KafkaError(PenstockError):
    """The root of the client's errors; what fits none of the others."""

    JAVA_NAME: ClassVar[str] = "org.apache.kafka.common.KafkaException"

    def __init__(self, message: str, code: ErrorCode | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.code = code

    @property
    def java_name(self) -> str:
        return self.JAVA_NAME if self.code is None else java_exception_name(self.code)


class RetriableError(KafkaError):
    """The same call may succeed later."""


class KafkaTimeoutError(RetriableError, TimeoutError):
    """It did not come about in the time that was given; the message says what was waited for."""

    JAVA_NAME = f"{JAVA_ERRORS_PACKAGE}.TimeoutException"


class BrokerUnreachableError(KafkaTimeoutError):
    """No broker answered; the message names the addresses, and who advertised them."""


class AuthenticationError(KafkaError):
    """The broker does not accept who we say we are."""

    JAVA_NAME = f"{JAVA_ERRORS_PACKAGE}.SaslAuthenticationException"


class AuthorizationError(KafkaError):
    """The principal may not do this."""


class SerializationError(KafkaError):
    """A key or a value does not fit its serializer."""

    JAVA_NAME = f"{JAVA_ERRORS_PACKAGE}.SerializationException"


class TransactionAbortableError(KafkaError):
    """This transaction cannot be committed any more: abort it, and do its work again in another."""

    JAVA_NAME = f"{JAVA_ERRORS_PACKAGE}.TransactionAbortableException"


class FatalError(KafkaError):
    """This client cannot go on: close it, and make another."""


class UnsupportedVersionError(KafkaError):
    """The broker has no version of this API that can do what was asked."""

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
