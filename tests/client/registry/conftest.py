"""A Schema Registry for these tests, our client of it, and Confluent's."""

from collections.abc import Iterator

import pytest

from penstock.client.registry import SchemaRegistryClient
from tests.client.registry.confluent import TheirClient
from tests.support.registry import Registry, own_group, running_registry


@pytest.fixture(scope="session")
def registry_process(servers: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    with running_registry(servers, tmp_path_factory.mktemp("registry"), own_group()) as running:
        yield running


@pytest.fixture
def registry(registry_process: Registry) -> Iterator[SchemaRegistryClient]:
    """Each test has one that remembers nothing."""
    with SchemaRegistryClient(registry_process.url) as client:
        yield client


@pytest.fixture
def theirs(registry_process: Registry) -> Iterator[TheirClient]:
    with TheirClient({"url": registry_process.url}) as client:
        yield client
