"""How the subject is called that a record's schema is registered under."""

from collections.abc import Callable
from typing import TypeAlias

from penstock.client.serializers.base import Field
from penstock.errors import ConfigError

SubjectNameStrategy: TypeAlias = Callable[[str, Field, str | None], str]
SubjectNameStrategySpec: TypeAlias = SubjectNameStrategy | str


def topic_name_strategy(topic: str, field: Field, record_name: str | None) -> str:
    """One subject for the keys of a topic, one for its values.

    >>> from penstock.client.registry import topic_name_strategy
    >>> topic_name_strategy("orders", "value", "shop.Order")
    'orders-value'
    """
    return f"{topic}-{field}"


def record_name_strategy(topic: str, field: Field, record_name: str | None) -> str:
    """One subject for a kind of record, in whatever topic.

    >>> from penstock.client.registry import record_name_strategy
    >>> record_name_strategy("orders", "value", "shop.Order")
    'shop.Order'
    """
    return _required(record_name, "RecordNameStrategy")


def topic_record_name_strategy(topic: str, field: Field, record_name: str | None) -> str:
    """One subject for a kind of record in a topic.

    >>> from penstock.client.registry import topic_record_name_strategy
    >>> topic_record_name_strategy("orders", "value", "shop.Order")
    'orders-shop.Order'
    """
    return f"{topic}-{_required(record_name, 'TopicRecordNameStrategy')}"


def _required(record_name: str | None, strategy: str) -> str:
    if not record_name:
        raise ValueError(
            f"{strategy} needs a schema with a name: a record, a JSON Schema with a title, a message"
        )
    return record_name


_STRATEGIES: dict[str, SubjectNameStrategy] = {
    "TopicNameStrategy": topic_name_strategy,
    "RecordNameStrategy": record_name_strategy,
    "TopicRecordNameStrategy": topic_record_name_strategy,
    "TOPIC": topic_name_strategy,
    "RECORD": record_name_strategy,
    "TOPIC_RECORD": topic_record_name_strategy,
}


def resolve_strategy(given: object, setting: str) -> SubjectNameStrategy:
    """Of a function, a name, or the name of Confluent's class."""
    if isinstance(given, str) and (found := _STRATEGIES.get(given.rpartition(".")[2])):
        return found
    if callable(given):
        return given
    names = ", ".join(list(_STRATEGIES)[:3])
    raise ConfigError(
        f"{setting}: got {given!r}; takes {names}, or a function of topic, field and record name"
    )
