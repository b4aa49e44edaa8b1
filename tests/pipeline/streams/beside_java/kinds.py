"""All topologies, by their kinds."""

from types import ModuleType

from tests.pipeline.streams.beside_java import (
    TOPOLOGIES,
    aggregates,
    combined,
    joins,
    processors,
    stateless,
    tables,
    windows,
)

KINDS = (stateless, aggregates, tables, windows, joins, combined, processors)
NAMES = [name for kind in KINDS for name, make in TOPOLOGIES.items() if make.__module__ == kind.__name__]


def names_of(kind: ModuleType) -> list[str]:
    return [name for name, make in TOPOLOGIES.items() if make.__module__ == kind.__name__]
