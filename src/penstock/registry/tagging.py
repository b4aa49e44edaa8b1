"""Tags within schemas: a draft as its tags are to be, and the tags of a schema as answers have them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from penstock.registry.formats.schema_format import InvalidSchema
from penstock.registry.parsing import invalid_schema, parse_draft, parse_stored
from penstock.registry.requests import SchemaDraft, TagChanges
from penstock.registry.rules import RegistryRules
from penstock.registry.state import RegistryState
from penstock.registry.stored import Json, StoredSchema

EVERY_TAG = "*"


def retagged(
    state: RegistryState, rules: RegistryRules, draft: SchemaDraft, before: StoredSchema | None
) -> SchemaDraft:
    """With the changes made that the draft asks for; those of the version `before` last."""
    changes = draft.tag_changes
    try:
        if changes.are_asked_for:
            parsed = parse_draft(state, rules, draft)
            draft = replace(draft, schema=parsed.with_tags(changes.added, changes.removed))
        if changes.is_propagated and before is not None:
            draft = replace(draft, schema=_with_tags_of(state, rules, draft, before))
    except InvalidSchema as problem:
        raise invalid_schema(draft.schema_type, str(problem)) from None
    return replace(draft, tag_changes=TagChanges())


def _with_tags_of(
    state: RegistryState, rules: RegistryRules, draft: SchemaDraft, before: StoredSchema
) -> str:
    """What is no longer there takes its tags with it."""
    text = draft.schema
    for entity, tags in parse_stored(state, rules, before).tags().items():
        try:
            text = parse_draft(state, rules, replace(draft, schema=text)).with_tags({entity: tags}, {})
        except InvalidSchema:
            continue
    return text


def found_tags(
    state: RegistryState, rules: RegistryRules, stored: StoredSchema, wanted: Collection[str]
) -> list[Json]:
    """The records and fields that have one of the tags, with all that they have."""
    return [
        {"schemaEntity": {"entityPath": entity.path, "entityType": entity.kind}, "tags": list(tags)}
        for entity, tags in (parse_stored(state, rules, stored).tags() if wanted else {}).items()
        if EVERY_TAG in wanted or not set(wanted).isdisjoint(tags)
    ]
