from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest

from penstock.testing import Cluster, InProcessBroker
from tests.client.registry.confluent import TheirClient
from tests.rest.proxy import Proxy, running
from tests.support.cluster_fixture import BROKERS
from tests.support.registry import Registry, running_registry
from tools.suite.processes import starts_processes

_topics = count()


@pytest.fixture(scope="package")
@(starts_processes if BROKERS > 1 else lambda fixture: fixture)
def broker() -> Iterator[InProcessBroker | Cluster]:
    with InProcessBroker() if BROKERS == 1 else Cluster(BROKERS) as broker:
        yield broker


@pytest.fixture(scope="package")
def proxy(broker: InProcessBroker | Cluster) -> Iterator[Proxy]:
    with running(broker.bootstrap_servers) as proxy:
        yield proxy


@pytest.fixture(scope="package")
@starts_processes
def registry(
    broker: InProcessBroker | Cluster, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Registry]:
    with running_registry(broker.bootstrap_servers, tmp_path_factory.mktemp("registry")) as registry:
        yield registry


@pytest.fixture(scope="package")
def schema_proxy(broker: InProcessBroker | Cluster, registry: Registry) -> Iterator[Proxy]:
    """One that knows a Schema Registry."""
    with running(broker.bootstrap_servers, schema_registry_url=registry.url) as proxy:
        yield proxy


@pytest.fixture
def theirs(registry: Registry) -> Iterator[TheirClient]:
    with TheirClient({"url": registry.url}) as client:
        yield client


@pytest.fixture
def topic(broker: InProcessBroker | Cluster) -> str:
    name = f"some-{next(_topics)}"
    broker.create_topic(name, 1)
    return name
