"""The names of configs that each type of entity takes."""

from __future__ import annotations

from penstock.cli.tools.configs.entities import BROKERS, CLIENT_METRICS, CLIENTS, GROUPS, IPS, TOPICS, USERS

SCRAM_MECHANISMS = ("SCRAM-SHA-256", "SCRAM-SHA-512")
CLIENT_QUOTAS = (
    "consumer_byte_rate",
    "controller_mutation_rate",
    "producer_byte_rate",
    "request_percentage",
)
IP_QUOTAS = ("connection_creation_rate",)
CLIENT_METRICS_CONFIGS = ("interval.ms", "match", "metrics")


def config_names() -> dict[str, list[str]]:
    """All of them, for the help."""
    from penstock.settings.broker import ALL_BROKER_SETTINGS
    from penstock.settings.dynamic import is_dynamic
    from penstock.settings.group_config import GROUP_TABLE
    from penstock.settings.topic import TOPIC_TABLE

    return {
        TOPICS: sorted(name for name, setting in TOPIC_TABLE.items() if not setting.internal),
        BROKERS: sorted(name for name in ALL_BROKER_SETTINGS if is_dynamic(name)),
        USERS: [*SCRAM_MECHANISMS, *CLIENT_QUOTAS],
        CLIENTS: [*CLIENT_QUOTAS],
        IPS: [*IP_QUOTAS],
        CLIENT_METRICS: [*CLIENT_METRICS_CONFIGS],
        GROUPS: sorted(GROUP_TABLE),
    }
