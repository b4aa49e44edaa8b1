"""`--override NAME=VALUE` of the broker, `--set SERVICE.NAME=VALUE` of any service."""

import argparse
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module

from penstock.errors import ConfigError
from penstock.stack.services import AVAILABLE, broker_number

SETTINGS_OF = {
    "zookeeper": "penstock.zookeeper.config",
    "broker": "penstock.settings.broker",
    "registry": "penstock.registry.settings",
    "rest": "penstock.rest.settings",
    "connect": "penstock.pipeline.connect.settings",
}
"""The modules that know which there are."""


def add_overrides(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--override",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a setting of all brokers, as in server.properties; can be given several times",
    )
    parser.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="SERVICE.NAME=VALUE",
        dest="settings",
        help="a setting of any service, as in connect.plugin.path=/srv/connectors; can be given several times. "
        "broker.NAME=VALUE is for all brokers, broker-2.NAME=VALUE for one. Where services listen is said by "
        "--host and --port-offset",
    )


def refuse_unknown_settings(overrides: Iterable[str], settings: Mapping[str, Iterable[str]]) -> None:
    """Whoever starts the platform with a setting means one that there is."""
    if overrides:
        _refuse("broker", overrides, "--override", "")
    for service, names in settings.items():
        _refuse(_kind_of(service), names, "--set", f"{service}.")


def _kind_of(service: str) -> str:
    return "broker" if broker_number(service) is not None else service


def _refuse(service: str, names: Iterable[str], where: str, prefix: str) -> None:
    from penstock.settings.table import refuse_unknown

    refuse_unknown(import_module(SETTINGS_OF[service]).find_unknown(names), where, prefix)


def parse_overrides(texts: Sequence[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in texts]
    for text, (name, equals, _) in zip(texts, pairs, strict=True):
        if not equals or not name.strip():
            raise ConfigError(f"--override: got {text!r}; takes NAME=VALUE, as in num.partitions=3")
    return {name.strip(): value.strip() for name, _, value in pairs}


def parse_settings(texts: Sequence[str]) -> dict[str, dict[str, str]]:
    """By service."""
    found: dict[str, dict[str, str]] = {}
    for text in texts:
        place, equals, value = text.partition("=")
        service, dot, name = place.strip().partition(".")
        if not equals or not dot or not name:
            raise ConfigError(
                f"--set: got {text!r}; takes SERVICE.NAME=VALUE, as in connect.plugin.path=/srv/connectors"
            )
        if _kind_of(service) not in AVAILABLE:
            raise ConfigError(
                f"--set: got {text!r}; the services are {', '.join(AVAILABLE)}, and broker-1 and so on"
            )
        found.setdefault(service, {})[name] = value.strip()
    return found
