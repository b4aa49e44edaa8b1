from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.pipeline.mirror.flows import Flow
from tests.support.cluster_fixture import KafkaServer, running_penstock
from tools.suite.processes import starts_processes


@pytest.fixture(scope="session")
@starts_processes
def other_kafka(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    settings = {"group.initial.rebalance.delay.ms": "0"}
    with running_penstock(tmp_path_factory.mktemp("other-kafka"), settings) as server:
        yield server


@pytest.fixture
def flow(kafka: KafkaServer, other_kafka: KafkaServer) -> Iterator[Flow]:
    with Flow(kafka, other_kafka) as started:
        yield started
