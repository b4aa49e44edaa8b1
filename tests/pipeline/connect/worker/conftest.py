from collections.abc import Iterator
from itertools import count

import pytest

from tests.pipeline.connect.worker.in_thread import ThreadWorker, new_group, running_worker, worker_configs
from tests.support.cluster_fixture import KafkaServer

_numbers = count()


@pytest.fixture(scope="module")
def worker(kafka: KafkaServer) -> Iterator[ThreadWorker]:
    with running_worker(worker_configs(kafka.bootstrap, new_group())) as running:
        yield running


@pytest.fixture
def name() -> str:
    return f"some-{next(_numbers)}"
