"""The arguments that say which cluster is meant, for the commands that are Penstock's own."""

from __future__ import annotations

import argparse
from pathlib import Path

from penstock.cli.bootstrap_default import ENVIRONMENT_NAME, LOCAL, default_bootstrap_servers

Configs = dict[str, str]


def add_cluster(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--bootstrap-server",
        metavar="HOST:PORT",
        help=f"the brokers to connect to; ${ENVIRONMENT_NAME}, or {LOCAL}, if not given",
    )
    parser.add_argument(
        "--command-config", type=Path, metavar="FILE", help="a file of client settings, as for Kafka's tools"
    )


def configs_of(parsed: argparse.Namespace) -> Configs:
    from penstock.settings.properties import read_properties

    file: Path | None = parsed.command_config
    servers = parsed.bootstrap_server or default_bootstrap_servers()
    return {**(read_properties(file) if file is not None else {}), "bootstrap.servers": servers}
