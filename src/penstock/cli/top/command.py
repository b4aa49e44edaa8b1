"""`penstock top`: topics, rates and lag, again and again until `q`."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time

from penstock.cli.cluster_arguments import add_cluster, configs_of
from penstock.cli.first_contact import tool_cluster_config
from penstock.cli.output.formats import JSON, TABLE
from penstock.cli.output.progress import is_for_people, scaled
from penstock.cli.output.view import Record, has_colour, styled, table_lines
from penstock.cli.tool import run
from penstock.cli.top.sample import Sample, group_rows, take_sample, topic_rows
from penstock.wire_client import Cluster, blocking_cluster, now

INTERVAL_SECONDS = 2.0
SHORTEST_INTERVAL_SECONDS = 0.1


def main(arguments: list[str]) -> int:
    return run("penstock top", command, arguments)


def command(words: list[str]) -> int:
    parsed = _parser().parse_args(words)
    logging.getLogger("penstock.client").setLevel(logging.ERROR)
    with blocking_cluster(tool_cluster_config(configs_of(parsed))) as cluster:
        watch = Watch(cluster, include_internal=parsed.internal)
        if parsed.once:
            watch.look()
            time.sleep(parsed.interval)
            watch.look()
            _print(watch, parsed.output)
        elif is_for_people(sys.stdout) and sys.stdin.isatty() and parsed.output == TABLE:
            from penstock.cli.top.screen import show_until_q

            show_until_q(watch.look_at, parsed.interval)
        else:
            _print_for_good(watch, parsed)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "penstock top",
        description="Watch topics with their sizes and rates, and groups with their lag. q ends it.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--interval",
        type=_interval,
        default=INTERVAL_SECONDS,
        metavar="SECONDS",
        help="between two looks; %(default)g if not given",
    )
    parser.add_argument("--once", action="store_true", help="look twice, an interval apart, and print that")
    parser.add_argument("--internal", action="store_true", help="show internal topics too")
    parser.add_argument("--output", choices=[TABLE, JSON], default=TABLE, help="json is one object a look")
    add_cluster(parser)
    return parser


def _interval(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not SHORTEST_INTERVAL_SECONDS <= seconds <= 86_400:
        raise argparse.ArgumentTypeError(f"got {text!r}; takes seconds from {SHORTEST_INTERVAL_SECONDS:g}")
    return seconds


class Watch:
    """Two looks at a cluster, and what lies between them."""

    def __init__(self, cluster: Cluster, *, include_internal: bool) -> None:
        self._cluster = cluster
        self._include_internal = include_internal
        self._before: Sample | None = None
        self._now: Sample | None = None

    def look(self) -> None:
        self._before = self._now
        self._now = now(take_sample(self._cluster, include_internal=self._include_internal))

    def look_at(self) -> list[str]:
        self.look()
        return self.lines(colour=has_colour(sys.stdout))

    def as_json(self) -> str:
        assert self._now is not None
        return json.dumps(
            {
                "cluster_id": self._now.cluster_id,
                "brokers": self._now.brokers,
                "topics": topic_rows(self._now, self._before),
                "groups": group_rows(self._now, self._before),
            },
            ensure_ascii=False,
        )

    def lines(self, *, colour: bool) -> list[str]:
        assert self._now is not None
        topics, groups = topic_rows(self._now, self._before), group_rows(self._now, self._before)
        title = (
            f"cluster {self._now.cluster_id}  brokers {self._now.brokers}  topics {len(topics)}  "
            f"groups {len(groups)}  {time.strftime('%H:%M:%S')}"
        )
        shown_topics = [{**row, **_readable(row)} for row in topics]
        shown_groups = [{**row, "out_per_s": _scaled(row["out_per_s"])} for row in groups]
        return [
            styled(title, "bold") if colour else title,
            "",
            *table_lines(shown_topics, colour=colour),
            *([""] if groups else []),
            *table_lines(shown_groups, colour=colour),
        ]


def _readable(row: Record) -> Record:
    return {
        "bytes": _scaled(row["bytes"], "B"),
        "in_per_s": _scaled(row["in_per_s"]),
        "in_bytes_per_s": _scaled(row["in_bytes_per_s"], "B"),
        "out_per_s": _scaled(row["out_per_s"]),
    }


def _scaled(value: object, unit: str = "") -> str | None:
    return scaled(value, unit) if isinstance(value, (int, float)) else None


def _print(watch: Watch, output: str) -> None:
    if output == JSON:
        print(watch.as_json(), flush=True)
    else:
        print("\n".join(watch.lines(colour=has_colour(sys.stdout))), flush=True)


def _print_for_good(watch: Watch, parsed: argparse.Namespace) -> None:
    watch.look()
    while True:
        time.sleep(parsed.interval)
        watch.look()
        _print(watch, parsed.output)
