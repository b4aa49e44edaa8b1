"""`kafka-server-start [-daemon] [server.properties] [--override name=value ...]`: a broker by itself."""

import sys
from collections.abc import Mapping
from pathlib import Path

from penstock.cli.tools.servers.start import Server, settings_with_overrides, start
from penstock.settings.broker import BrokerSettings, unknown_names


def main(arguments: list[str] | None = None) -> int:
    return start(SERVER, arguments)


def read_settings(file: Path | None, overrides: Mapping[str, str]) -> BrokerSettings:
    """The settings of a file with the overrides on top; warns of names that Kafka does not know either."""
    return settings_with_overrides(file, overrides, BrokerSettings.from_configs, unknown_names)


def _run(settings: BrokerSettings) -> int:
    from penstock.broker.app import run

    return run(settings)


SERVER = Server("kafka-server-start", "server.properties", "kafkaServer.out", read_settings, _run)


if __name__ == "__main__":
    sys.exit(main())
