"""The kinds of plugins, and the classes that make one."""

from __future__ import annotations

import inspect
from enum import StrEnum
from typing import Final

from penstock.pipeline.connect.api.connector import SinkConnector, SourceConnector
from penstock.pipeline.connect.api.converter import Converter, HeaderConverter
from penstock.pipeline.connect.api.transformation import Predicate, Transformation


class PluginKind(StrEnum):
    SINK = "sink"
    SOURCE = "source"
    CONVERTER = "converter"
    HEADER_CONVERTER = "header_converter"
    TRANSFORMATION = "transformation"
    PREDICATE = "predicate"


CONNECTORS: Final = (PluginKind.SINK, PluginKind.SOURCE)

BASES: Final[dict[PluginKind, type]] = {
    PluginKind.SINK: SinkConnector,
    PluginKind.SOURCE: SourceConnector,
    PluginKind.CONVERTER: Converter,
    PluginKind.HEADER_CONVERTER: HeaderConverter,
    PluginKind.TRANSFORMATION: Transformation,
    PluginKind.PREDICATE: Predicate,
}

SUFFIXES: Final = ("HeaderConverter", "Connector", "Converter", "Transformation", "Predicate")
"""What a short name goes without: `FileStreamSource` is `FileStreamSourceConnector`."""


def kinds_of(cls: object) -> tuple[PluginKind, ...]:
    """A class may be of two kinds: most converters convert headers too."""
    if not isinstance(cls, type) or inspect.isabstract(cls):
        return ()
    return tuple(kind for kind, base in BASES.items() if issubclass(cls, base) and cls is not base)


def names_of(full_name: str) -> tuple[str, ...]:
    """The names that a class answers to: in full, the last part alone, and that without its kind."""
    simple = full_name.replace(":", ".").rpartition(".")[2]
    short = next(
        (simple.removesuffix(suffix) for suffix in SUFFIXES if simple.endswith(suffix) and simple != suffix),
        simple,
    )
    return tuple(dict.fromkeys((full_name, simple, short)))
