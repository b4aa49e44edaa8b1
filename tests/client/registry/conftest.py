"""A Schema Registry for these tests, our client of it, and Confluent's."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.client.registry import SchemaRegistryClient
from tests.client.registry.confluent import TheirClient
from tests.support.certificates import self_signed
from tests.support.registry import Registry, own_group, running_registry
from tools.suite.processes import starts_processes


@pytest.fixture(scope="session")
@starts_processes
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


@pytest.fixture(scope="session")
@starts_processes
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Of an authority, and of a server called localhost, with its key."""
    made = self_signed(tmp_path_factory.mktemp("certificates"), hosts="DNS:localhost")
    return {"authority": made.authority, "server": made.server}
