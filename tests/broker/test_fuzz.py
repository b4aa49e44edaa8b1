"""Every API that is served, in every version, with bytes of the request changed at random.

Whatever comes is answered or ends the connection; no request fails inside the broker.
"""

import logging
import random
from collections.abc import Iterator

import pytest

from penstock.broker.router import APIS, load_handlers
from penstock.testing import InProcessBroker
from penstock.wire.schema import ApiMessage, Message
from tests.broker.asking import batch_of, metadata, new_topic, produced, values_in
from tests.broker.conftest import only_penstock
from tests.support.wire_client import WireClient, frame, request_bytes

pytestmark = only_penstock

MUTANTS_PER_VERSION = 30
SAMPLES: dict[str, object] = {
    "string": "foods",
    "bytes": b"bread",
    "records": batch_of(b"bread"),
    "uuid": bytes(range(16)),
    "bool": True,
    "float64": 1.0,
}

load_handlers()
REQUESTS = {api.request.__name__: (api.request, api.versions) for _, api in sorted(APIS.items())}


def sample(cls: type[Message]) -> Message:
    """A message with one element in every array."""
    message = cls()
    for field in cls.SCHEMA:
        if field.struct is not None:
            value: object = sample(field.struct)
        else:
            value = SAMPLES.get(field.element_kind, 0)
        setattr(message, field.name, [value] if field.is_array else value)
    return message


def mutated(body: bytes, chance: random.Random) -> bytes:
    changed = bytearray(body)
    for _ in range(chance.randint(1, 4)):
        at = chance.randrange(8, len(changed))  # the API, version and correlation id stay
        match chance.randrange(4):
            case 0:
                changed[at] = chance.randrange(256)
            case 1:
                changed[at] = chance.choice([0, 1, 0x7F, 0x80, 0xFF])
            case 2:
                del changed[at:]
                changed += bytes(4)
            case _:
                changed[at:at] = chance.randbytes(chance.randint(1, 8))
    return bytes(changed)


@pytest.fixture(scope="module")
def fuzzed() -> Iterator[InProcessBroker]:
    with InProcessBroker({"auto.create.topics.enable": "false"}) as broker:
        with WireClient(broker.bootstrap_servers) as client:
            new_topic(client, "kept")
            produced(client, "kept", batch_of(b"bread"))
        yield broker


def converse(bootstrap: str, data: bytes) -> bytes:
    """Sends and hears the server out, until it closes."""
    heard = bytearray()
    with WireClient(bootstrap) as client:
        try:
            client.send_bytes(data)
            client.end_sending()
            while chunk := client.socket.recv(65_536):
                heard += chunk
        except ConnectionError:
            pass
    return bytes(heard)


@pytest.mark.parametrize("name", REQUESTS)
def test_no_request_fails_inside_the_broker(
    fuzzed: InProcessBroker, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    request, (first, last) = REQUESTS[name]
    chance = random.Random(name)
    message = sample(request)
    assert isinstance(message, ApiMessage)
    with caplog.at_level(logging.ERROR, "penstock"):
        for version in range(first, last + 1):
            body = request_bytes(message, version)[4:]
            for _ in range(MUTANTS_PER_VERSION):
                converse(fuzzed.bootstrap_servers, frame(mutated(body, chance)))
    assert [record.getMessage() for record in caplog.records] == []
    with WireClient(fuzzed.bootstrap_servers) as client:
        assert metadata(client).brokers
        assert values_in(client, "kept") == [b"bread"]


@pytest.mark.parametrize("name", REQUESTS)
def test_every_version_is_answered(fuzzed: InProcessBroker, name: str) -> None:
    request, (first, last) = REQUESTS[name]
    for version in range(first, last + 1):
        with WireClient(fuzzed.bootstrap_servers) as client:
            message = sample(request)
            assert isinstance(message, ApiMessage)
            if hasattr(message, "acks"):
                message.acks = 1
            assert client.send(message, version) is not None
