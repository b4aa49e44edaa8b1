"""`kafka-rest-start [-daemon] [kafka-rest.properties] [--override name=value ...]`: the REST proxy by itself."""

import logging
import sys
from collections.abc import Mapping
from pathlib import Path

from penstock.cli.tools.servers.start import Server, settings_with_overrides, start
from penstock.rest.settings import RestSettings, unknown_names


def main(arguments: list[str] | None = None) -> int:
    return start(SERVER, arguments, logging.WARNING)


def read_settings(file: Path | None, overrides: Mapping[str, str]) -> RestSettings:
    """The settings of a file with the overrides on top; warns of names that nobody knows."""
    return settings_with_overrides(file, overrides, RestSettings.from_configs, unknown_names)


def _run(settings: RestSettings) -> int:
    from penstock.rest.app import run

    return run(settings)


SERVER = Server("kafka-rest-start", "kafka-rest.properties", "kafka-rest.out", read_settings, _run)


if __name__ == "__main__":
    sys.exit(main())
