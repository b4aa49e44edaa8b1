"""Is a schema registered already? By its md5 first; then by what may differ in a schema that is still the same.

The words may differ (another registry's canonical form), a schema may be sent with its references resolved, and it may
be sent without the `confluent:version` that it was stored with.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from penstock.registry import contracts
from penstock.registry.errors import RegistryError
from penstock.registry.formats.schema_format import ParsedSchema
from penstock.registry.names import context_of
from penstock.registry.parsing import canonical_md5, canonicalize, in_contexts, parse_stored
from penstock.registry.requests import SchemaDraft
from penstock.registry.rules import RegistryRules
from penstock.registry.scopes import config_in_scope
from penstock.registry.state import RegistryState
from penstock.registry.stored import Json, StoredSchema, digest


@dataclass(frozen=True, slots=True)
class Match:
    stored: StoredSchema
    is_exact: bool


def match_in_contexts(
    state: RegistryState, rules: RegistryRules, draft: SchemaDraft, *, normalize: bool, deleted: bool
) -> Match | None:
    """Under the subject, or under its namesakes if it names no context."""
    found = match(state, rules, draft, normalize=normalize, deleted=deleted)
    namesakes = (name for name in in_contexts(state, draft.subject) if name != draft.subject)
    for subject in namesakes if found is None else ():
        try:
            found = match(state, rules, draft.in_subject(subject), normalize=normalize, deleted=deleted)
        except RegistryError:
            continue  # its references are not in that context
        if found is not None:
            break
    return found


def match(
    state: RegistryState, rules: RegistryRules, draft: SchemaDraft, *, normalize: bool, deleted: bool
) -> Match | None:
    """Also with the metadata and rules that a registration would have filled in."""
    config = config_in_scope(state, rules, draft.subject)
    found = match_as_given(state, rules, config, draft, normalize=normalize, deleted=deleted)
    if found is not None:
        return found
    latest = state.latest(draft.subject)
    if latest is None:
        return None
    filled = with_contracts(config, draft, latest, None)
    if filled == draft:
        return None
    return match_as_given(state, rules, config, filled, normalize=normalize, deleted=deleted)


def match_as_given(
    state: RegistryState,
    rules: RegistryRules,
    config: Json,
    draft: SchemaDraft,
    *,
    normalize: bool,
    deleted: bool,
    latest_only: bool = False,
) -> Match | None:
    if draft.is_empty:
        return None
    canonical, parsed = canonicalize(state, rules, config, draft, is_new=False, normalize=normalize)
    if latest_only:
        latest = state.latest(draft.subject)
        candidates = [] if latest is None else [latest]
    else:
        known = match_md5(state, canonical)
        if known is not None and (deleted or not known.deleted):
            return Match(known, is_exact=True)
        versions = state.schemas.get(draft.subject, {})
        candidates = [stored for stored in versions.values() if deleted or not stored.deleted]
    found = first_same(state, rules, canonical, parsed, reversed(candidates))
    return None if found is None else Match(found, is_exact=False)


def match_md5(state: RegistryState, canonical: SchemaDraft) -> StoredSchema | None:
    """The version of the draft's subject that has the same md5."""
    context, subject = context_of(canonical.subject), canonical.subject
    for schema_id in state.ids_of(context, canonical.md5):
        version = state.users[context, schema_id].get(subject)
        if version is not None:
            return state.schemas[subject][version]
    return None


def first_same(
    state: RegistryState,
    rules: RegistryRules,
    canonical: SchemaDraft,
    parsed: ParsedSchema,
    candidates: Iterable[StoredSchema],
) -> StoredSchema | None:
    own = digest(canonical.schema, canonical.references, None, None)
    for stored in candidates:
        is_same = canonical_md5(state, rules, stored) == own or (
            bool(stored.references and not canonical.references)
            and _is_resolved(state, rules, parsed, stored)
        )
        if is_same and stored.schema_type == canonical.schema_type and _has_same_contracts(canonical, stored):
            return stored
    return None


def _is_resolved(
    state: RegistryState, rules: RegistryRules, parsed: ParsedSchema, stored: StoredSchema
) -> bool:
    """Whether the schema is the stored one with its references put in."""
    try:
        return parse_stored(state, rules, stored).formatted("resolved") == parsed.canonical()
    except RegistryError:
        return False


def _has_same_contracts(draft: SchemaDraft, stored: StoredSchema) -> bool:
    if draft.rule_set != stored.rule_set:
        return False
    own, other = contracts.version_number(draft.metadata), contracts.version_number(stored.metadata)
    if own == other or (own is not None and other is not None):
        return draft.metadata == stored.metadata
    if own is not None and own != stored.version:
        return False
    return contracts.without_version_property(draft.metadata) == contracts.without_version_property(
        stored.metadata
    )


def with_contracts(
    config: Json, draft: SchemaDraft, previous: StoredSchema | None, new_version: int | None
) -> SchemaDraft:
    """Metadata and rules: those given, else those of the previous version, between defaults and overrides."""
    metadata, rule_set = draft.metadata, draft.rule_set
    if previous is not None:
        metadata = previous.metadata if metadata is None else metadata
        rule_set = previous.rule_set if rule_set is None else rule_set
    metadata = contracts.merge_metadata(
        contracts.merge_metadata(config.get("defaultMetadata"), metadata), config.get("overrideMetadata")
    )
    rule_set = contracts.merge_rule_sets(
        contracts.merge_rule_sets(config.get("defaultRuleSet"), rule_set), config.get("overrideRuleSet")
    )
    if new_version is not None and (draft.version or contracts.version_property(metadata) is not None):
        metadata = contracts.with_version_property(metadata, new_version)
    return draft.with_contracts(metadata, rule_set)
