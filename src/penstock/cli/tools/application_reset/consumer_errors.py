"""Errors in the words of Java's consumer, which is what Kafka's tool commits with."""

from __future__ import annotations

from penstock.cli.tools.common.failures import as_java_says
from penstock.errors import ErrorCode
from penstock.wire_client.errors import KafkaError

_HAS_MEMBERS = {ErrorCode.UNKNOWN_MEMBER_ID, ErrorCode.ILLEGAL_GENERATION}


def as_consumer_says(error: KafkaError, group_id: str, topic: str | None = None) -> str:
    if error.code in _HAS_MEMBERS:
        return (
            "org.apache.kafka.clients.consumer.CommitFailedException: the group has members, which alone may commit; "
            "stop all instances of the application first"
        )
    if error.code == ErrorCode.GROUP_AUTHORIZATION_FAILED:
        return f"{error.java_name}: Not authorized to access group: {group_id}"
    if error.code == ErrorCode.TOPIC_AUTHORIZATION_FAILED and topic is not None:
        return f"{error.java_name}: Not authorized to access topics: [{topic}]"
    return as_java_says(error)
