import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.broker.platform import Platform
from tests.support.cluster_fixture import PEER
from tools.suite.processes import starts_processes

DEFAULT_ROUNDS = 3


@pytest.fixture
def rounds() -> int:
    return int(os.environ.get("PENSTOCK_FAULT_ROUNDS", DEFAULT_ROUNDS))


@pytest.fixture
def chance() -> random.Random:
    """Randomness whose seed is printed; PENSTOCK_FAULT_SEED repeats it."""
    seed = int(os.environ.get("PENSTOCK_FAULT_SEED", random.SystemRandom().randrange(2**32)))
    print(f"PENSTOCK_FAULT_SEED={seed}")
    return random.Random(seed)


@pytest.fixture
@starts_processes
def platform(tmp_path: Path) -> Iterator[Platform]:
    """ZooKeeper and the broker, each to be killed by itself."""
    if PEER == "apache":
        pytest.skip("Apache Kafka runs without ZooKeeper")
    with Platform(tmp_path / "platform") as running:
        yield running
