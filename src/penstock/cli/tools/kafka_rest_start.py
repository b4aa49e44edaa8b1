"""`kafka-rest-start [-daemon] [kafka-rest.properties] [--override name=value ...]`: the REST proxy by itself."""

import logging
import sys
from collections.abc import Mapping
from pathlib import Path

from penstock.cli.tools.servers.start import go_into_background, parse_start_arguments
from penstock.errors import PenstockError
from penstock.rest.settings import RestSettings, unknown_names
from penstock.settings.properties import read_properties

log = logging.getLogger(__name__)

TOOL = "kafka-rest-start"
OUTPUT = "kafka-rest.out"


def main(arguments: list[str] | None = None) -> int:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.WARNING)
    try:
        given = parse_start_arguments(TOOL, "kafka-rest.properties", OUTPUT, arguments)
        settings = read_settings(given.properties, given.overrides)
        if given.daemon:
            go_into_background(OUTPUT)
        return _run(settings)
    except (PenstockError, OSError) as error:
        print(f"{TOOL}: {error}", file=sys.stderr, flush=True)
        return 1


def read_settings(file: Path | None, overrides: Mapping[str, str]) -> RestSettings:
    """The settings of a file with the overrides on top; warns of names that nobody knows."""
    configs = {**(read_properties(file) if file is not None else {}), **overrides}
    settings = RestSettings.from_configs(configs, str(file) if file is not None else "--override")
    for line in unknown_names(configs):
        log.warning("%s", line)
    return settings


def _run(settings: RestSettings) -> int:
    from penstock.rest.app import run

    return run(settings)


if __name__ == "__main__":
    sys.exit(main())
