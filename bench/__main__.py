"""`python -m bench`: Apache Kafka and Penstock side by side, on this machine, with the same client."""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
from dataclasses import replace
from pathlib import Path

from bench import report
from bench.scenarios import SCENARIOS
from bench.servers import SERVERS
from bench.session import FULL, QUICK, Session, Sizes
from tests.support.apache_kafka import java_available


def scenario_names(text: str) -> list[str]:
    names = text.split(",")
    if unknown := sorted(set(names) - set(SCENARIOS)):
        raise argparse.ArgumentTypeError(
            f"no scenario {', '.join(unknown)}; there are {', '.join(SCENARIOS)}"
        )
    return [name for name in SCENARIOS if name in names]


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="less data and fewer rounds")
    parser.add_argument("--only", type=scenario_names, default=list(SCENARIOS), help=", ".join(SCENARIOS))
    parser.add_argument("--rounds", type=int, help="rounds of each scenario")
    parser.add_argument("--peer-only", choices=sorted(SERVERS), help="measure one server, without comparison")
    parser.add_argument("--scale", type=float, default=1.0, help="a factor on all amounts, to try it out")
    parser.add_argument("--json", type=Path, help="where the samples go instead of bench/results")
    return parser.parse_args(arguments)


def chosen_sizes(options: argparse.Namespace) -> Sizes:
    sizes = (QUICK if options.quick else FULL).scaled(options.scale)
    return replace(sizes, rounds=options.rounds) if options.rounds else sizes


def raise_open_file_limit() -> None:
    _soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def let_python_keep_its_bytecode() -> None:
    """As it does unless told otherwise; else each start of Penstock would compile it anew."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def run_scenarios(session: Session, names: list[str]) -> list[str]:
    """Runs them one by one; one that fails is reported and does not take the others with it."""
    failed = []
    for name in names:
        session.say(f"--- {name}")
        try:
            SCENARIOS[name](session)
        except Exception as error:
            session.say(f"{name} FAILED: {type(error).__name__}: {error}")
            failed.append(name)
    return failed


def main(arguments: list[str]) -> int:
    options = parse_arguments(arguments)
    names = [options.peer_only] if options.peer_only else list(SERVERS)
    if "kafka" in names and (reason := java_available()):
        sys.exit(f"bench: {reason}; --peer-only penstock measures without Apache Kafka")
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit("bench: ended")
    )  # by way of `finally`, so servers end too
    raise_open_file_limit()
    let_python_keep_its_bytecode()
    sizes = chosen_sizes(options)
    session = Session(names, sizes)
    try:
        failed = run_scenarios(session, options.only)
    finally:
        session.close()
    lines = report.lines_of(session.samples)
    print(report.markdown_table(lines))
    print(report.note_lines(session.notes) + report.failure_note(failed), end="")
    print("saved:", *report.save(session.samples, sizes, failed, session.notes, options.json))
    return 1 if failed or any(line.verdict == "MISSED" for line in lines) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
