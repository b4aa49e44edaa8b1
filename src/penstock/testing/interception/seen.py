"""A request as the broker got it, and the topics that it speaks of."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.wire.api_keys import ApiKey
from penstock.wire.schema import ApiMessage, Message

if TYPE_CHECKING:
    from penstock.testing.interception.rules import Rule

NO_TOPIC_ID = bytes(16)
TOPIC_RESOURCE = 2
"""The type of a config resource that is a topic."""


@dataclass
class SeenRequest:
    api: ApiKey
    version: int
    client_id: str | None
    message: ApiMessage
    """The request itself, with Kafka's field names in snake_case; records are bytes."""
    topics: frozenset[str]
    """Every topic that the request names, by name or by id; of an incremental fetch those of its session."""
    rule: "Rule | None" = None
    """The rule that took it, if one did."""


def topics_in(message: Message, name_of: Callable[[bytes], str | None]) -> Iterator[str]:
    """The topics that a request names; `name_of` finds the name behind an id."""
    for field in message.SCHEMA:
        value = getattr(message, field.name)
        if field.struct is not None:
            items = value if field.is_array else [value]
            is_topic = "topic" in field.name or "topic" in field.struct.__name__.lower()
            for item in items or ():
                yield from _names_of(item, name_of) if is_topic else ()
                yield from topics_in(item, name_of) if item is not None else ()
        elif field.kind == "[]string" and "topic" in field.name:
            yield from value or ()
    if getattr(message, "resource_type", None) == TOPIC_RESOURCE:
        yield getattr(message, "resource_name", "")


def _names_of(item: Any, name_of: Callable[[bytes], str | None]) -> Iterator[str]:
    for field in ("name", "topic", "topic_name"):
        name = getattr(item, field, None)
        if name:
            yield name
    topic_id = getattr(item, "topic_id", NO_TOPIC_ID)
    if topic_id != NO_TOPIC_ID:
        name = name_of(topic_id)
        if name is not None:
            yield name
