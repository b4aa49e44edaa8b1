"""Lists: subjects, versions, schemas, contexts, and who uses a schema."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from penstock.registry import contracts, errors
from penstock.registry.answers import version_answer
from penstock.registry.lookups import find_by_id, find_stored
from penstock.registry.names import (
    CONTEXT_WILDCARD,
    DEFAULT_CONTEXT,
    context_of,
    normalize_subject,
    qualify,
    qualify_with_parent,
)
from penstock.registry.rules import RegistryRules, SearchLimits
from penstock.registry.state import RegistryState
from penstock.registry.stored import Json, StoredSchema

T = TypeVar("T")


def _page(found: list[T], limits: SearchLimits, offset: int, limit: int) -> list[T]:
    start = max(offset, 0)
    return found[start : start + limits.of(limit)]


def _begins_with(prefix: str) -> Callable[[str], bool]:
    """`:*:` stands for any context; a prefix that ends within a context's name means all contexts so named."""
    if prefix.startswith(CONTEXT_WILDCARD):
        rest = prefix[len(CONTEXT_WILDCARD) :]
        return lambda subject: not rest or qualify(subject).subject.startswith(rest)
    own = qualify(prefix)
    if prefix.startswith(":.") and ":" not in prefix[1:]:
        return lambda subject: qualify(subject).context.startswith(own.context)
    return lambda subject: context_of(subject) == own.context and subject.startswith(str(own))


def list_subjects(
    state: RegistryState,
    rules: RegistryRules,
    *,
    prefix: str = CONTEXT_WILDCARD,
    deleted: bool = False,
    deleted_only: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> list[str]:
    """GET /subjects. A subject is deleted when all its versions are."""
    is_meant = _begins_with(prefix)

    def is_shown(subject: str) -> bool:
        is_deleted = all(schema.deleted for schema in state.schemas[subject].values())
        return is_deleted if deleted_only else deleted or not is_deleted

    found = sorted(subject for subject in state.schemas if is_meant(subject) and is_shown(subject))
    return _page(found, rules.subject_limits, offset, limit)


def list_versions(
    state: RegistryState,
    rules: RegistryRules,
    subject: str,
    *,
    deleted: bool = False,
    deleted_only: bool = False,
    deleted_as_negative: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> list[int]:
    """GET /subjects/{subject}/versions."""
    subject = normalize_subject(subject)
    if not state.has_subjects(subject, deleted=deleted or deleted_only):
        raise errors.subject_not_found(subject)
    schemas = state.schemas.get(subject, {}).values()
    if deleted_as_negative:
        found = [-schema.version if schema.deleted else schema.version for schema in schemas]
    elif deleted_only:
        found = [schema.version for schema in schemas if schema.deleted]
    else:
        found = [schema.version for schema in schemas if deleted or not schema.deleted]
    return _page(found, rules.subject_version_limits, offset, limit)


def list_schemas(
    state: RegistryState,
    rules: RegistryRules,
    *,
    prefix: str = "",
    aliases: bool = False,
    deleted: bool = False,
    latest_only: bool = False,
    rule_type: str = "",
    offset: int = 0,
    limit: int = -1,
) -> list[Json]:
    """GET /schemas. With aliases also the schemas that the aliases stand for, and each with its aliases."""
    is_meant = _begins_with(prefix)
    named = _aliases(state, is_meant) if aliases else {}
    subjects = {subject for subject in state.schemas if is_meant(subject)} | (
        named.keys() & state.schemas.keys()
    )
    found = [
        stored
        for subject in sorted(subjects)
        for stored in _versions_shown(state, subject, deleted=deleted, latest_only=latest_only)
        if not rule_type or contracts.has_rules_of_type(stored.rule_set, rule_type)
    ]
    return [
        {**version_answer(stored), **({"aliases": named[stored.subject]} if stored.subject in named else {})}
        for stored in _page(found, rules.schema_limits, offset, limit)
    ]


def _aliases(state: RegistryState, is_meant: Callable[[str], bool]) -> dict[str, list[str]]:
    """The names that stand for a subject."""
    found: dict[str, list[str]] = {}
    for name, config in state.configs.items():
        if name is not None and config.get("alias") and is_meant(name):
            found.setdefault(qualify_with_parent(name, config["alias"]), []).append(name)
    return found


def _versions_shown(
    state: RegistryState, subject: str, *, deleted: bool, latest_only: bool
) -> list[StoredSchema]:
    shown = [schema for schema in state.schemas[subject].values() if deleted or not schema.deleted]
    return shown[-1:] if latest_only else shown


def list_contexts(
    state: RegistryState, rules: RegistryRules, *, prefix: str = "", offset: int = 0, limit: int = -1
) -> list[str]:
    """GET /contexts."""
    found = [context for context in (DEFAULT_CONTEXT, *sorted(state.contexts)) if context.startswith(prefix)]
    return _page(found, rules.context_limits, offset, limit)


def list_schema_types(rules: RegistryRules) -> list[str]:
    """GET /schemas/types."""
    return list(rules.formats)


# ---- who uses a schema ----


def list_versions_of_id(
    state: RegistryState,
    rules: RegistryRules,
    schema_id: int,
    subject: str | None = None,
    *,
    deleted: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> list[Json]:
    """GET /schemas/ids/{id}/versions."""
    found = list(_users(state, schema_id, subject, deleted=deleted))
    page = _page(found, rules.subject_version_limits, offset, limit)
    return [{"subject": stored.subject, "version": stored.version} for stored in page]


def list_subjects_of_id(
    state: RegistryState,
    rules: RegistryRules,
    schema_id: int,
    subject: str | None = None,
    *,
    deleted: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> list[str]:
    """GET /schemas/ids/{id}/subjects."""
    found = [stored.subject for stored in _users(state, schema_id, subject, deleted=deleted)]
    return _page(found, rules.subject_limits, offset, limit)


def _users(
    state: RegistryState, schema_id: int, subject: str | None, *, deleted: bool
) -> Iterator[StoredSchema]:
    known = find_by_id(state, schema_id, subject)
    if known is None:
        raise errors.schema_not_found()
    using = state.users[context_of(known.subject), schema_id]
    for name in sorted(using):
        stored = state.schemas[name][using[name]]
        if deleted or not stored.deleted:
            yield stored


def list_referenced_by(
    state: RegistryState,
    rules: RegistryRules,
    subject: str,
    version: str | int,
    *,
    deleted: bool = False,
    offset: int = 0,
    limit: int = -1,
) -> list[int]:
    """GET /subjects/{subject}/versions/{version}/referencedby: ids. `deleted` is about those that refer."""
    referred = find_stored(state, subject, version, deleted=True)
    referring: Iterable[StoredSchema] = state.referring(referred.subject, referred.version, deleted=deleted)
    found = sorted({(context_of(stored.subject), stored.id) for stored in referring})
    return [schema_id for _, schema_id in _page(found, rules.schema_limits, offset, limit)]
