from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.cluster_fixture import KafkaServer, running_kafka
from tests.support.registry import Registry, own_group, running_registry
from tools.suite.processes import starts_processes

QUICK_GROUPS = {"group.initial.rebalance.delay.ms": "0"}


@pytest.fixture(scope="session")
@starts_processes
def registry_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    """A broker whose groups do not wait for more members before they begin."""
    with running_kafka(tmp_path_factory.mktemp("kafka"), QUICK_GROUPS) as server:
        yield server


@pytest.fixture(scope="module")
@starts_processes
def registry(registry_kafka: KafkaServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """One for each module of tests, with a topic of its own."""
    directory: Path = tmp_path_factory.mktemp("registry")
    with running_registry(registry_kafka.bootstrap, directory, own_group()) as running:
        yield running
