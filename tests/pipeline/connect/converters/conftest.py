"""A registry, and topics that nobody has written to."""

from __future__ import annotations

from itertools import count

import pytest

from penstock.testing import InProcessRegistry

_numbers = count()


@pytest.fixture
def registry_url(penstock_registry: InProcessRegistry) -> str:
    return penstock_registry.url


@pytest.fixture
def topic() -> str:
    return f"topic-{next(_numbers)}"
