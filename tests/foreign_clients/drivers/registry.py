"""The clients of the suite, by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from tests.foreign_clients.drivers.aiokafka_driver import AiokafkaClient
from tests.foreign_clients.drivers.confluent import ConfluentClient
from tests.foreign_clients.drivers.foreign import FranzGoClient, JavaClient, KafkajsClient
from tests.foreign_clients.drivers.kafka_python import KafkaPythonClient
from tests.foreign_clients.drivers.model import OPERATIONS, Client

CLIENTS: dict[str, type[Client]] = {
    kind.name: kind
    for kind in (ConfluentClient, KafkaPythonClient, AiokafkaClient, FranzGoClient, KafkajsClient, JavaClient)
}


def clients_with(*operations: str) -> list[str]:
    assert set(operations) <= set(OPERATIONS)
    return [name for name, kind in CLIENTS.items() if kind.operations() >= set(operations)]


def every_client(
    *operations: str, where: Callable[[type[Client]], bool] = lambda kind: True
) -> pytest.MarkDecorator:
    """Parametrizes `client` with those that have all the operations."""
    names = [name for name in clients_with(*operations) if where(CLIENTS[name])]
    return pytest.mark.parametrize("client", names, indirect=True)


def every_client_and_protocol(
    *operations: str,
    protocols: Sequence[str] = ("classic", "cooperative", "consumer"),
    where: Callable[[type[Client], str], bool] = lambda kind, protocol: True,
) -> pytest.MarkDecorator:
    """Parametrizes `client` and `protocol` with each way in which a client can be in a group."""
    pairs = [
        (name, protocol)
        for name in clients_with(*operations)
        for protocol in CLIENTS[name].group_protocols
        if protocol in protocols and where(CLIENTS[name], protocol)
    ]
    return pytest.mark.parametrize(("client", "protocol"), pairs, indirect=["client"])


def every_client_and_codec(*operations: str) -> pytest.MarkDecorator:
    pairs = [(name, codec) for name in clients_with(*operations) for codec in CLIENTS[name].codecs]
    return pytest.mark.parametrize(("client", "codec"), pairs, indirect=["client"])
