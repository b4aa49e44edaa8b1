"""What the registry knows: a fold over the records of `_schemas`.

Only `replay` changes it, live and at load. Readers are answered from this state, so they see what is committed and
nothing else.

The leader has to decide on more than that: a second registration that comes while the first is still on its way to the
log must see the first one's id and version. `overlay()` gives a state that lies over this one. Decisions are made on
the overlay and replayed into it at once, while what lies below keeps following the log:

    pending = state.overlay()
    decision = decide_register(pending, ...)
    pending.apply(decision.records)          # the next decision sees it
    ...                                      # write the records of the batch in one transaction
    ...                                      # the reader replays them into `state`: answer, and drop `pending`

If the write fails, `pending` is dropped with all that was decided on it, and nobody has seen any of it. Every decision
made on that overlay is to be failed or made again, for a later one may stand on an earlier one. `burn_ids` keeps the
ids of such a batch from being given again by this leader: they may lie in an aborted transaction, which a reader that
does not care for transactions still sees. Before anything is decided anew the writer has to be sure of the outcome:
it fences its own past with init_transactions and reads up to the end of the log.

An id belongs to a context. It is given once, and not again as long as any record in the log has it.

A value in the maps is never changed, only replaced; that is what lets an overlay share them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import replace
from typing import TypeAlias, TypeVar

from penstock.registry import stored
from penstock.registry.layered import LayeredMapping
from penstock.registry.names import context_of, is_context, is_covered_by, qualify_with_parent
from penstock.registry.stored import Json, MalformedRecord, Record, StoredSchema

K = TypeVar("K")
V = TypeVar("V")
ContextId: TypeAlias = tuple[str, int]
SubjectVersion: TypeAlias = tuple[str, int]


class RegistryState:
    def __init__(self) -> None:
        self.schemas: MutableMapping[str, Mapping[int, StoredSchema]] = {}
        """By subject, then by version; versions ascend."""
        self.users: MutableMapping[ContextId, Mapping[str, int]] = {}
        """Which subjects have the schema of an id, and as which version."""
        self.ids: MutableMapping[tuple[str, bytes], Mapping[int, int]] = {}
        """By context and md5: under which ids it is registered, and how many versions have it so. More than one id
        comes from imports only."""
        self.referrers: MutableMapping[SubjectVersion, frozenset[SubjectVersion]] = {}
        self.max_ids: MutableMapping[str, int] = {}
        self.configs: MutableMapping[str | None, Json] = {}
        self.modes: MutableMapping[str | None, str] = {}
        self.contexts: MutableMapping[str, None] = {}
        """Those that have a record of their own: all but the default one."""
        self.next_offset = 0
        """All records before this offset have been replayed."""

    def overlay(self) -> RegistryState:
        above = RegistryState()
        above.schemas = LayeredMapping(self.schemas)
        above.users = LayeredMapping(self.users)
        above.ids = LayeredMapping(self.ids)
        above.referrers = LayeredMapping(self.referrers)
        above.max_ids = LayeredMapping(self.max_ids)
        above.configs = LayeredMapping(self.configs)
        above.modes = LayeredMapping(self.modes)
        above.contexts = LayeredMapping(self.contexts)
        above.next_offset = self.next_offset
        return above

    def apply(self, records: Iterable[Record]) -> None:
        """Replays what was decided and is not written yet. It was made here, so it makes sense."""
        for key, value in records:
            problem = self.replay(key, value, self.next_offset)
            assert problem is None, problem

    def burn_ids(self, dropped: RegistryState) -> None:
        for context, max_id in dropped.max_ids.items():
            self.max_ids[context] = max(max_id, self.max_ids.get(context, 0))

    # ---- replay ----

    def replay(
        self, key: bytes, value: bytes | None, offset: int, timestamp_ms: int | None = None
    ) -> str | None:
        """Takes one record of the log in. What cannot be taken in is skipped, and the answer says why."""
        self.next_offset = offset + 1
        try:
            return self._replay(stored.decode_key(key), value, timestamp_ms)
        except MalformedRecord as problem:
            return f"offset {offset}: {problem}"

    def _replay(self, key: stored.Key, value: bytes | None, timestamp_ms: int | None) -> str | None:
        match key:
            case stored.SchemaKey():
                return self._replay_schema(key, value, timestamp_ms)
            case stored.ConfigKey():
                _put(self.configs, key.subject, None if value is None else stored.decode_config(value))
            case stored.ModeKey():
                _put(self.modes, key.subject, None if value is None else stored.decode_mode(value))
            case stored.ContextKey() if value is None:
                self.contexts.pop(key.context, None)
            case stored.ContextKey():
                self.contexts[key.context] = None
            case stored.DeleteSubjectKey() if value is not None:
                self._replay_deleted_subject(stored.decode_deleted_subject(value))
            case stored.ClearSubjectKey() if value is not None:
                self._clear_deleted(key.subject)
        return None

    def _replay_schema(
        self, key: stored.SchemaKey, value: bytes | None, timestamp_ms: int | None
    ) -> str | None:
        if value is None:
            self._forget(key.subject, key.version)
            return None
        schema = replace(stored.decode_schema(value, timestamp_ms), subject=key.subject, version=key.version)
        context = context_of(schema.subject)
        other = self.schema_of_id(context, schema.id)
        if other is not None and other.schema != schema.schema:
            return (
                f"subject {schema.subject!r} version {schema.version} has id {schema.id}, "
                f"which is another schema already: the record is skipped"
            )
        self._remember(context, schema)
        return None

    def _remember(self, context: str, schema: StoredSchema) -> None:
        at = (schema.subject, schema.version)
        self._forget(*at)
        self.schemas[schema.subject] = _with_version(self.schemas.get(schema.subject, {}), schema)
        self._count(context, schema, 1)
        self.max_ids[context] = max(schema.id, self.max_ids.get(context, 1))
        for target in self._targets(schema):
            self.referrers[target] = self.referrers.get(target, frozenset()) | {at}
        using = self.users.get((context, schema.id), {})
        if schema.subject in using:
            self._find_users(schema.subject, {schema.id})
        else:
            self.users[context, schema.id] = {**using, schema.subject: schema.version}

    def _forget(self, subject: str, version: int) -> None:
        versions = self.schemas.get(subject, {})
        schema = versions.get(version)
        if schema is None:
            return
        kept = {each: versions[each] for each in versions if each != version}
        _put(self.schemas, subject, kept or None)
        self._count(context_of(subject), schema, -1)
        for target in self._targets(schema):
            _put(self.referrers, target, (self.referrers[target] - {(subject, version)}) or None)
        self._find_users(subject, {schema.id})

    def _count(self, context: str, schema: StoredSchema, difference: int) -> None:
        counts = dict(self.ids.get((context, schema.md5), {}))
        _put(counts, schema.id, (counts.get(schema.id, 0) + difference) or None)
        _put(self.ids, (context, schema.md5), counts or None)

    def _find_users(self, subject: str, schema_ids: set[int]) -> None:
        """A subject may have a schema as several versions; the one that counts is live if any is, and the highest."""
        context, counting = context_of(subject), dict[int, StoredSchema]()
        for schema in self.schemas.get(subject, {}).values():
            other = counting.get(schema.id)
            if schema.id in schema_ids and (other is None or other.deleted or not schema.deleted):
                counting[schema.id] = schema
        for schema_id in schema_ids:
            using = dict(self.users.get((context, schema_id), {}))
            found = counting.get(schema_id)
            _put(using, subject, None if found is None else found.version)
            _put(self.users, (context, schema_id), using or None)

    def _replay_deleted_subject(self, deleted: stored.DeletedSubject) -> None:
        versions = self.schemas.get(deleted.subject)
        if versions is None:
            return
        self.schemas[deleted.subject] = {
            version: replace(schema, deleted=True) if version <= deleted.version else schema
            for version, schema in versions.items()
        }
        self._find_users(deleted.subject, {schema.id for schema in versions.values()})

    def _clear_deleted(self, scope: str | None) -> None:
        doomed = [
            (subject, version)
            for subject in self.subjects(scope)
            for version, schema in self.schemas[subject].items()
            if schema.deleted
        ]
        for subject, version in doomed:
            self._forget(subject, version)

    def _targets(self, schema: StoredSchema) -> Iterator[SubjectVersion]:
        for reference in schema.references:
            yield qualify_with_parent(schema.subject, reference.subject), reference.version

    # ---- what decisions and lookups ask ----

    def version(self, subject: str, version: int, *, deleted: bool) -> StoredSchema | None:
        """-1 is the latest one that is not deleted."""
        if version == -1:
            return self.latest(subject)
        schema = self.schemas.get(subject, {}).get(version)
        return schema if schema is not None and (deleted or not schema.deleted) else None

    def latest(self, subject: str) -> StoredSchema | None:
        versions = list(self.schemas.get(subject, {}).values())
        return next((schema for schema in reversed(versions) if not schema.deleted), None)

    def subjects(self, scope: str | None) -> Iterator[str]:
        """Those that a subject, a context or None (all of them) covers."""
        if scope is None or is_context(scope):
            yield from (subject for subject in list(self.schemas) if is_covered_by(scope, subject))
        elif scope in self.schemas:
            yield scope

    def has_subjects(self, scope: str | None, *, deleted: bool) -> bool:
        return any(
            deleted or not schema.deleted
            for subject in self.subjects(scope)
            for schema in self.schemas[subject].values()
        )

    def ids_of(self, context: str, md5: bytes) -> list[int]:
        return sorted(self.ids.get((context, md5), ()), reverse=True)

    def schema_of_id(self, context: str, schema_id: int) -> StoredSchema | None:
        for subject, version in self.users.get((context, schema_id), {}).items():
            return self.schemas[subject][version]
        return None

    def referring(self, subject: str, version: int, *, deleted: bool) -> list[StoredSchema]:
        found = (self.schemas[at][number] for at, number in self.referrers.get((subject, version), ()))
        return [schema for schema in found if deleted or not schema.deleted]

    def next_id(self, context: str) -> int:
        candidate = self.max_ids.get(context, 0) + 1
        while (context, candidate) in self.users:
            candidate += 1
        return candidate


def _put(mapping: MutableMapping[K, V], key: K, value: V | None) -> None:
    if value is None:
        mapping.pop(key, None)
    else:
        mapping[key] = value


def _with_version(versions: Mapping[int, StoredSchema], schema: StoredSchema) -> Mapping[int, StoredSchema]:
    extended = {**versions, schema.version: schema}
    is_in_order = schema.version in versions or not versions or schema.version > max(versions)
    return extended if is_in_order else {number: extended[number] for number in sorted(extended)}
