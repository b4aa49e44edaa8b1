"""Sweeps beside the Java tools: `make test` runs a slice of each, `make compare` all of them.

A test that takes its number of cases from here is marked `sweep`.
"""

from __future__ import annotations

import os

import pytest

IS_WHOLE = bool(os.environ.get("PENSTOCK_COMPARE"))
SLICES = 20

sweep = pytest.mark.compare


def cases(in_a_slice: int) -> int:
    return in_a_slice * (SLICES if IS_WHOLE else 1)
