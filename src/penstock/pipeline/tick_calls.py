"""What a query of ticks calls: between those who plan work and the engine that has it done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class TickCalls:
    """Again and again `plan(tick)` says what is to be done, `run(work)` does each part of it on an executor (pickled by
    its importable name), and `on_reports(tick, reports)` gets what came back, in the order of the plan. These are
    called by one thread at a time, and `on_failure(reason)` too."""

    plan: Callable[[int], list[Any]]
    run: Callable[[Any], Any]
    on_reports: Callable[[int, list[Any]], None]
    on_failure: Callable[[str], None]
