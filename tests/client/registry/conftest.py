"""A Schema Registry for these tests, our client of it, and Confluent's."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

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


@pytest.fixture(scope="session")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Of an authority, and of a server called localhost, with its key."""
    directory = tmp_path_factory.mktemp("certificates")
    files = {name: directory / f"{name}.pem" for name in ("authority", "server")}
    key = directory / "server.key"
    subprocess.run(
        [
            *("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"),
            *("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"),
            *("-keyout", key, "-out", files["authority"]),
        ],
        check=True,
        capture_output=True,
    )
    files["server"].write_text(key.read_text() + files["authority"].read_text())
    return files
