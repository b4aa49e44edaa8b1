"""`connect-distributed [-daemon] connect-distributed.properties [--override name=value ...]`: a Connect worker."""

import sys
from collections.abc import Mapping
from pathlib import Path

from penstock.cli.tools.servers.spark import require_spark
from penstock.cli.tools.servers.start import Server, settings_with_overrides, start
from penstock.pipeline.connect.settings import ConnectSettings, warnings_about

TOOL = "connect-distributed"


def main(arguments: list[str] | None = None) -> int:
    return start(SERVER, arguments)


def read_settings(file: Path | None, overrides: Mapping[str, str]) -> ConnectSettings:
    """The settings of a file with the overrides on top; warns of those that change nothing."""
    return settings_with_overrides(file, overrides, ConnectSettings.from_configs, warnings_about)


def _run(settings: ConnectSettings) -> int:
    require_spark()
    from penstock.pipeline.connect.worker.process import run

    return run(TOOL, settings)


SERVER = Server(TOOL, "connect-distributed.properties", "connectDistributed.out", read_settings, _run)


if __name__ == "__main__":
    sys.exit(main())
