"""Deleting versions, subjects and contexts: softly first, then for good, never what others refer to."""

from __future__ import annotations

from dataclasses import replace

from penstock.registry import errors, stored
from penstock.registry.decisions import Decision, check_writable
from penstock.registry.names import context_of, normalize_context, normalize_subject
from penstock.registry.requests import read_version
from penstock.registry.state import RegistryState
from penstock.registry.stored import Record, StoredSchema


def decide_delete_version(
    state: RegistryState, subject: str, version: str | int, *, permanent: bool = False
) -> Decision:
    """DELETE /subjects/{subject}/versions/{version}; the answer is the version."""
    subject = normalize_subject(subject)
    schema = _version_to_delete(state, subject, read_version(version), permanent=permanent)
    check_writable(state, subject)
    if state.referring(subject, schema.version, deleted=permanent):
        raise errors.reference_exists(subject, schema.version)
    if not permanent:
        record = (_key(schema), stored.encode_schema(replace(schema, deleted=True)))
        return Decision((record,), schema.version)
    if not schema.deleted:
        raise errors.version_not_soft_deleted(subject, schema.version)
    is_last = len(state.schemas[subject]) == 1
    settings = _settings_records(state, subject) if is_last else ()
    return Decision(((_key(schema), None), *settings), schema.version)


def _version_to_delete(state: RegistryState, subject: str, version: int, *, permanent: bool) -> StoredSchema:
    schema = state.version(subject, version, deleted=True)
    if schema is not None:
        if schema.deleted and not permanent:
            raise errors.version_soft_deleted(subject, version)
        return schema
    if state.has_subjects(subject, deleted=True):
        raise errors.version_not_found(version)
    raise errors.subject_not_found(subject)


def decide_delete_subject(state: RegistryState, subject: str, *, permanent: bool = False) -> Decision:
    """DELETE /subjects/{subject}; the answer is the list of its versions."""
    subject = normalize_subject(subject)
    versions = state.schemas.get(subject)
    if versions is None:
        raise errors.subject_not_found(subject)
    if not permanent and all(schema.deleted for schema in versions.values()):
        raise errors.subject_soft_deleted(subject)
    check_writable(state, subject)
    doomed = [schema for schema in versions.values() if permanent or not schema.deleted]
    for schema in doomed:
        _check_deletable(state, schema, permanent=permanent)
    numbers = [schema.version for schema in doomed]
    if permanent:
        records = [(_key(schema), None) for schema in reversed(doomed)]
        return Decision((*records, *_settings_records(state, subject)), numbers)
    key = stored.encode_key(stored.DeleteSubjectKey(subject))
    return Decision(((key, stored.encode_deleted_subject(subject, numbers[-1])),), numbers)


def _check_deletable(state: RegistryState, schema: StoredSchema, *, permanent: bool) -> None:
    """Versions of the same subject may refer to one another: they go together."""
    referring = state.referring(schema.subject, schema.version, deleted=permanent)
    if any(other.subject != schema.subject for other in referring):
        raise errors.reference_exists(schema.subject, schema.version)
    if permanent and not schema.deleted:
        raise errors.subject_not_soft_deleted(schema.subject)


def decide_delete_context(state: RegistryState, context: str) -> Decision:
    """DELETE /contexts/{context}, which has no answer."""
    try:
        delimited = normalize_context(context)
    except ValueError as problem:
        raise errors.bad_request(str(problem)) from None
    if state.has_subjects(delimited, deleted=True):
        raise errors.context_not_empty(delimited)
    return Decision(((stored.encode_key(stored.ContextKey(context_of(delimited))), None),), None)


def _settings_records(state: RegistryState, subject: str) -> tuple[Record, ...]:
    """Mode and config go with the last version."""
    records: list[Record] = []
    if subject in state.modes:
        records.append((stored.encode_key(stored.ModeKey(subject)), None))
    if subject in state.configs:
        records.append((stored.encode_key(stored.ConfigKey(subject)), None))
    return tuple(records)


def _key(schema: StoredSchema) -> bytes:
    return stored.encode_key(stored.SchemaKey(schema.subject, schema.version))
