"""What the tests of the Python client share: one server, and a topic's name for each test.

The server is a Penstock broker in this process, or with `PENSTOCK_TEST_PEER=apache` Apache Kafka.
"""

import uuid
from collections.abc import Iterator

import pytest

from penstock.testing import InProcessBroker
from tests.support.cluster_fixture import PEER, running_apache

PARTITIONS = 3
SETTINGS = {"num.partitions": str(PARTITIONS)}


@pytest.fixture(scope="session")
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker(SETTINGS) as running:
        yield running


@pytest.fixture(scope="session")
def servers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`bootstrap.servers`, of a server whose topics have `PARTITIONS` partitions."""
    if PEER == "apache":
        with running_apache(tmp_path_factory.mktemp("apache"), SETTINGS) as server:
            yield server.bootstrap
    else:
        yield request.getfixturevalue("broker").bootstrap_servers


@pytest.fixture
def topic() -> str:
    """The name of a topic that nobody else has; the server creates it when it is used."""
    return f"topic-{uuid.uuid4().hex[:12]}"
