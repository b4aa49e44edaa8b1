"""`schema-registry-start [-daemon] [schema-registry.properties] [--override name=value ...]`: a registry by itself."""

import logging
import sys
from collections.abc import Mapping
from pathlib import Path

from penstock.cli.tools.servers.start import go_into_background, parse_start_arguments
from penstock.errors import PenstockError
from penstock.registry.settings import RegistrySettings, warnings_about
from penstock.settings.properties import read_properties

log = logging.getLogger(__name__)

TOOL = "schema-registry-start"
OUTPUT = "schema-registry.out"


def main(arguments: list[str] | None = None) -> int:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    try:
        given = parse_start_arguments(TOOL, "schema-registry.properties", OUTPUT, arguments)
        settings = read_settings(given.properties, given.overrides)
        if given.daemon:
            go_into_background(OUTPUT)
        return _run(settings)
    except (PenstockError, OSError) as error:
        print(f"{TOOL}: {error}", file=sys.stderr, flush=True)
        return 1


def read_settings(file: Path | None, overrides: Mapping[str, str]) -> RegistrySettings:
    """The settings of a file with the overrides on top; warns of those that change nothing."""
    configs = {**(read_properties(file) if file is not None else {}), **overrides}
    settings = RegistrySettings.from_configs(configs, str(file) if file is not None else "--override")
    for line in warnings_about(configs):
        log.warning("%s", line)
    return settings


def _run(settings: RegistrySettings) -> int:
    from penstock.registry.app import run

    return run(settings)


if __name__ == "__main__":
    sys.exit(main())
