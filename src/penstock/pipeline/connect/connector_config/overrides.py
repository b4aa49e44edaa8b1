"""Which settings of its Kafka clients a connector may have: `producer.override.`, `consumer.override.` and so on.

The worker's policy says: All, None, Principal, or those of connector.client.config.override.allowlist."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from penstock.errors import ConfigError
from penstock.pipeline.connect.api.config_def import ConfigValue
from penstock.pipeline.connect.connector_config.common import DLQ_TOPIC, OFFSETS_TOPIC, TOPIC_CREATION
from penstock.pipeline.connect.plugins import PluginKind

POLICY = "connector.client.config.override.policy"
ALLOWLIST = "connector.client.config.override.allowlist"
PRINCIPAL: Final = frozenset({"sasl.jaas.config", "sasl.mechanism", "security.protocol"})
SUFFIX = "ConnectorClientConfigOverridePolicy"
Allows = Callable[[str], bool]
Configs = Mapping[str, str | None]


def policy_of(name: str, worker_configs: Mapping[str, str]) -> tuple[str, Allows]:
    """Its short name and what it allows; the name may be the Java class's."""
    short = name.rpartition(".")[2].removesuffix(SUFFIX)
    listed = {word.strip() for word in worker_configs.get(ALLOWLIST, "").split(",")}
    policies: dict[str, Allows] = {
        "All": lambda key: True,
        "None": lambda key: False,
        "Principal": lambda key: key in PRINCIPAL,
        "Allowlist": lambda key: key in listed,
    }
    if short not in policies:
        raise ConfigError(f"{POLICY}: got {name!r}, takes {', '.join(policies)}")
    return short, policies[short]


def check_overrides(kind: PluginKind, configs: Configs, policy: tuple[str, Allows]) -> Iterator[ConfigValue]:
    name, allows = policy
    for prefix in _used_clients(kind, configs):
        for key, value in configs.items():
            if key.startswith(prefix):
                setting = key.removeprefix(prefix)
                answer = ConfigValue(key, value)
                if not allows(setting):
                    answer.errors.append(
                        f"The '{name}' policy does not allow '{setting}' to be overridden "
                        "in the connector configuration."
                    )
                yield answer


def _used_clients(kind: PluginKind, configs: Configs) -> Iterator[str]:
    is_source = kind is PluginKind.SOURCE
    has_dlq = not is_source and bool((configs.get(DLQ_TOPIC) or "").strip())
    has_own_offsets = is_source and bool((configs.get(OFFSETS_TOPIC) or "").strip())
    makes_topics = is_source and any(key.startswith(TOPIC_CREATION) for key in configs)
    if is_source or has_dlq:
        yield "producer.override."
    if not is_source or has_own_offsets:
        yield "consumer.override."
    if has_dlq or makes_topics or has_own_offsets:
        yield "admin.override."
