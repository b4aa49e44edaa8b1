"""`penstock status`."""

import argparse
import json
from dataclasses import asdict

from penstock.cli.platform.data_dir_argument import add_data_dir, data_dir_of
from penstock.stack.data_dir import DataDir
from penstock.stack.running import ServiceStatus, status_of
from penstock.stack.table_text import table_text


def main(arguments: list[str]) -> int:
    parsed = _parser().parse_args(arguments)
    data_dir = data_dir_of(parsed)
    services = status_of(DataDir(data_dir))
    if parsed.output == "json":
        print(json.dumps({"services": [asdict(service) for service in services]}))
    elif services:
        print(_table(services))
    else:
        print(f"Penstock does not run on {data_dir}")
    return 0 if services and all(service.healthy for service in services) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "penstock status",
        description="Show the services and ask each whether it answers. The exit code is 0 if all do.",
        allow_abbrev=False,
    )
    add_data_dir(parser)
    parser.add_argument(
        "--output", choices=["table", "json"], default="table", help="%(default)s if not given"
    )
    return parser


def _table(services: list[ServiceStatus]) -> str:
    rows = [
        (
            service.name,
            service.address,
            "-" if service.pid is None else str(service.pid),
            "yes" if service.healthy else f"no: {service.reason}",
        )
        for service in services
    ]
    return table_text(("SERVICE", "ADDRESS", "PID", "HEALTHY"), rows)
