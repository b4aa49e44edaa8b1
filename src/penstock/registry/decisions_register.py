"""Registering a schema: the same schema keeps its id and version, a new one gets the next ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from penstock.registry import contracts, errors, stored
from penstock.registry.answers import registered_answer, stored_from, version_answer
from penstock.registry.compatibility import reasons_against
from penstock.registry.decisions import Decision, check_writable, wrong_mode
from penstock.registry.formats.schema_format import ParsedSchema
from penstock.registry.matching import Match, first_same, match_as_given, with_contracts
from penstock.registry.names import (
    DEFAULT_CONTEXT,
    context_of,
    is_valid_subject,
    normalize_subject,
    qualified_context_of,
)
from penstock.registry.parsing import canonicalize, invalid_schema, parse_stored
from penstock.registry.requests import LATEST, UNASSIGNED_ID, UNASSIGNED_VERSION, SchemaDraft, read_schema
from penstock.registry.rules import RegistryRules
from penstock.registry.scopes import (
    config_in_scope,
    has_defaults_or_overrides,
    is_importing,
    mode_in_scope,
    validates_new_schemas,
)
from penstock.registry.state import RegistryState
from penstock.registry.stored import Json, Record, StoredSchema
from penstock.registry.tagging import retagged


def decide_register(
    state: RegistryState,
    rules: RegistryRules,
    subject: str,
    body: Json,
    *,
    normalize: bool = False,
    force: bool = False,
    format_name: str = "",
) -> Decision:
    """POST /subjects/{subject}/versions. `force` skips the check of compatibility."""
    known = find_registered(state, rules, subject, body, normalize=normalize, format_name=format_name)
    if known is not None:
        return Decision((), known)
    draft = _read(rules, subject, body)
    config = config_in_scope(state, rules, draft.subject)
    registration = _Registration(state, rules, config, mode_in_scope(state, draft.subject), force)
    records, registered = registration.decide(draft, normalize=normalize or _normalizes(config))
    return Decision(records, _answer(state, rules, Match(registered, is_exact=True), format_name))


def find_registered(
    state: RegistryState,
    rules: RegistryRules,
    subject: str,
    body: Json,
    *,
    normalize: bool = False,
    format_name: str = "",
) -> Json | None:
    """The answer for a schema that is registered already: no leader is needed for it, nor a mode that lets write."""
    draft = _read(rules, subject, body)
    config = config_in_scope(state, rules, draft.subject)
    if has_defaults_or_overrides(config) or draft.tag_changes.are_asked_for:
        return None
    if not draft.is_empty:
        draft = retagged(state, rules, draft, state.latest(draft.subject))
    found = match_as_given(
        state,
        rules,
        config,
        draft,
        normalize=normalize or _normalizes(config),
        deleted=False,
        latest_only=draft.version == LATEST,
    )
    found = None if found is None else _as_asked(state, draft, found)
    return None if found is None else _answer(state, rules, found, format_name)


def _read(rules: RegistryRules, subject: str, body: Json) -> SchemaDraft:
    draft = read_schema(normalize_subject(subject), body)
    contracts.check_rule_set(draft.rule_set)
    if not is_valid_subject(subject, allows_empty=not rules.reject_empty_subject):
        raise errors.invalid_subject(subject)
    return draft


def _check_characters(canonical: SchemaDraft) -> None:
    """An escape in a schema's own JSON may be of half a surrogate pair, which no answer could have in it as it is."""
    try:
        canonical.schema.encode()
    except UnicodeEncodeError as error:
        half = f"\\u{ord(canonical.schema[error.start]):04x}"
        raise invalid_schema(
            canonical.schema_type, f"half of a surrogate pair ({half}) is no character"
        ) from None


def _normalizes(config: Json) -> bool:
    return config.get("normalize") is True


def _as_asked(state: RegistryState, draft: SchemaDraft, found: Match) -> Match | None:
    """Where an id or a version is asked for, only what has them will do."""
    if draft.version in (UNASSIGNED_VERSION, LATEST):
        return found if draft.id < 0 or draft.id == found.stored.id else None
    if found.stored.id != draft.id:
        return None
    if found.stored.version == draft.version:
        return found
    other = state.version(draft.subject, draft.version, deleted=False)
    is_same = other is not None and (other.id, other.md5) == (found.stored.id, found.stored.md5)
    return Match(other, is_exact=False) if other is not None and is_same else None


def _answer(state: RegistryState, rules: RegistryRules, found: Match, format_name: str) -> Json:
    schema = parse_stored(state, rules, found.stored).formatted(format_name) if format_name.strip() else None
    return registered_answer(version_answer(found.stored, schema=schema, is_echo=found.is_exact))


@dataclass(frozen=True, slots=True)
class _Registration:
    state: RegistryState
    rules: RegistryRules
    config: Json
    mode: str
    force: bool

    def decide(self, draft: SchemaDraft, *, normalize: bool) -> tuple[tuple[Record, ...], StoredSchema]:
        """For a draft that `find_registered` has not found as it is."""
        self._check_mode(draft)
        versions = list(self.state.schemas.get(draft.subject, {}).values())
        live = [version for version in versions if not version.deleted]
        new_version = versions[-1].version + 1 if versions else 1
        asked = draft
        if not is_importing(self.mode):
            draft = self._filled(draft, live[-1] if live else None, new_version)
        if draft.is_empty:
            raise errors.invalid_schema("Empty schema")
        is_new = draft.id < 0 and validates_new_schemas(self.rules, self.config)
        canonical, parsed = canonicalize(
            self.state, self.rules, self.config, draft, is_new=is_new, normalize=normalize
        )
        _check_characters(canonical)
        is_searched = draft == asked and draft.id < 0 and not has_defaults_or_overrides(self.config)
        same = None if is_searched else self._registered(canonical, parsed, draft.id, live)
        if same is not None:
            return (), stored_from(canonical, same.version, same.id)
        self._check_compatible(canonical, parsed, live)
        return self._records(canonical, self._known_id(canonical, draft.id), new_version, versions)

    def _check_mode(self, draft: SchemaDraft) -> None:
        check_writable(self.state, draft.subject)
        if draft.id >= 0 and not is_importing(self.mode):
            raise wrong_mode(draft.subject, "not in import mode")
        if draft.id < 0 and self.mode != "READWRITE":
            raise wrong_mode(draft.subject, "not in read-write mode")

    def _filled(self, draft: SchemaDraft, latest: StoredSchema | None, new_version: int) -> SchemaDraft:
        if draft.is_empty and latest is not None:
            draft = replace(
                draft, schema=latest.schema, schema_type=latest.schema_type, references=latest.references
            )
        draft = retagged(self.state, self.rules, draft, latest)
        return with_contracts(self.config, draft, latest, new_version)

    def _known_id(self, canonical: SchemaDraft, asked: int) -> int:
        """The id asked for, else the one that the schema has in this context."""
        known = self.state.ids_of(context_of(canonical.subject), canonical.md5)
        return known[0] if known and asked < 0 else asked

    def _registered(
        self, canonical: SchemaDraft, parsed: ParsedSchema, asked: int, live: list[StoredSchema]
    ) -> StoredSchema | None:
        if canonical.version != UNASSIGNED_VERSION:
            return None
        candidates = [version for version in reversed(live) if asked in (UNASSIGNED_ID, version.id)]
        md5 = canonical.md5
        exact = next((version for version in candidates if version.md5 == md5), None)
        return exact or first_same(self.state, self.rules, canonical, parsed, candidates)

    def _check_compatible(
        self, canonical: SchemaDraft, parsed: ParsedSchema, live: list[StoredSchema]
    ) -> None:
        if self.force or is_importing(self.mode):
            return
        reasons = reasons_against(self.state, self.rules, self.config, canonical, parsed, live)
        if reasons:
            raise errors.incompatible_schema(canonical.subject, reasons)

    def _records(
        self, canonical: SchemaDraft, schema_id: int, new_version: int, versions: list[StoredSchema]
    ) -> tuple[tuple[Record, ...], StoredSchema]:
        version = self._version(canonical.version, new_version)
        if schema_id >= 0:
            self._check_id_is_free(canonical, schema_id)
        else:
            schema_id = self.state.next_id(context_of(canonical.subject))
        registered = stored_from(canonical, version, schema_id)
        replaced = self._replaced(registered, versions)
        key = stored.encode_key(stored.SchemaKey(registered.subject, version))
        record = (key, stored.encode_schema(registered))
        return (*self._context_records(canonical.subject), *replaced, record), registered

    def _version(self, asked: int, new_version: int) -> int:
        if asked <= 0:
            return new_version
        if asked != new_version and not is_importing(self.mode):
            raise errors.invalid_schema("Version is not one more than previous version")
        return asked

    def _check_id_is_free(self, canonical: SchemaDraft, schema_id: int) -> None:
        other = self.state.schema_of_id(context_of(canonical.subject), schema_id)
        if other is None:
            return
        own = (canonical.schema_type, canonical.md5, canonical.schema)
        if own != (other.schema_type, other.md5, other.schema):
            raise errors.not_permitted(
                f"Overwrite new schema with id {schema_id} in context "
                f"{qualified_context_of(canonical.subject)} is not permitted."
            )

    def _context_records(self, subject: str) -> tuple[Record, ...]:
        context = context_of(subject)
        if context == DEFAULT_CONTEXT or context in self.state.contexts:
            return ()
        return ((stored.encode_key(stored.ContextKey(context)), stored.encode_context(context)),)

    def _replaced(self, registered: StoredSchema, versions: list[StoredSchema]) -> tuple[Record, ...]:
        """Deleted versions of the same id go for good, unless something refers to them."""
        return tuple(
            (stored.encode_key(stored.SchemaKey(old.subject, old.version)), None)
            for old in versions
            if old.deleted
            and old.id == registered.id
            and old.version < registered.version
            and not self.state.referring(old.subject, old.version, deleted=True)
        )
