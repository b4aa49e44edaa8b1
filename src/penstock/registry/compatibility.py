"""May a schema follow those before it? The levels, and the words in which Confluent's registry says why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from penstock.bounded_patterns import UnboundedPattern
from penstock.registry import contracts, errors
from penstock.registry.contracts import Metadata
from penstock.registry.formats.effort import TooMuchEffort, limited_effort
from penstock.registry.formats.schema_format import Incompatibility, ParsedSchema
from penstock.registry.parsing import parse_stored, top_level_fields
from penstock.registry.requests import SchemaDraft
from penstock.registry.rules import RegistryRules
from penstock.registry.scopes import validates_fields
from penstock.registry.state import RegistryState
from penstock.registry.stored import Json, StoredSchema

MAX_SHOWN_SCHEMA_LENGTH = 10 * 1024


@dataclass(frozen=True, slots=True)
class Level:
    reads_old: bool
    """The new schema has to read what the old one wrote."""
    is_read_by_old: bool
    is_transitive: bool
    """With regard to all versions, not the latest one only."""


LEVELS = {
    "NONE": Level(reads_old=False, is_read_by_old=False, is_transitive=False),
    "BACKWARD": Level(reads_old=True, is_read_by_old=False, is_transitive=False),
    "BACKWARD_TRANSITIVE": Level(reads_old=True, is_read_by_old=False, is_transitive=True),
    "FORWARD": Level(reads_old=False, is_read_by_old=True, is_transitive=False),
    "FORWARD_TRANSITIVE": Level(reads_old=False, is_read_by_old=True, is_transitive=True),
    "FULL": Level(reads_old=True, is_read_by_old=True, is_transitive=False),
    "FULL_TRANSITIVE": Level(reads_old=True, is_read_by_old=True, is_transitive=True),
}

STRICT, LENIENT = "STRICT", "LENIENT"
"""Policies: LENIENT takes it that nobody writes what an open JSON Schema does not name."""
DIFFERENT_TYPE = "Incompatible because of different schema type"
_WORDINGS: dict[str, Callable[[str, str, str], str]] = {
    "AVRO": lambda kind, text, info: f"{{errorType:'{kind}', description:'{text}', additionalInfo:'{info}'}}",
    "JSON": lambda kind, text, info: f'{{errorType:"{kind}", description:"{text}\'}}',
    "PROTOBUF": lambda kind, text, info: f'{{errorType:"{kind}", description:"{text}"}}',
}
"""Each format's own, quotes included."""


@dataclass(frozen=True, slots=True)
class Pairs:
    """How a new schema is compared with an old one."""

    level: Level
    is_lenient: bool

    def reasons(self, new: ParsedSchema, old: ParsedSchema, stored: StoredSchema) -> Iterator[str]:
        if new.schema_type != old.schema_type:
            yield DIFFERENT_TYPE
            return
        by_old = self._unreadable(old, new) if self.level.is_read_by_old else []
        by_new = self._unreadable(new, old) if self.level.reads_old else []
        yield from (_worded(new.schema_type, each, "old", "new") for each in by_old)
        yield from (_worded(new.schema_type, each, "new", "old") for each in by_new)
        if by_new or (by_old and not self.level.reads_old):
            yield f"{{oldSchemaVersion: {stored.version}}}"
            yield _shown_schema(old.canonical())

    def _unreadable(self, reader: ParsedSchema, writer: ParsedSchema) -> list[Incompatibility]:
        try:
            return reader.incompatibilities_with(writer, is_lenient=self.is_lenient)
        except (TooMuchEffort, UnboundedPattern) as error:
            raise errors.invalid_schema(f"Schemas could not be compared: {error}") from None


def reasons_against(
    state: RegistryState,
    rules: RegistryRules,
    config: Json,
    draft: SchemaDraft,
    parsed: ParsedSchema,
    previous: Sequence[StoredSchema],
) -> list[str]:
    """Why the draft may not follow the previous versions, which ascend; none if it may."""
    level_name = config["compatibilityLevel"]
    checks_fields = validates_fields(rules, config)
    reasons: list[str] = []
    if checks_fields:
        reasons += _reserved_field_reasons(draft, parsed, previous[-1] if previous else None)
    pairs = Pairs(LEVELS[level_name], is_lenient=config.get("compatibilityPolicy") == LENIENT)
    with limited_effort():
        reasons += _level_reasons(state, rules, pairs, parsed, _in_group(config, draft, previous))
    if reasons:
        shown = "true" if checks_fields else "false"
        reasons.append(f"{{validateFields: '{shown}', compatibility: '{level_name}'}}")
    return reasons


def _in_group(config: Json, draft: SchemaDraft, previous: Sequence[StoredSchema]) -> Sequence[StoredSchema]:
    group = config.get("compatibilityGroup")
    if group is None:
        return previous
    own = _property(draft.metadata, group)
    return [stored for stored in previous if _property(stored.metadata, group) == own]


def _property(metadata: Metadata | None, name: str) -> str | None:
    value: str | None = (metadata or {}).get("properties", {}).get(name)
    return value


def _level_reasons(
    state: RegistryState,
    rules: RegistryRules,
    pairs: Pairs,
    parsed: ParsedSchema,
    previous: Sequence[StoredSchema],
) -> list[str]:
    """Of the latest version that it does not go with."""
    level = pairs.level
    if not (level.reads_old or level.is_read_by_old):
        return []
    compared = previous if level.is_transitive else previous[-1:]
    for stored in reversed(compared):
        old = parse_stored(state, rules, stored)
        reasons = list(pairs.reasons(parsed, old, stored))
        if reasons:
            return reasons
    return []


def _worded(schema_type: str, reason: Incompatibility, reader: str, writer: str) -> str:
    description = reason.message.replace("%s", reader, 1).replace("%s", writer, 1)
    return _WORDINGS[schema_type](reason.kind, description, reason.info)


def _shown_schema(text: str) -> str:
    if len(text) <= MAX_SHOWN_SCHEMA_LENGTH:
        return f"{{oldSchema: '{text}'}}"
    return f"{{oldSchema: <truncated> '{text[:MAX_SHOWN_SCHEMA_LENGTH]}...'}}"


def _reserved_field_reasons(
    draft: SchemaDraft, parsed: ParsedSchema, latest: StoredSchema | None
) -> Iterator[str]:
    reserved = contracts.reserved_fields(draft.metadata)
    before = contracts.reserved_fields(latest.metadata) if latest else set()
    for name in sorted(before - reserved):
        yield (
            f"The new schema has reserved field {name} removed from its metadata which is present "
            "in the old schema's metadata."
        )
    for name in sorted(reserved & top_level_fields(parsed)):
        yield f"The new schema has field that conflicts with the reserved field {name}."
