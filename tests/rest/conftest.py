from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy, running


@pytest.fixture(scope="package")
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as broker:
        yield broker


@pytest.fixture(scope="package")
def proxy(broker: InProcessBroker) -> Iterator[Proxy]:
    with running(broker.bootstrap_servers) as proxy:
        yield proxy
