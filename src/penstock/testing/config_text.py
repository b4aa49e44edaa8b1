"""Configurations as Kafka has them, which are text."""

from collections.abc import Mapping


def as_text(configs: Mapping[str, object]) -> dict[str, str]:
    return {name: config_text(value) for name, value in configs.items()}


def config_text(value: object) -> str:
    """As Java writes it: true, not True."""
    return str(value).lower() if isinstance(value, bool) else str(value)
