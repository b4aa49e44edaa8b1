"""How many examples a property is tried on: as many as the test says, and a quarter of them in `make quick`.

An experiment that is made at each step of some work is made at each `SHARE`th.
"""

from __future__ import annotations

import os

SHARE = 4 if os.environ.get("PENSTOCK_QUICK") else 1


def examples(count: int) -> int:
    return max(1, count // SHARE)
