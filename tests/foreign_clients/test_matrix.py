"""Written by one client, with each codec it has, and read by every other: byte for byte the same."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.foreign_clients.drivers.model import Client, Record
from tests.foreign_clients.drivers.registry import CLIENTS, clients_with
from tests.foreign_clients.samples import KEEP_FOR_EVER, varied_records

Written = Callable[[str, tuple[str, ...]], tuple[str, list[Record]]]

pytestmark = pytest.mark.xdist_group("matrix")


@pytest.fixture(scope="module")
def written(clients: Callable[[str], Client]) -> Written:
    """By the writer's name and the codecs: the topic that it filled, and with what."""
    filled: dict[tuple[str, tuple[str, ...]], tuple[str, list[Record]]] = {}

    def fill(name: str, codecs: tuple[str, ...]) -> tuple[str, list[Record]]:
        topic = f"matrix-{name}-{'-'.join(codecs)}"
        clients("confluent-kafka").create_topic(topic, configs=KEEP_FOR_EVER)
        records: list[Record] = []
        for codec in codecs:
            records += (batch := varied_records(CLIENTS[name].null_headers, codec))
            clients(name).produce(topic, batch, codec=codec)
        return topic, records

    def written_by(name: str, codecs: tuple[str, ...]) -> tuple[str, list[Record]]:
        if (name, codecs) not in filled:
            filled[name, codecs] = fill(name, codecs)
        return filled[name, codecs]

    return written_by


@pytest.mark.parametrize("consumer", clients_with("consume"))
@pytest.mark.parametrize("producer", clients_with("produce"))
def test_written_by_one_read_by_another(
    producer: str, consumer: str, clients: Callable[[str], Client], written: Written
) -> None:
    both_know = tuple(codec for codec in CLIENTS[producer].codecs if codec in CLIENTS[consumer].codecs)
    topic, records = written(producer, both_know)
    consumed = clients(consumer).consume(topic, len(records))
    assert [each.offset for each in consumed] == list(range(len(records)))
    assert [each.record for each in consumed] == records
