"""Programs share the worker's Spark, and a broker."""

from collections.abc import Iterator

import pytest

from penstock.testing import InProcessBroker
from tests.support.spark import IGNORED_WARNINGS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/tests/pipeline/tasks/" in item.path.as_posix():
            for text in IGNORED_WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(text))


@pytest.fixture(scope="module")
def streams_broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as broker:
        yield broker
