"""The registry that a command asks; its settings stand among all others, with `schema.registry.` before them or not."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.settings import ALIASES, CLIENT_TABLE

URL = "schema.registry.url"
LOCAL = "http://localhost:8081"
PREFIX = "schema.registry."
IMPATIENT = {"http.connect.timeout.ms": "2000", "http.read.timeout.ms": "5000", "max.retries": "1"}
"""Somebody sits before it."""


def registry_client(configs: Mapping[str, str]) -> SchemaRegistryClient:
    return SchemaRegistryClient({URL: LOCAL, **IMPATIENT, **_known(configs)})


def _known(configs: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for given, text in configs.items():
        name = ALIASES.get(given, given)
        if name not in CLIENT_TABLE and name.startswith(PREFIX):
            name = name.removeprefix(PREFIX)
        if name in CLIENT_TABLE:
            found[name] = text
    return found
