"""All of these tests share one driver, and one broker."""

import pytest

from tests.support.spark import IGNORED_WARNINGS


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/tests/pipeline/spark/" in item.path.as_posix():
            for text in IGNORED_WARNINGS:
                item.add_marker(pytest.mark.filterwarnings(text))
