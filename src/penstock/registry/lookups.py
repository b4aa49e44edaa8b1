"""One schema: by subject and version, by id, by guid, by its text or metadata; and whether another may follow it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from penstock.registry import errors
from penstock.registry.answers import id_answer, max_id_of, version_answer
from penstock.registry.compatibility import reasons_against
from penstock.registry.errors import RegistryError
from penstock.registry.matching import match_in_contexts
from penstock.registry.names import (
    DEFAULT_CONTEXT,
    QualifiedSubject,
    context_of,
    normalize_subject,
    qualify,
    qualify_with_parent,
)
from penstock.registry.parsing import canonicalize, find_version, parse_stored
from penstock.registry.requests import LATEST, read_schema, read_version
from penstock.registry.rules import RegistryRules
from penstock.registry.scopes import config_in_scope, validates_new_schemas
from penstock.registry.state import RegistryState
from penstock.registry.stored import Json, StoredSchema, guid_bytes
from penstock.registry.tagging import found_tags


def aliased(state: RegistryState, subject: str) -> str:
    """The subject that a name in `/subjects/{subject}` or `?subject=` means: a config may make it an alias."""
    subject = normalize_subject(subject)
    alias = state.configs.get(subject, {}).get("alias")
    return qualify_with_parent(subject, alias) if alias else subject


# ---- by subject and version ----


def get_version(
    state: RegistryState,
    rules: RegistryRules,
    subject: str,
    version: str | int,
    *,
    deleted: bool = False,
    format_name: str = "",
    reference_format: str = "",
    tags: Collection[str] = (),
) -> Json:
    """GET /subjects/{subject}/versions/{version}; its member `schema` is what `.../schema` answers."""
    stored = find_stored(state, subject, version, deleted=deleted)
    return version_answer(
        _with_qualified_references(stored, reference_format),
        schema=_formatted(state, rules, stored, format_name),
        tags=found_tags(state, rules, stored, tags),
    )


def find_stored(
    state: RegistryState, subject: str, version: str | int, *, deleted: bool = False
) -> StoredSchema:
    subject, number = normalize_subject(subject), read_version(version)
    stored = find_version(state, subject, number, deleted=deleted)
    if stored is not None:
        return stored
    if state.has_subjects(subject, deleted=deleted):
        raise errors.version_not_found(number)
    raise errors.subject_not_found(subject)


def _formatted(state: RegistryState, rules: RegistryRules, stored: StoredSchema, format_name: str) -> str:
    if not format_name.strip():
        return stored.schema
    return parse_stored(state, rules, stored).formatted(format_name)


def _with_qualified_references(stored: StoredSchema, reference_format: str) -> StoredSchema:
    if reference_format != "qualified" or not stored.references:
        return stored
    qualified = tuple(
        replace(reference, subject=qualify_with_parent(stored.subject, reference.subject))
        for reference in stored.references
    )
    return replace(stored, references=qualified)


def get_latest_with_metadata(
    state: RegistryState,
    rules: RegistryRules,
    subject: str,
    properties: Mapping[str, str],
    *,
    deleted: bool = False,
    format_name: str = "",
) -> Json:
    """GET /subjects/{subject}/metadata?key=...&value=..."""
    subject = normalize_subject(subject)
    for stored in reversed(list(state.schemas.get(subject, {}).values())):
        if stored.metadata is None or (stored.deleted and not deleted):
            continue
        if properties.items() <= stored.metadata.get("properties", {}).items():
            return version_answer(stored, schema=_formatted(state, rules, stored, format_name))
    raise _not_found(state, subject, deleted=deleted)


def _not_found(state: RegistryState, subject: str, *, deleted: bool) -> RegistryError:
    if state.has_subjects(subject, deleted=deleted):
        return errors.schema_not_found()
    return errors.subject_not_found(subject)


def lookup(
    state: RegistryState,
    rules: RegistryRules,
    subject: str,
    body: Json,
    *,
    normalize: bool = False,
    deleted: bool = False,
    format_name: str = "",
) -> Json:
    """POST /subjects/{subject}: the version that this schema is."""
    draft = read_schema(normalize_subject(subject), body)
    normalize = normalize or config_in_scope(state, rules, draft.subject).get("normalize") is True
    found = match_in_contexts(state, rules, draft, normalize=normalize, deleted=deleted)
    if found is None:
        raise _not_found(state, draft.subject, deleted=deleted)
    schema = _formatted(state, rules, found.stored, format_name)
    return version_answer(found.stored, schema=schema, is_echo=found.is_exact)


# ---- by id and guid ----


def get_schema_by_id(
    state: RegistryState,
    rules: RegistryRules,
    schema_id: int,
    subject: str | None = None,
    *,
    format_name: str = "",
    reference_format: str = "",
    tags: Collection[str] = (),
    fetch_max_id: bool = False,
) -> Json:
    """GET /schemas/ids/{id}; its member `schema` is what `.../schema` answers."""
    stored = find_by_id(state, schema_id, subject)
    if stored is None:
        raise errors.schema_not_found(schema_id)
    return id_answer(
        _with_qualified_references(stored, reference_format),
        schema=_formatted(state, rules, stored, format_name),
        tags=found_tags(state, rules, stored, tags),
        names_subject=subject is not None,
        max_id=max_id_of(state, context_of(stored.subject)) if fetch_max_id else None,
    )


def find_by_id(state: RegistryState, schema_id: int, subject: str | None) -> StoredSchema | None:
    """An id is one of its context, which the subject says. Without a context any subject of that name will do."""
    if not subject:
        return state.schema_of_id(DEFAULT_CONTEXT, schema_id)
    own = qualify(subject)
    if not own.subject:
        return state.schema_of_id(own.context, schema_id)
    found = _used_by(state, schema_id, own)
    if found is not None or own.context != DEFAULT_CONTEXT:
        return found
    others = (QualifiedSubject(context, own.subject) for context in sorted(state.contexts))
    elsewhere = (_used_by(state, schema_id, other) for other in others)
    return next((each for each in elsewhere if each), state.schema_of_id(DEFAULT_CONTEXT, schema_id))


def _used_by(state: RegistryState, schema_id: int, subject: QualifiedSubject) -> StoredSchema | None:
    name = str(subject)
    version = state.users.get((subject.context, schema_id), {}).get(name)
    return None if version is None else state.schemas[name][version]


def get_schema_by_guid(
    state: RegistryState, rules: RegistryRules, guid: str, *, format_name: str = ""
) -> Json:
    """GET /schemas/guids/{guid}."""
    for context, schema_id in _ids_of_guid(state, guid):
        stored = state.schema_of_id(context, schema_id)
        if stored is not None:
            schema = _formatted(state, rules, stored, format_name)
            return id_answer(stored, schema=schema, names_subject=False)
    raise errors.schema_not_found(guid)


def list_ids_of_guid(state: RegistryState, guid: str) -> list[Json]:
    """GET /schemas/guids/{guid}/ids."""
    return [{"context": context, "id": schema_id} for context, schema_id in _ids_of_guid(state, guid)]


def _ids_of_guid(state: RegistryState, guid: str) -> list[tuple[str, int]]:
    md5 = guid_bytes(guid)
    if md5 is None:
        return []
    contexts = sorted({DEFAULT_CONTEXT, *state.contexts})
    return [(context, schema_id) for context in contexts for schema_id in state.ids_of(context, md5)]


# ---- compatibility ----


def check_compatibility(
    state: RegistryState,
    rules: RegistryRules,
    subject: str,
    body: Json,
    version: str | int | None = None,
    *,
    normalize: bool = False,
    verbose: bool = False,
) -> Json:
    """POST /compatibility/subjects/{subject}/versions, and .../{version} for one of them."""
    subject = normalize_subject(subject)
    previous = _previous(state, subject, version)
    try:
        reasons = _reasons(state, rules, subject, body, previous, normalize=normalize)
    except RegistryError as problem:
        if not verbose or problem.error_code != 42201:
            raise
        reasons = [problem.message]
    answer: Json = {"is_compatible": not reasons}
    return {**answer, "messages": reasons} if verbose else answer


def _previous(state: RegistryState, subject: str, version: str | int | None) -> list[StoredSchema]:
    if version is None:
        return [stored for stored in state.schemas.get(subject, {}).values() if not stored.deleted]
    number = read_version(version)
    stored = state.version(subject, number, deleted=False)
    if stored is None and number != LATEST:
        raise errors.version_not_found(number)
    return [] if stored is None else [stored]


def _reasons(
    state: RegistryState,
    rules: RegistryRules,
    subject: str,
    body: Json,
    previous: list[StoredSchema],
    *,
    normalize: bool,
) -> list[str]:
    draft = read_schema(subject, body)
    if draft.is_empty:
        raise errors.invalid_schema("Empty schema")
    config = config_in_scope(state, rules, subject)
    canonical, parsed = canonicalize(
        state,
        rules,
        config,
        draft,
        is_new=validates_new_schemas(rules, config),
        normalize=normalize or config.get("normalize") is True,
    )
    return reasons_against(state, rules, config, canonical, parsed, previous)
