"""`schema-registry-start [-daemon] [schema-registry.properties] [--override name=value ...]`: a registry by itself."""

import sys
from collections.abc import Mapping
from pathlib import Path

from penstock.cli.tools.servers.start import Server, settings_with_overrides, start
from penstock.registry.settings import RegistrySettings, warnings_about


def main(arguments: list[str] | None = None) -> int:
    return start(SERVER, arguments)


def read_settings(file: Path | None, overrides: Mapping[str, str]) -> RegistrySettings:
    """The settings of a file with the overrides on top; warns of those that change nothing."""
    return settings_with_overrides(file, overrides, RegistrySettings.from_configs, warnings_about)


def _run(settings: RegistrySettings) -> int:
    from penstock.registry.app import run

    return run(settings)


SERVER = Server(
    "schema-registry-start", "schema-registry.properties", "schema-registry.out", read_settings, _run
)


if __name__ == "__main__":
    sys.exit(main())
