"""`connect-mirror-maker [-daemon] mm2.properties [--clusters alias ...]`: mirrors clusters, a Connect worker a flow."""

import argparse
import sys
from pathlib import Path

from penstock.cli.platform.overrides import parse_overrides
from penstock.cli.tools.servers.spark import require_spark
from penstock.cli.tools.servers.start import add_server_arguments, go_into_background, log_to_stderr
from penstock.errors import PenstockError
from penstock.settings.properties import read_properties

TOOL = "connect-mirror-maker"
OUTPUT_NAME = "mirrorMaker.out"
FAILED = 2


def main(arguments: list[str] | None = None) -> int:
    words = _parser().parse_args(arguments)
    log_to_stderr()
    try:
        return _run(words)
    except (PenstockError, OSError) as error:
        print(f"{TOOL}: {error}", file=sys.stderr, flush=True)
        return FAILED


def _run(words: argparse.Namespace) -> int:
    from penstock.pipeline.mirror.maker_config import MirrorMakerConfig

    properties = {**read_properties(words.config), **parse_overrides(words.override)}
    config = MirrorMakerConfig(properties, str(words.config))
    flows = config.flows(words.clusters or ())
    for flow in flows:
        config.worker_settings(flow)  # says what is wrong before anything starts
    require_spark()
    from penstock.pipeline.mirror.maker import run

    if words.daemon:
        go_into_background(OUTPUT_NAME)
    return run(TOOL, config, flows)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        TOOL, description="MirrorMaker: copy topics between clusters, until SIGTERM or Ctrl-C."
    )
    parser.add_argument(
        "config", type=Path, metavar="mm2.properties", help="clusters and the flows between them"
    )
    parser.add_argument(
        "--clusters",
        nargs="+",
        metavar="CLUSTER",
        help="the clusters near to this process: it runs flows to them",
    )
    add_server_arguments(parser, OUTPUT_NAME)
    return parser


if __name__ == "__main__":
    sys.exit(main())
