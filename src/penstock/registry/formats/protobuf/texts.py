"""A schema's text, in either form, to its elements."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from penstock.registry.formats.protobuf.built_in import built_in
from penstock.registry.formats.protobuf.confluent_types import META_PATH
from penstock.registry.formats.protobuf.descriptors import file_descriptors
from penstock.registry.formats.protobuf.from_descriptor import decode_base64, file_elements
from penstock.registry.formats.protobuf.option_values import message_of, pool_of
from penstock.registry.formats.protobuf.parser import parse_text
from penstock.registry.formats.protobuf.printer import print_file
from penstock.registry.formats.protobuf.scope import Scope
from penstock.registry.formats.protobuf.sources import ProtoSource
from penstock.registry.formats.schema_format import InvalidSchema


@lru_cache(maxsize=256)
def source_of(text: str) -> ProtoSource:
    try:
        return ProtoSource(parse_text(text), text)
    except InvalidSchema:
        descriptor = decode_base64(text)
        if descriptor is None:
            raise
    return _source_of_descriptor(descriptor)


def _source_of_descriptor(descriptor: Any) -> ProtoSource:
    """What will be stored is its text, so that must say the same; in a descriptor a name may be any string."""
    file = file_elements(_with_known_extensions(descriptor))
    text = print_file(file)
    try:
        parsed = parse_text(text)
    except InvalidSchema as error:
        raise InvalidSchema(f"the descriptor of {descriptor.name!r}, as text: {error}") from error
    if parsed != file:
        raise InvalidSchema(f"the descriptor of {descriptor.name!r} has names that are no names")
    return ProtoSource(parsed, text)


def _with_known_extensions(descriptor: Any) -> Any:
    """So that Confluent's options can be told from unknown fields."""
    known = message_of(_meta_pool(), descriptor.DESCRIPTOR.full_name)
    known.MergeFromString(descriptor.SerializeToString())
    return known


@lru_cache(maxsize=1)
def _meta_pool() -> Any:
    meta = built_in(META_PATH)
    assert meta is not None
    return pool_of(file_descriptors(Scope(meta, {}), META_PATH))
