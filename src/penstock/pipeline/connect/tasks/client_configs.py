"""The settings of a task's clients: Connect's own, then the worker's `producer.` (`consumer.`, `admin.`), then the
connector's `producer.override.`, each over the ones before.

`security.protocol`, `sasl.` and `ssl.` of the worker count where the prefixed ones say nothing. What no client knows is
left out with a warning, as in Kafka: files of Kafka Connect name Java's interceptors and reporters.

Unlike Kafka's, our sinks read committed records unless told otherwise: all our sources write in transactions, and one
that was killed leaves records behind that it writes again.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Final, Literal

from penstock.client.config import AdminConfig, ConsumerConfig, ProducerConfig
from penstock.pipeline.connect.tasks.work import TaskWork

log = logging.getLogger("penstock.connect.tasks")

Client = Literal["producer", "consumer", "admin"]

MAX_BLOCK_MS: Final = 20_000
"""How long a task waits for Kafka before it fails and is planned anew: Connect waits for ever, a tick may not."""
MAX_POLL_RECORDS: Final = 2_000

_TABLES: Final = {
    "producer": ProducerConfig.TABLE,
    "consumer": ConsumerConfig.TABLE,
    "admin": AdminConfig.TABLE,
}
_SHARED: Final = ("security.", "sasl.", "ssl.")
_OURS: Final = frozenset(
    {"key.serializer", "value.serializer", "key.deserializer", "value.deserializer", "enable.auto.commit"}
)
"""Records of Connect are bytes to the clients, and commits are the worker's."""

_DEFAULTS: Final[dict[Client, dict[str, str]]] = {
    "producer": {
        "acks": "all",
        "enable.idempotence": "true",
        "max.block.ms": str(MAX_BLOCK_MS),
    },
    "consumer": {
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
        "max.poll.records": str(MAX_POLL_RECORDS),
        "default.api.timeout.ms": str(MAX_BLOCK_MS),
    },
    "admin": {"default.api.timeout.ms": str(MAX_BLOCK_MS)},
}


def client_configs(work: TaskWork, client: Client) -> dict[str, str]:
    worker = work.worker_configs
    given = {
        **{name: value for name, value in worker.items() if name.startswith(_SHARED)},
        **_with_prefix(worker, f"{client}."),
        **_with_prefix(work.connector_configs, f"{client}.override."),
    }
    known = {name: value for name, value in given.items() if name not in _OURS and _is_known(client, name)}
    client_id = f"connector-{client}-{work.name}"
    bootstrap = {"bootstrap.servers": worker["bootstrap.servers"], "client.id": client_id}
    return {**_DEFAULTS[client], **bootstrap, **known}


def transactional_id(work: TaskWork) -> str:
    return f"{work.worker_configs.get('group.id', '')}-{work.connector}-{work.task}"


def _with_prefix(configs: Mapping[str, str], prefix: str) -> dict[str, str]:
    return {name.removeprefix(prefix): value for name, value in configs.items() if name.startswith(prefix)}


def _is_known(client: Client, name: str) -> bool:
    if _TABLES[client].of_attribute(name.replace(".", "_")) is not None:
        return True
    log.warning("%s: no setting of a %s is called that; it is left out", name, client)
    return False
