"""The classes that configurations name: connectors, converters, transforms and predicates."""

from penstock.pipeline.connect.plugins.kinds import BASES, CONNECTORS, PluginKind
from penstock.pipeline.connect.plugins.registry import (
    ENTRY_POINTS,
    PluginInfo,
    Plugins,
    UnknownPlugin,
    UnknownVersion,
)

__all__ = [
    "BASES",
    "CONNECTORS",
    "ENTRY_POINTS",
    "PluginInfo",
    "PluginKind",
    "Plugins",
    "UnknownPlugin",
    "UnknownVersion",
]
