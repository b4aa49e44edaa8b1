"""What librdkafka reports besides records, in the words of Kafka's client: warnings, and errors that end the tool."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence

from penstock.cli.tools.clients.log_lines import log_warning
from penstock.cli.tools.clients.record import Record, as_records
from penstock.client.librdkafka import KafkaException, Message, NativeError
from penstock.controller.topics import check_topic_name
from penstock.errors import ApiError
from penstock.wire_client.errors import KafkaError as ClientError
from penstock.wire_client.errors import error_for, is_retriable, java_exception_name, known_code

NETWORK_CLIENT = "org.apache.kafka.clients.NetworkClient"
EXCEPTIONS = "org.apache.kafka.common.errors"
UNREACHABLE = frozenset({NativeError._TRANSPORT, NativeError._RESOLVE, NativeError._ALL_BROKERS_DOWN})
ENDS_THE_TOOL = frozenset(
    {
        *(NativeError._AUTHENTICATION, NativeError._SSL, NativeError._FATAL, NativeError._AUTO_OFFSET_RESET),
        *(NativeError._INVALID_ARG, NativeError._UNSUPPORTED_FEATURE, NativeError._FENCED),
    }
)
"""Of librdkafka's own errors; all others pass."""
MISSING = frozenset(
    {
        *(NativeError.UNKNOWN_TOPIC_OR_PART, NativeError._UNKNOWN_TOPIC, NativeError._UNKNOWN_PARTITION),
    }
)
COMES_RIGHT_BY_ITSELF = frozenset(
    {
        *(NativeError.UNKNOWN_MEMBER_ID, NativeError.ILLEGAL_GENERATION, NativeError.REBALANCE_IN_PROGRESS),
    }
)
"""Of the broker's errors that are not retriable: the member joins again."""
EXCEPTION_OF_LOCAL_ERROR = {
    NativeError._AUTHENTICATION: f"{EXCEPTIONS}.SaslAuthenticationException",
    NativeError._SSL: f"{EXCEPTIONS}.SslAuthenticationException",
    NativeError._MSG_TIMED_OUT: f"{EXCEPTIONS}.TimeoutException",
    NativeError._TIMED_OUT: f"{EXCEPTIONS}.TimeoutException",
    NativeError._TRANSPORT: f"{EXCEPTIONS}.NetworkException",
    NativeError._ALL_BROKERS_DOWN: f"{EXCEPTIONS}.TimeoutException",
    NativeError._UNKNOWN_TOPIC: f"{EXCEPTIONS}.UnknownTopicOrPartitionException",
    NativeError._AUTO_OFFSET_RESET: "org.apache.kafka.clients.consumer.NoOffsetForPartitionException",
    NativeError._INVALID_ARG: "org.apache.kafka.common.config.ConfigException",
}
SILENT_SECONDS = 60.0
UNKNOWN_LOCAL_ERROR = "org.apache.kafka.common.KafkaException"
BROKER_ADDRESS = re.compile(
    r"^(?:\w+://)?(?P<address>[^/]+)/(?P<node>\w+): (?P<reason>.*?)(?: \(after .*)?$", re.DOTALL
)


class ClientEvents:
    """Warns of what may pass, and keeps what cannot pass as `fatal`, in the words of Java's exception."""

    def __init__(self, role: str, configs: Mapping[str, str]) -> None:
        group = f", groupId={configs['group.id']}" if "group.id" in configs else ""
        self._who = f"[{role} clientId={configs.get('client.id', '')}{group}]"
        self._warned: dict[str, float] = {}
        self.fatal: str | None = None
        self.misses_topic = False

    def settings(self) -> dict[str, object]:
        """librdkafka's own log is off: what a user can use of it comes as an event."""
        return {"error_cb": self.on_error, "log_level": 0}

    def on_error(self, error: NativeError) -> None:
        code = error.code()
        if code in UNREACHABLE:
            self._maybe_warn_of_broker(error)
        elif code == NativeError._PARTITION_EOF:
            return
        elif error.fatal() or ends_the_tool(code):
            self.fatal = java_exception_of(error)
        else:
            self.misses_topic |= code in MISSING
            self._warn(error.str())

    def check_topic(self, topic: str) -> None:
        """librdkafka says of a name that no topic can have no more than that there is no such topic."""
        try:
            check_topic_name(topic)
        except ApiError:
            self.fatal = f"{EXCEPTIONS}.InvalidTopicException: Invalid topics: [{topic}]"

    def without_errors(self, messages: Sequence[Message]) -> Sequence[Record]:
        for message in messages:
            if (error := message.error()) is not None:
                self.on_error(error)
        return as_records([message for message in messages if message.error() is None])

    def _maybe_warn_of_broker(self, error: NativeError) -> None:
        found = BROKER_ADDRESS.match(error.str())
        if found is None:
            return  # that all brokers are down has been said of each of them
        node = "-1" if found["node"] == "bootstrap" else found["node"]
        origin = "" if node == "-1" else "; that address was advertised by the cluster"
        self._warn(
            f"Connection to node {node} ({found['address']}) could not be established. "
            f"Node may not be available. {found['reason']}{origin}"
        )

    def _warn(self, text: str) -> None:
        """Once a minute: an address that stays silent is not news."""
        known = text.partition(". ")[0]
        now = time.monotonic()
        if now - self._warned.get(known, -SILENT_SECONDS) >= SILENT_SECONDS:
            self._warned[known] = now
            log_warning(f"{self._who} {text}", NETWORK_CLIENT)


def ends_the_tool(code: int) -> bool:
    if code < 0:
        return code in ENDS_THE_TOOL
    return not is_retriable(code) and code not in COMES_RIGHT_BY_ITSELF


def java_exception_of(error: object) -> str:
    """Class and message of the exception that Kafka's client would have thrown."""
    if isinstance(error, KafkaException):
        error = error.args[0]
    if isinstance(error, ClientError):
        return f"{error.java_name}: {error}"
    if not isinstance(error, NativeError):
        return str(error)
    if error.code() >= 0:
        code = known_code(error.code())
        return f"{java_exception_name(code)}: {error_for(code).message}"
    name = EXCEPTION_OF_LOCAL_ERROR.get(error.code(), UNKNOWN_LOCAL_ERROR)
    return f"{name}: {error.str()}"
