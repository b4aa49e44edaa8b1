"""What must hold between several keys, or between a connector and its worker."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from penstock.pipeline.connect.api.config_def import ConfigValue
from penstock.pipeline.connect.api.connector import SourceConnector
from penstock.pipeline.connect.connector_config.common import (
    DLQ_TOPIC,
    EXACTLY_ONCE_SUPPORT,
    NAME,
    TOPICS,
    TOPICS_REGEX,
    TRANSACTION_BOUNDARY,
)

GROUP_OVERRIDE = "consumer.override.group.id"
Configs = Mapping[str, str | None]
Values = dict[str, ConfigValue]


def check_sink(configs: Configs, values: Values, worker_group: str) -> None:
    _check_topics(configs, values)
    _check_dead_letters(configs, values)
    _check_group(configs, values, worker_group)


def _add(values: Values, configs: Configs, name: str, message: str) -> None:
    values.setdefault(name, ConfigValue(name, configs.get(name))).errors.append(message)


def _given(configs: Configs, name: str) -> str:
    return (configs.get(name) or "").strip()


def _check_topics(configs: Configs, values: Values) -> None:
    has_topics, has_regex = bool(_given(configs, TOPICS)), bool(_given(configs, TOPICS_REGEX))
    if has_topics == has_regex:
        message = (
            f"{TOPICS} and {TOPICS_REGEX} are mutually exclusive options, but both are set."
            if has_topics
            else f"Must configure one of {TOPICS} or {TOPICS_REGEX}"
        )
        for name in (TOPICS, TOPICS_REGEX):
            _add(values, configs, name, message)


def _check_dead_letters(configs: Configs, values: Values) -> None:
    dead_letters = _given(configs, DLQ_TOPIC)
    if not dead_letters:
        return
    topics = list(dict.fromkeys(each.strip() for each in _given(configs, TOPICS).split(",") if each.strip()))
    if dead_letters in topics:
        _add(
            values,
            configs,
            TOPICS,
            f"The DLQ topic '{dead_letters}' may not be included in the list of topics "
            f"('{TOPICS}=[{', '.join(topics)}]') consumed by the connector",
        )
    regex = _given(configs, TOPICS_REGEX)
    if regex and _matches(regex, dead_letters):
        _add(
            values,
            configs,
            TOPICS_REGEX,
            f"The DLQ topic '{dead_letters}' may not be matched by the regex for the topics "
            f"('{TOPICS_REGEX}={regex}') consumed by the connector",
        )


def _matches(regex: str, topic: str) -> bool:
    try:
        return re.fullmatch(regex, topic) is not None
    except re.error:  # told of where the key is checked
        return False


def _check_group(configs: Configs, values: Values, worker_group: str) -> None:
    group = configs.get(GROUP_OVERRIDE)
    if group is not None:
        if group == worker_group:
            _add(
                values,
                configs,
                GROUP_OVERRIDE,
                f"Consumer group {group} conflicts with Connect worker group {worker_group}",
            )
    elif f"connect-{values[NAME].value}" == worker_group:
        values[NAME].errors.append(
            f"Consumer group for sink connector named {values[NAME].value} "
            f"conflicts with Connect worker group {worker_group}"
        )


def check_source(configs: Configs, values: Values, connector: SourceConnector, is_exactly_once: bool) -> None:
    support, boundary = values[EXACTLY_ONCE_SUPPORT], values[TRANSACTION_BOUNDARY]
    plain = {name: value for name, value in configs.items() if value is not None}
    if _says(support, "required"):
        if not is_exactly_once:
            support.errors.append("This worker does not have exactly-once source support enabled.")
        _ask(
            support,
            lambda: connector.supports_exactly_once(plain),
            "The connector does not support exactly-once semantics with the provided configuration.",
        )
    if _says(boundary, "connector"):
        _ask(
            boundary,
            lambda: connector.can_define_transaction_boundaries(plain),
            "The connector does not support connector-defined transaction boundaries with the given configuration. "
            "Please reconfigure it to use a different transaction boundary definition.",
        )


def _says(value: ConfigValue, word: str) -> bool:
    return not value.errors and str(value.value).strip().lower() == word


def _ask(value: ConfigValue, question: Any, refusal: str) -> None:
    """The connector's own answer, whatever becomes of it."""
    try:
        if not question():
            value.errors.append(refusal)
    except Exception as error:
        value.errors.append(f"An unexpected error occurred during validation: {error}")
