"""The records of `_schemas`: JSON keys and values as Confluent's registry writes them.

A key says what kind of record it is (`keytype`) and which one; a record without a value takes back what the key names.
The order of the members is Confluent's, because compaction compares keys byte by byte: a key that we write has to be
the very bytes that another registry wrote before.

Members that have no value are left out. `deleted` is the soft delete; `md5` is there only where Confluent has
encrypted sensitive metadata, and then stands for the digest of what was readable.
"""

from __future__ import annotations

import base64
import hashlib
import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from penstock.errors import PenstockError
from penstock.registry import contracts
from penstock.registry.contracts import Metadata, RuleSet
from penstock.registry.errors import RegistryError
from penstock.registry.names import DEFAULT_TENANT

Json: TypeAlias = dict[str, Any]
Record: TypeAlias = tuple[bytes, bytes | None]
T = TypeVar("T")

AVRO = "AVRO"
MD5_LENGTH = 16
CONFIG_FIELDS = (
    "alias",
    "aliasForDeks",
    "normalize",
    "validateFields",
    "validateNewSchemas",
    "validateRules",
    "compatibilityLevel",
    "compatibilityPolicy",
    "compatibilityGroup",
    "defaultMetadata",
    "overrideMetadata",
    "defaultRuleSet",
    "overrideRuleSet",
)


class MalformedRecord(PenstockError):
    """A record of `_schemas` that makes no sense."""


# ---- keys ----


@dataclass(frozen=True, slots=True)
class SchemaKey:
    subject: str
    version: int


@dataclass(frozen=True, slots=True)
class ConfigKey:
    subject: str | None


@dataclass(frozen=True, slots=True)
class ModeKey:
    subject: str | None


@dataclass(frozen=True, slots=True)
class DeleteSubjectKey:
    subject: str


@dataclass(frozen=True, slots=True)
class ClearSubjectKey:
    subject: str | None


@dataclass(frozen=True, slots=True)
class ContextKey:
    context: str
    tenant: str = DEFAULT_TENANT


@dataclass(frozen=True, slots=True)
class OtherKey:
    """NOOP, and what a newer registry may write."""

    keytype: str


Key: TypeAlias = SchemaKey | ConfigKey | ModeKey | DeleteSubjectKey | ClearSubjectKey | ContextKey | OtherKey


def encode_key(key: Key) -> bytes:
    match key:
        case SchemaKey():
            members: Json = {
                "keytype": "SCHEMA",
                "subject": key.subject,
                "version": key.version,
                "magic": 1,
            }
        case ConfigKey():
            members = {"keytype": "CONFIG", "subject": key.subject, "magic": 0}
        case ModeKey():
            members = {"keytype": "MODE", "subject": key.subject, "magic": 0}
        case DeleteSubjectKey():
            members = {"keytype": "DELETE_SUBJECT", "subject": key.subject, "magic": 0}
        case ClearSubjectKey():
            members = {"keytype": "CLEAR_SUBJECT", "subject": key.subject, "magic": 0}
        case ContextKey():
            members = {"keytype": "CONTEXT", "tenant": key.tenant, "context": key.context, "magic": 0}
        case OtherKey():
            members = {"keytype": key.keytype, "magic": 0}
    return encode_json(members)


def decode_key(data: bytes) -> Key:
    members = _decode_object(data, "key")
    keytype = members.get("keytype")
    if not isinstance(keytype, str):
        raise MalformedRecord(f"key has no keytype: {_shown(data)}")
    decode = _KEYS.get(keytype)
    try:
        return OtherKey(keytype) if decode is None else decode(members)
    except MalformedRecord as problem:
        raise MalformedRecord(f"{keytype} key: {problem}: {_shown(data)}") from None


def _decode_schema_key(members: Json) -> SchemaKey:
    if members.get("magic", 0) not in (0, 1):
        raise MalformedRecord(f"SCHEMA key has the magic byte {members['magic']}, takes 0 or 1")
    return SchemaKey(_text(members, "subject"), _int(members, "version"))


_KEYS: Mapping[str, Callable[[Json], Key]] = {
    "SCHEMA": _decode_schema_key,
    "CONFIG": lambda members: ConfigKey(_optional_text(members, "subject")),
    "MODE": lambda members: ModeKey(_optional_text(members, "subject")),
    "DELETE_SUBJECT": lambda members: DeleteSubjectKey(_text(members, "subject")),
    "CLEAR_SUBJECT": lambda members: ClearSubjectKey(_optional_text(members, "subject")),
    "CONTEXT": lambda members: ContextKey(
        _text(members, "context"), _optional_text(members, "tenant") or DEFAULT_TENANT
    ),
}


# ---- values ----


@dataclass(frozen=True, slots=True)
class Reference:
    name: str
    subject: str
    version: int

    def to_json(self) -> Json:
        return {"name": self.name, "subject": self.subject, "version": self.version}


@dataclass(frozen=True, slots=True)
class StoredSchema:
    """One version of a subject."""

    subject: str
    version: int
    id: int
    schema: str
    schema_type: str = AVRO
    references: tuple[Reference, ...] = ()
    metadata: Metadata | None = None
    rule_set: RuleSet | None = None
    deleted: bool = False
    md5: bytes = b""
    """Of text, references, metadata and rule set; it is what makes schemas the same, and the guid."""
    keeps_md5: bool = False
    """The record has its md5 as a member."""
    timestamp_ms: int | None = None

    @property
    def guid(self) -> str:
        return str(uuid.UUID(bytes=self.md5))


@dataclass(frozen=True, slots=True)
class DeletedSubject:
    subject: str
    version: int
    """Up to here."""


def digest(
    schema: str, references: tuple[Reference, ...], metadata: Metadata | None, rule_set: RuleSet | None
) -> bytes:
    parts = [schema.encode("utf-8", "replace")]
    for reference in references:
        parts.append(f"{reference.name}{reference.subject}".encode("utf-8", "replace"))
        parts.append((reference.version & 0xFFFFFFFF).to_bytes(4, "big"))
    if metadata is not None:
        parts.append("".join(("\x01", *contracts.metadata_words(metadata))).encode("utf-8", "replace"))
    if rule_set is not None:
        parts.append("".join(("\x01", *contracts.rule_set_words(rule_set))).encode("utf-8", "replace"))
    return hashlib.md5(b"".join(parts), usedforsecurity=False).digest()


def guid_bytes(guid: str) -> bytes | None:
    try:
        return uuid.UUID(guid).bytes
    except ValueError:
        return None


def encode_schema(stored: StoredSchema) -> bytes:
    return encode_json(
        {
            "subject": stored.subject,
            "version": stored.version,
            "id": stored.id,
            "md5": base64.b64encode(stored.md5).decode() if stored.keeps_md5 else None,
            "schemaType": stored.schema_type,
            "references": [reference.to_json() for reference in stored.references] or None,
            "metadata": stored.metadata,
            "ruleSet": stored.rule_set,
            "schema": stored.schema,
            "deleted": stored.deleted,
        }
    )


def decode_schema(data: bytes, timestamp_ms: int | None = None) -> StoredSchema:
    members = _decode_object(data, "SCHEMA value")
    schema = _text(members, "schema")
    references = tuple(_reference(each) for each in members.get("references") or ())
    metadata = _contract(contracts.metadata_from_json, members, "metadata")
    rule_set = _contract(contracts.rule_set_from_json, members, "ruleSet")
    kept = _kept_md5(members)
    return StoredSchema(
        subject=_text(members, "subject"),
        version=_int(members, "version"),
        id=_int(members, "id"),
        schema=schema,
        schema_type=_optional_text(members, "schemaType") or AVRO,
        references=references,
        metadata=metadata,
        rule_set=rule_set,
        deleted=members.get("deleted") is True,
        md5=kept or digest(schema, references, metadata, rule_set),
        keeps_md5=kept is not None,
        timestamp_ms=timestamp_ms,
    )


def _kept_md5(members: Json) -> bytes | None:
    kept = _optional_text(members, "md5")
    if kept is None:
        return None
    try:
        md5 = base64.b64decode(kept, validate=True)
    except ValueError:
        md5 = b""
    if len(md5) != MD5_LENGTH:
        raise MalformedRecord(f"md5: got {kept!r}, takes {MD5_LENGTH} bytes in base64")
    return md5


def _reference(members: Any) -> Reference:
    if not isinstance(members, dict):
        raise MalformedRecord(f"references: got {members!r}, takes objects")
    return Reference(_text(members, "name"), _text(members, "subject"), _int(members, "version"))


def _contract(read: Callable[[Any, str], T], members: Json, name: str) -> T:
    try:
        return read(members.get(name), name)
    except RegistryError as problem:
        raise MalformedRecord(problem.message) from None


def encode_config(subject: str | None, config: Json) -> bytes:
    return encode_json({"subject": subject, **{name: config.get(name) for name in CONFIG_FIELDS}})


def decode_config(data: bytes) -> Json:
    members = _decode_object(data, "CONFIG value")
    config = {name: members[name] for name in CONFIG_FIELDS if members.get(name) is not None}
    for name in ("defaultMetadata", "overrideMetadata"):
        if name in config:
            config[name] = _contract(contracts.metadata_from_json, config, name)
    for name in ("defaultRuleSet", "overrideRuleSet"):
        if name in config:
            config[name] = _contract(contracts.rule_set_from_json, config, name)
    return config


def encode_mode(subject: str | None, mode: str) -> bytes:
    return encode_json({"subject": subject, "mode": mode})


def decode_mode(data: bytes) -> str:
    return _text(_decode_object(data, "MODE value"), "mode")


def encode_deleted_subject(subject: str, version: int) -> bytes:
    return encode_json({"subject": subject, "version": version})


def decode_deleted_subject(data: bytes) -> DeletedSubject:
    members = _decode_object(data, "DELETE_SUBJECT value")
    return DeletedSubject(_text(members, "subject"), _int(members, "version"))


def encode_cleared_subject(subject: str | None) -> bytes:
    return encode_json({"subject": subject})


def encode_context(context: str) -> bytes:
    return encode_json({"tenant": DEFAULT_TENANT, "context": context})


# ---- JSON ----


def encode_json(members: Json) -> bytes:
    kept = {name: value for name, value in members.items() if value is not None}
    return json.dumps(kept, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "backslashreplace")


def _decode_object(data: bytes, what: str) -> Json:
    try:
        members = json.loads(data)
    except (ValueError, RecursionError) as problem:
        raise MalformedRecord(f"{what} is no JSON ({problem}): {_shown(data)}") from None
    if not isinstance(members, dict):
        raise MalformedRecord(f"{what} is no JSON object: {_shown(data)}")
    return members


def _text(members: Json, name: str) -> str:
    value = members.get(name)
    if not isinstance(value, str):
        raise MalformedRecord(f"{name}: got {value!r}, takes a string")
    return value


def _optional_text(members: Json, name: str) -> str | None:
    return None if members.get(name) is None else _text(members, name)


def _int(members: Json, name: str) -> int:
    value = members.get(name)
    if not isinstance(value, int) or isinstance(value, bool):
        raise MalformedRecord(f"{name}: got {value!r}, takes a number")
    return value


def _shown(data: bytes) -> str:
    return repr(data[:200])
