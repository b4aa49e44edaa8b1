from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.pipeline.connect.connectors.http.server import Server, running_server


@pytest.fixture
def server() -> Iterator[Server]:
    with running_server() as running:
        yield running
