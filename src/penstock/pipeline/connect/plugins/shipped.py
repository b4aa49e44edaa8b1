"""The plugins that come with Penstock.

Each module has a table `JAVA_NAMES`: the name that users of Kafka Connect write, and "module:Class" of ours. The tables
are read when the first plugin is asked for, the classes when they are."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Final

MODULES: Final = (
    "penstock.pipeline.connect.converters",
    "penstock.pipeline.connect.transforms",
    "penstock.pipeline.connect.predicates",
    "penstock.pipeline.connect.connectors.datagen",
    "penstock.pipeline.connect.connectors.file",
    "penstock.pipeline.connect.connectors.http",
    "penstock.pipeline.connect.connectors.jdbc",
    "penstock.pipeline.connect.connectors.lake",
    "penstock.pipeline.connect.connectors.postgres_cdc",
    "penstock.pipeline.mirror",
)


def shipped_plugins() -> Iterator[tuple[str, str]]:
    """Java name and reference of each."""
    for name in MODULES:
        table: dict[str, str] = importlib.import_module(name).JAVA_NAMES
        yield from table.items()
