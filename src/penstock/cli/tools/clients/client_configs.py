"""Kafka's client settings, from a file or from `--command-property`, as librdkafka's.

What the client has no setting for is left out with a warning, as Kafka's clients do; so is what the tools decide
themselves, without one.
"""

from __future__ import annotations

from collections.abc import Mapping

from penstock.cli.tools.clients.log_lines import log_warning
from penstock.client.config.configs import ClientConfig, ConsumerConfig, ProducerConfig
from penstock.client.config.setting import ClientTable
from penstock.errors import ConfigError

DECIDED_BY_THE_TOOLS = frozenset(
    {
        *("key.serializer", "value.serializer", "key.deserializer", "value.deserializer"),
    }
)
FAST_FETCHING = {
    "queued.min.messages": "100000",
    "queued.max.messages.kbytes": str(64 * 1024),
    "fetch.queue.backoff.ms": "5",  # else a full queue stops fetching for a second
    "max.partition.fetch.bytes": str(8 * 1024 * 1024),
}
JAVA_CLASSES = {
    ConsumerConfig: "org.apache.kafka.clients.consumer.ConsumerConfig",
    ProducerConfig: "org.apache.kafka.clients.producer.ProducerConfig",
}


def consumer_settings(configs: Mapping[str, str]) -> dict[str, object]:
    """Patterns of topics are matched by the tools, so that no topic needs to be kept from librdkafka."""
    return _settings(ConsumerConfig, {**FAST_FETCHING, **configs, "exclude.internal.topics": "false"})


def producer_settings(configs: Mapping[str, str]) -> dict[str, object]:
    """Keys go where Java's producer puts them."""
    return {"partitioner": "murmur2_random", **_settings(ProducerConfig, configs)}


def _settings(kind: type[ClientConfig], configs: Mapping[str, str]) -> dict[str, object]:
    used = {name: text for name, text in configs.items() if name not in DECIDED_BY_THE_TOOLS}
    unknown = [name for name in used if not _is_known(kind.TABLE, name)]
    if unknown:
        names = ", ".join(sorted(unknown))
        log_warning(
            f"These configurations '[{names}]' were supplied but are not used yet.", JAVA_CLASSES[kind]
        )
    return kind({name: text for name, text in used.items() if name not in unknown}).for_librdkafka()


def _is_known(table: ClientTable, name: str) -> bool:
    try:
        table.find(name)
    except ConfigError:
        return False
    return True
