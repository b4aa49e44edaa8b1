"""What a consumer is made with: topics and a config in any order that makes sense, and times in two units."""

import re
from collections.abc import Iterable, Mapping
from typing import TypeAlias

from penstock.client.consumer.partitions import Topics
from penstock.errors import ConfigError

ConsumerArgument: TypeAlias = str | re.Pattern[str] | Iterable[str] | Mapping[str, object]


def read_arguments(given: Iterable[ConsumerArgument]) -> tuple[Topics | None, Mapping[str, object] | None]:
    """Topics to subscribe, if any, and a config, if any."""
    config: Mapping[str, object] | None = None
    topics: list[str] = []
    pattern: re.Pattern[str] | str | None = None
    for argument in given:
        if isinstance(argument, Mapping):
            config = argument
        elif isinstance(argument, re.Pattern) or (isinstance(argument, str) and argument.startswith("^")):
            pattern = argument
        else:
            topics += [argument] if isinstance(argument, str) else list(argument)
    if pattern is not None and topics:
        raise ConfigError(f"got the pattern {pattern!r} beside {topics}; takes one of the two")
    return pattern if pattern is not None else topics or None, config


def seconds_of(seconds: float | None, milliseconds: float | None) -> float | None:
    if seconds is not None and milliseconds is not None:
        raise ValueError("got both timeout and timeout_ms; takes one of them")
    chosen = seconds if milliseconds is None else milliseconds / 1000
    if chosen is not None and chosen < 0:
        raise ValueError(
            f"timeout: got {chosen:g} s; takes 0 or more, or None to wait for as long as it takes"
        )
    return chosen
