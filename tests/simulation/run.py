"""Runs many seeds, or tells the story of one: `make sim SEEDS=10000`, `make sim SEED=1234`."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from tests.simulation.simulation import Report, Simulation, nobody_tidies_up, simulate
from tests.simulation.virtual_loop import PROCESS, VirtualLoop

SEEDS_AT_ONCE = 20
"""That a worker takes."""
KEPT = 10
"""Seeds of which all that is left is thrown away together."""
MOST_FAILURES = 10
"""After which it is clear enough that something is wrong."""


def replay_command(seed: int) -> str:
    return f"make sim SEED={seed}"


class Story(logging.Handler):
    """The brokers' logs, with who says it, and when."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__(logging.INFO)
        self._loop = loop

    def emit(self, record: logging.LogRecord) -> None:
        process = PROCESS.get()
        who = "" if process is None else process.name
        name = record.name.removeprefix("penstock.broker.")
        print(f"{self._loop.time():9.3f} {who:7} {record.levelname:7} {name}: {record.getMessage()}")


def tell(seed: int) -> int:
    with nobody_tidies_up():
        report = _tell(Simulation(seed))
    print(f"seed {seed}: {summary(report)}, digest {report.digest}")
    if report.failure is not None:
        print(f"\n{report.traceback}")
    return report.failure is not None


def _tell(simulation: Simulation) -> Report:
    logger, story = logging.getLogger("penstock"), Story(simulation.loop)
    level = logger.level
    logger.setLevel(logging.INFO)
    logger.addHandler(story)
    simulation.on_fault = lambda what: print(f"{simulation.loop.time():9.3f} ------- {what}")
    try:
        return simulation.run()
    finally:
        logger.removeHandler(story)
        logger.setLevel(level)


def summary(report: Report) -> str:
    return (
        f"{len(report.faults)} faults, {report.elections} leaders, {report.acknowledged} batches acknowledged "
        f"in {report.seconds:.0f} seconds"
    )


def run_some(seeds: Sequence[int]) -> list[Report]:
    logger = logging.getLogger("penstock")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        return [
            report
            for start in range(0, len(seeds), KEPT)
            for report in simulate(*seeds[start : start + KEPT])
        ]
    finally:
        logger.setLevel(level)


def reports(seeds: range, workers: int) -> Iterator[Report]:
    parts = [seeds[start : start + SEEDS_AT_ONCE] for start in range(0, len(seeds), SEEDS_AT_ONCE)]
    if workers == 1:
        for part in parts:
            yield from run_some(part)
        return
    with ProcessPoolExecutor(workers) as pool:
        try:
            for done in pool.map(run_some, parts):
                yield from done
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def run_many(seeds: range, workers: int) -> int:
    began, failed, faults, leaders, acknowledged = time.monotonic(), 0, 0, 0, 0
    for number, report in enumerate(reports(seeds, workers), 1):
        faults, leaders = faults + len(report.faults), leaders + report.elections
        acknowledged += report.acknowledged
        if report.failure is not None:
            failed += 1
            print(f"seed {report.seed}: {report.failure}\n    {replay_command(report.seed)}", flush=True)
            if failed == MOST_FAILURES:
                break
        if number % 100 == 0 or number == len(seeds):
            seconds = time.monotonic() - began
            print(
                f"{number} of {len(seeds)} seeds in {seconds:.0f} s: {faults} faults, {leaders} leaders, "
                f"{acknowledged} batches acknowledged, {failed} failures",
                flush=True,
            )
    return failed > 0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="make sim", description=__doc__)
    parser.add_argument("--seeds", type=int, default=1000, help="how many")
    parser.add_argument("--first", type=int, default=0, help="of them")
    parser.add_argument("--seed", type=int, help="only this one, with the logs of its brokers")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes")
    given = parser.parse_args(arguments)
    if given.seed is not None:
        return tell(given.seed)
    return run_many(range(given.first, given.first + given.seeds), given.workers)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
