"""The classes that configurations name: connectors, converters, transforms and predicates."""

from penstock.pipeline.connect.plugins.kinds import BASES, CONNECTORS, PluginKind
from penstock.pipeline.connect.plugins.registry import PluginInfo, Plugins, UnknownPlugin, UnknownVersion

__all__ = ["BASES", "CONNECTORS", "PluginInfo", "PluginKind", "Plugins", "UnknownPlugin", "UnknownVersion"]
