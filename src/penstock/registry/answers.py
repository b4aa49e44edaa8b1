"""The JSON shapes of answers. Members without a value are left out."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.registry.requests import SchemaDraft
from penstock.registry.state import RegistryState
from penstock.registry.stored import Json, StoredSchema


def _without_empty(members: Json) -> Json:
    return {
        name: value for name, value in members.items() if value is not None and value != [] and value != ""
    }


def version_answer(
    stored: StoredSchema, *, schema: str | None = None, tags: Sequence[Json] = (), is_echo: bool = False
) -> Json:
    """A version of a subject; an echo of what was asked for does not say when it was stored."""
    return _without_empty(
        {
            "subject": stored.subject,
            "version": stored.version,
            "id": stored.id,
            "guid": stored.guid,
            "schemaType": stored.schema_type,
            "references": [reference.to_json() for reference in stored.references],
            "metadata": stored.metadata,
            "ruleSet": stored.rule_set,
            "schema": stored.schema if schema is None else schema,
            "schemaTags": list(tags),
            "ts": None if is_echo else stored.timestamp_ms,
            "deleted": None if is_echo else stored.deleted,
        }
    )


def registered_answer(version: Json) -> Json:
    """What a registration answers, from the answer for the version."""
    names = (
        "id",
        "version",
        "guid",
        "schemaType",
        "references",
        "metadata",
        "ruleSet",
        "schema",
        "ts",
        "deleted",
    )
    return {name: version[name] for name in names if name in version}


def id_answer(
    stored: StoredSchema,
    *,
    schema: str,
    names_subject: bool,
    tags: Sequence[Json] = (),
    max_id: int | None = None,
) -> Json:
    version = version_answer(stored, schema=schema, tags=tags)
    del version["id"]
    if not names_subject:
        del version["subject"], version["version"]
    return version if max_id is None else {**version, "maxId": max_id}


def stored_from(draft: SchemaDraft, version: int, schema_id: int) -> StoredSchema:
    return StoredSchema(
        subject=draft.subject,
        version=version,
        id=schema_id,
        schema=draft.schema,
        schema_type=draft.schema_type,
        references=draft.references,
        metadata=draft.metadata,
        rule_set=draft.rule_set,
        md5=draft.md5,
    )


def max_id_of(state: RegistryState, context: str) -> int:
    return state.max_ids.get(context, 1)
