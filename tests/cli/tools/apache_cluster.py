"""What is tried on three brokers of Apache Kafka, too: where all is compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import pytest

from tests.support.cluster_fixture import PEER
from tests.support.slices import IS_WHOLE, sweep

F = TypeVar("F", bound=Callable[..., object])

BESIDE_APACHE = (
    sweep,
    pytest.mark.long_run(IS_WHOLE or PEER == "apache"),
)


def only_of_apache(test: F) -> F:
    """For a test of what Penstock's cluster has not."""
    for mark in BESIDE_APACHE:
        test = mark(test)
    return test
