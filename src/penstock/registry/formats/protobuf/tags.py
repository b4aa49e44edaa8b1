"""Tags on messages and their fields: `tags` of Confluent's options `message_meta` and `field_meta`.

An entity's path has no package. What other settings these options have is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.registry.formats.protobuf.elements import Field, Message, Option, OptionName, ProtoFile
from penstock.registry.formats.schema_format import Entity
from penstock.registry.formats.tags import FIELD, RECORD, Tags, changed_tags, no_such_entity

_META = {RECORD: "confluent.message_meta", FIELD: "confluent.field_meta"}
_TAGS = "tags"


def tags_of(file: ProtoFile) -> dict[Entity, list[str]]:
    found = ((entity, _tags(_meta_of(element, entity.kind))) for entity, element in _entities(file))
    return {entity: tags for entity, tags in found if tags}


def change_tags(file: ProtoFile, added: Tags, removed: Tags) -> None:
    elements = dict(_entities(file))
    for entity in dict.fromkeys([*added, *removed]):
        element = elements.get(Entity(entity.kind, entity.path.removeprefix(".")))
        if element is None:
            raise no_such_entity(entity)
        meta = _meta_of(element, entity.kind)
        tags = changed_tags(_tags(meta), added.get(entity, ()), removed.get(entity, ()))
        kept = {name: value for name, value in meta.items() if name != _TAGS}
        _set_meta(element, entity.kind, {**kept, _TAGS: tags} if tags else kept)


def _entities(file: ProtoFile) -> Iterator[tuple[Entity, Message | Field]]:
    for message in file.messages:
        yield from _message_entities(message, message.name)


def _message_entities(message: Message, path: str) -> Iterator[tuple[Entity, Message | Field]]:
    yield Entity(RECORD, path), message
    for field in (*(each for oneof in message.oneofs for each in oneof.fields), *message.fields):
        yield Entity(FIELD, f"{path}.{field.name}"), field
    for nested in message.messages:
        yield from _message_entities(nested, f"{path}.{nested.name}")


def _is_meta(option: Option, kind: str) -> bool:
    return option.names[0].is_extension and option.key.removeprefix(".") == _META[kind]


def _meta_of(element: Message | Field, kind: str) -> dict[str, Any]:
    """All that the option says, in one: `(meta).doc = "a"` and `(meta) = {doc: "a"}` are the same."""
    merged: dict[str, Any] = {}
    for option in element.options:
        if _is_meta(option, kind):
            value: Any = option.value
            for name in reversed(option.names[1:]):
                value = {name.text: value}
            if isinstance(value, dict):
                merged = _merged(merged, value)
    return merged


def _merged(first: dict[str, Any], second: dict[str, Any]) -> dict[str, Any]:
    merged = {**first, **second}
    if _TAGS in first and _TAGS in second:
        merged[_TAGS] = _as_list(first[_TAGS]) + _as_list(second[_TAGS])
    return merged


def _tags(meta: dict[str, Any]) -> list[str]:
    return [tag for tag in _as_list(meta.get(_TAGS, [])) if isinstance(tag, str)]


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _set_meta(element: Message | Field, kind: str, meta: dict[str, Any]) -> None:
    """In the place of the first; at the end if there was none."""
    places = [index for index, option in enumerate(element.options) if _is_meta(option, kind)]
    at = places[0] if places else len(element.options)
    kept = [option for option in element.options if not _is_meta(option, kind)]
    changed = [Option((OptionName(_META[kind], is_extension=True),), meta)] if meta else []
    element.options = [*kept[:at], *changed, *kept[at:]]
