"""Bodies of requests: from JSON, with a word on each member that is of the wrong kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from penstock.registry import contracts, errors
from penstock.registry.contracts import Metadata, RuleSet
from penstock.registry.formats.schema_format import Entity
from penstock.registry.stored import AVRO, Json, Reference, digest

LATEST = -1
ENTITY_KINDS = ("sr_record", "sr_field")
MAX_INT = 2**31 - 1
UNASSIGNED_ID = -1
UNASSIGNED_VERSION = 0


@dataclass(frozen=True, slots=True)
class TagChanges:
    """What is to become of the tags within a schema."""

    added: Mapping[Entity, list[str]] = field(default_factory=dict)
    removed: Mapping[Entity, list[str]] = field(default_factory=dict)
    is_propagated: bool = False
    """Whether those of the version before are added too."""

    @property
    def are_asked_for(self) -> bool:
        return bool(self.added or self.removed)


@dataclass(frozen=True, slots=True)
class SchemaDraft:
    """A schema as somebody asks for it: to be registered, looked up or compared."""

    subject: str
    schema: str = ""
    schema_type: str = AVRO
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    id: int = UNASSIGNED_ID
    version: int = UNASSIGNED_VERSION
    tag_changes: TagChanges = TagChanges()

    @property
    def md5(self) -> bytes:
        return digest(self.schema, self.references, self.metadata, self.rule_set)

    @property
    def is_empty(self) -> bool:
        return not self.schema.strip()

    def in_subject(self, subject: str) -> SchemaDraft:
        return replace(self, subject=subject)

    def with_contracts(self, metadata: Metadata | None, rule_set: RuleSet | None) -> SchemaDraft:
        return replace(self, metadata=metadata, rule_set=rule_set)


def read_schema(subject: str, body: Json) -> SchemaDraft:
    body = read_object(body)
    changes = _tag_changes(body)
    references = body.get("references") or ()
    if not isinstance(references, list | tuple):
        raise errors.bad_request(f"references: got {references!r}, takes a list")
    return SchemaDraft(
        subject=subject,
        schema=_optional_text(body, "schema") or "",
        schema_type=_optional_text(body, "schemaType") or AVRO,
        references=tuple(_reference(each) for each in references),
        metadata=contracts.metadata_from_json(body.get("metadata")),
        rule_set=contracts.rule_set_from_json(body.get("ruleSet")),
        id=max(_optional_int(body, "id", UNASSIGNED_ID), UNASSIGNED_ID),
        version=_optional_int(body, "version", LATEST if changes.are_asked_for else UNASSIGNED_VERSION),
        tag_changes=changes,
    )


def _tag_changes(body: Json) -> TagChanges:
    return TagChanges(
        read_tags(body, "schemaTagsToAdd"),
        read_tags(body, "schemaTagsToRemove"),
        body.get("propagateSchemaTags") is not None
        and contracts.flag(body["propagateSchemaTags"], "propagateSchemaTags"),
    )


def read_tags(body: Json, name: str) -> dict[Entity, list[str]]:
    """`[{"schemaEntity": {"entityType": "sr_field", "entityPath": "User.email"}, "tags": ["PII"]}]`."""
    given = body.get(name) or []
    if not isinstance(given, list):
        raise errors.bad_request(f"{name}: got {given!r}, takes a list")
    found: dict[Entity, list[str]] = {}
    for each in given:
        entity = each.get("schemaEntity") if isinstance(each, dict) else None
        tags = each.get("tags") if isinstance(each, dict) else None
        if not isinstance(entity, dict) or not isinstance(tags, list):
            raise errors.bad_request(f"{name}: got {each!r}, takes objects of schemaEntity and tags")
        found.setdefault(_entity(entity, name), []).extend(
            contracts.text(tag, f"{name}.tags") for tag in tags
        )
    return found


def _entity(given: Json, where: str) -> Entity:
    kind = given.get("entityType")
    if kind not in ENTITY_KINDS:
        raise errors.bad_request(f"{where}.entityType: got {kind!r}, takes {' or '.join(ENTITY_KINDS)}")
    return Entity(kind, contracts.text(given.get("entityPath"), f"{where}.entityPath"))


def read_object(body: Any) -> Json:
    if not isinstance(body, dict):
        raise errors.bad_request(f"body: got {body!r}, takes a JSON object")
    return body


def read_version(version: str | int) -> int:
    """A version in a path: a number, "latest", or -1 for the latest."""
    word = str(version).strip()
    if word.lower() == "latest":
        return LATEST
    try:
        number = int(word)
    except ValueError:
        raise errors.invalid_version(str(version)) from None
    if number != LATEST and not 0 < number <= MAX_INT:
        raise errors.invalid_version(str(version))
    return number


def _reference(given: Any) -> Reference:
    if not isinstance(given, dict):
        raise errors.bad_request(f"references: got {given!r}, takes objects of name, subject and version")
    name, subject, version = given.get("name"), given.get("subject"), given.get("version")
    if name is None or subject is None or version is None:
        name, subject, version = ("null" if each is None else each for each in (name, subject, version))
        raise errors.invalid_schema(
            f"Invalid reference: {{name='{name}', subject='{subject}', version={version}}}"
        )
    return Reference(
        contracts.text(name, "references.name"),
        contracts.text(subject, "references.subject"),
        _int(version, "references.version"),
    )


def _optional_text(body: Json, name: str) -> str | None:
    return None if body.get(name) is None else contracts.text(body[name], name)


def _optional_int(body: Json, name: str, default: int) -> int:
    return default if body.get(name) is None else _int(body[name], name)


def _int(value: Any, where: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not -MAX_INT - 1 <= value <= MAX_INT:
        raise errors.bad_request(f"{where}: got {value!r}, takes a whole number of 32 bits")
    return value
