from __future__ import annotations

from collections.abc import Iterator

import pytest

from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy, running
from tests.rest.v2.consumers.instance import unique

QUICK = {
    "consumer_session_timeout_ms": "6000",
    "consumer_heartbeat_interval_ms": "100",
    "consumer_metadata_max_age_ms": "300",
    "consumer_auto_commit_interval_ms": "0",
}


@pytest.fixture(scope="package")
def proxy(broker: InProcessBroker) -> Iterator[Proxy]:
    """One whose consumers find out about changes sooner than they usually would."""
    with running(broker.bootstrap_servers, **QUICK) as proxy:
        yield proxy


@pytest.fixture
def group() -> str:
    return unique("group")


@pytest.fixture
def topic(broker: InProcessBroker) -> str:
    """With two partitions."""
    name = unique("topic")
    broker.create_topic(name, 2)
    return name
