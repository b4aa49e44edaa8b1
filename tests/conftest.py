"""What all tests share."""

import os
import signal
from collections import deque
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# The machines are shared and noisy: how long an example takes says nothing.
settings.register_profile("penstock", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("penstock")

# A shell has its background jobs ignore Ctrl-C, and so would all that is started here.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files with many tests and files with few take turns: those with few start clusters and Spark, which is more than
    the machine can take if all are left for the end."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        return
    files: dict[Path, list[pytest.Item]] = {}
    for item in items:
        files.setdefault(item.path, []).append(item)
    queue = deque(sorted(files.values(), key=len))
    items.clear()
    while queue:
        items += queue.popleft()
        if queue:
            items += queue.pop()
