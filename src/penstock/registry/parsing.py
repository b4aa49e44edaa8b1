"""From the text of a schema to a parsed one, with the schemas it refers to."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace

from penstock.registry import errors
from penstock.registry.errors import RegistryError
from penstock.registry.formats.schema_format import InvalidSchema, ParsedSchema
from penstock.registry.names import DEFAULT_CONTEXT, QualifiedSubject, qualify, qualify_with_parent
from penstock.registry.requests import LATEST, SchemaDraft
from penstock.registry.rules import RegistryRules
from penstock.registry.scopes import is_importing, mode_in_scope, validates_fields
from penstock.registry.state import RegistryState
from penstock.registry.stored import Json, Reference, StoredSchema, digest

MAX_CANONICAL_MD5S = 100_000


def canonicalize(
    state: RegistryState,
    rules: RegistryRules,
    config: Json,
    draft: SchemaDraft,
    *,
    is_new: bool,
    normalize: bool,
) -> tuple[SchemaDraft, ParsedSchema]:
    """The draft as it would be stored: canonical text, and versions for references to the latest."""
    mode = mode_in_scope(state, draft.subject)
    references, texts = resolve_references(state, draft, is_new=is_new)
    parsed = _parse(rules, draft.schema_type, draft.schema, texts, is_new=is_new)
    if not is_importing(mode):
        if validates_fields(rules, config):
            _check_field_names(parsed)
        parsed = _normalized(parsed) if normalize else parsed
    canonical = replace(
        draft,
        schema=parsed.canonical(),
        references=references,
        id=draft.id if mode == "IMPORT" else -1,
    )
    return canonical, parsed


def parse_stored(state: RegistryState, rules: RegistryRules, stored: StoredSchema) -> ParsedSchema:
    return parse_draft(
        state, rules, SchemaDraft(stored.subject, stored.schema, stored.schema_type, stored.references)
    )


def parse_draft(state: RegistryState, rules: RegistryRules, draft: SchemaDraft) -> ParsedSchema:
    """As leniently as what is stored."""
    _, texts = resolve_references(state, draft, is_new=False)
    return _parse(rules, draft.schema_type, draft.schema, texts, is_new=False)


def _parse(
    rules: RegistryRules, schema_type: str, text: str, references: dict[str, str], *, is_new: bool
) -> ParsedSchema:
    format_ = rules.formats.get(schema_type)
    if format_ is None:
        raise errors.invalid_schema(f"Invalid schema type {schema_type}")
    try:
        return rules.parsed.get(
            (schema_type, text, *references.items(), is_new),
            lambda: format_.parse(text, references, is_new=is_new),
        )
    except InvalidSchema as problem:
        raise invalid_schema(schema_type, str(problem)) from None


def _normalized(parsed: ParsedSchema) -> ParsedSchema:
    try:
        return parsed.normalized()
    except InvalidSchema as problem:
        raise invalid_schema(parsed.schema_type, str(problem)) from None


def _check_field_names(parsed: ParsedSchema) -> None:
    if parsed.schema_type == "JSON" and any(name.startswith("$$") for name in top_level_fields(parsed)):
        raise invalid_schema("JSON", "Field names cannot start with $$ prefix")


def top_level_fields(parsed: ParsedSchema) -> set[str]:
    read = _TOP_LEVEL_FIELDS.get(parsed.schema_type)
    root = {} if read is None else json.loads(parsed.formatted("resolved"))
    return read(root) if read is not None and isinstance(root, dict) else set()


_TOP_LEVEL_FIELDS: dict[str, Callable[[Json], set[str]]] = {
    "AVRO": lambda root: {field["name"] for field in root.get("fields", ())},
    "JSON": lambda root: set(root.get("properties", ())),
}


def invalid_schema(schema_type: str, details: str) -> RegistryError:
    return errors.invalid_schema(f"Invalid schema of type {schema_type}, details: {details}")


def resolve_references(
    state: RegistryState, draft: SchemaDraft, *, is_new: bool
) -> tuple[tuple[Reference, ...], dict[str, str]]:
    """The references with their versions, and the text of all that is referred to, the innermost first."""
    if not draft.references:
        return (), {}
    texts: dict[str, str] = {}
    visited: set[str] = set()
    resolved = []
    for reference in draft.references:
        target = _referred(state, draft, reference, is_new=is_new)
        resolved.append(replace(reference, version=target.version))
        _collect(state, reference, target, texts, visited, is_new=is_new)
    return tuple(resolved), texts


def _collect(
    state: RegistryState,
    reference: Reference,
    target: StoredSchema,
    texts: dict[str, str],
    visited: set[str],
    *,
    is_new: bool,
) -> None:
    if reference.name in visited:
        return
    visited.add(reference.name)
    inner = SchemaDraft(target.subject, schema_type=target.schema_type, references=target.references)
    for deeper in target.references:
        found = _referred(state, inner, deeper, is_new=is_new)
        _collect(state, deeper, found, texts, visited, is_new=is_new)
    texts[reference.name] = target.schema


def _referred(
    state: RegistryState, draft: SchemaDraft, reference: Reference, *, is_new: bool
) -> StoredSchema:
    """What is new may not refer to what is deleted."""
    subject = qualify_with_parent(draft.subject, reference.subject)
    if reference.version == LATEST or reference.version > 0:
        found = find_version(state, subject, reference.version, deleted=not is_new)
        if found is not None:
            return found
    raise invalid_schema(
        draft.schema_type,
        f'No schema reference found for subject "{subject}" and version {reference.version}',
    )


def find_version(state: RegistryState, subject: str, version: int, *, deleted: bool) -> StoredSchema | None:
    """In the subject; a subject without a context is looked for in the other contexts too."""
    for candidate in in_contexts(state, subject):
        found = state.version(candidate, version, deleted=deleted)
        if found is not None:
            return found
    return None


def in_contexts(state: RegistryState, subject: str) -> Iterator[str]:
    """The subject; if it is in the default context, also its namesakes in the others."""
    yield subject
    own = qualify(subject)
    if own.context == DEFAULT_CONTEXT:
        for context in sorted(state.contexts):
            yield str(QualifiedSubject(context, own.subject))


def canonical_md5(state: RegistryState, rules: RegistryRules, stored: StoredSchema) -> bytes:
    """Of text and references. Other registries, and older ones, may have put the same schema into other words."""
    known = rules.canonical_md5s.get(stored.md5)
    if known is None:
        try:
            text = parse_stored(state, rules, stored).canonical()
        except RegistryError:
            text = stored.schema
        known = digest(text, stored.references, None, None)
        if len(rules.canonical_md5s) >= MAX_CANONICAL_MD5S:
            rules.canonical_md5s.clear()
        rules.canonical_md5s[stored.md5] = known
    return known
