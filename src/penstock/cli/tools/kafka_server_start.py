"""`kafka-server-start [-daemon] [server.properties] [--override name=value ...]`: a broker by itself."""

import logging
import sys
from collections.abc import Mapping
from pathlib import Path

from penstock.cli.tools.servers.start import go_into_background, parse_start_arguments
from penstock.errors import PenstockError
from penstock.settings.broker import BrokerSettings, unknown_names
from penstock.settings.properties import read_properties

log = logging.getLogger(__name__)

TOOL = "kafka-server-start"
OUTPUT = "kafkaServer.out"


def main(arguments: list[str] | None = None) -> int:
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    try:
        given = parse_start_arguments(TOOL, "server.properties", OUTPUT, arguments)
        settings = read_settings(given.properties, given.overrides)
        if given.daemon:
            go_into_background(OUTPUT)
        return _run(settings)
    except (PenstockError, OSError) as error:
        print(f"{TOOL}: {error}", file=sys.stderr, flush=True)
        return 1


def read_settings(file: Path | None, overrides: Mapping[str, str]) -> BrokerSettings:
    """The settings of a file with the overrides on top; warns of names that Kafka does not know either."""
    configs = {**(read_properties(file) if file is not None else {}), **overrides}
    settings = BrokerSettings.from_configs(configs, str(file) if file is not None else "--override")
    for line in unknown_names(configs):
        log.warning("%s", line)
    return settings


def _run(settings: BrokerSettings) -> int:
    from penstock.broker.app import run

    return run(settings)


if __name__ == "__main__":
    sys.exit(main())
