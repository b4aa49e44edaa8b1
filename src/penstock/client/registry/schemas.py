"""What the Schema Registry keeps: schemas, what they refer to, and their places under subjects."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

SchemaType: TypeAlias = Literal["AVRO", "JSON", "PROTOBUF"]


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """A name in a schema that stands for a version of another subject.

    >>> from penstock.client.registry import SchemaReference
    >>> SchemaReference("shop.Customer", subject="customers-value", version=1).as_json()
    {'name': 'shop.Customer', 'subject': 'customers-value', 'version': 1}
    """

    name: str
    subject: str
    version: int

    def as_json(self) -> dict[str, Any]:
        """As the registry's requests have it.

        >>> from penstock.client.registry import SchemaReference
        >>> SchemaReference("money.proto", "money.proto", 3).as_json()["version"]
        3
        """
        return {"name": self.name, "subject": self.subject, "version": self.version}


@dataclass(frozen=True, slots=True)
class Schema:
    """The text of a schema, its type, and the schemas that it refers to.

    >>> from penstock.client.registry import Schema
    >>> Schema('"string"').as_json()
    {'schema': '"string"'}
    """

    text: str
    schema_type: SchemaType = "AVRO"
    references: tuple[SchemaReference, ...] = ()
    metadata: Mapping[str, Any] | None = field(default=None, hash=False)
    rule_set: Mapping[str, Any] | None = field(default=None, hash=False)

    def as_json(self) -> dict[str, Any]:
        """As the registry's requests have it, without what is not there.

        >>> from penstock.client.registry import Schema
        >>> Schema('{"type": "object"}', "JSON").as_json()
        {'schema': '{"type": "object"}', 'schemaType': 'JSON'}
        """
        optional = {
            "schemaType": None if self.schema_type == "AVRO" else self.schema_type,
            "references": [one.as_json() for one in self.references],
            "metadata": self.metadata,
            "ruleSet": self.rule_set,
        }
        return {"schema": self.text, **{name: value for name, value in optional.items() if value}}


@dataclass(frozen=True, slots=True)
class RegisteredSchema:
    """A schema in the registry: its id, and its place where it was asked for under a subject.

    >>> from penstock.client.registry import RegisteredSchema, Schema
    >>> RegisteredSchema(Schema('"string"'), id=7, subject="names-value", version=1).id
    7
    """

    schema: Schema
    id: int
    subject: str | None = None
    version: int | None = None
    guid: str | None = None
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class CompatibilityCheck:
    """Whether a schema may become a version of a subject, and what speaks against it.

    >>> from penstock.client.registry import CompatibilityCheck
    >>> bool(CompatibilityCheck(False, ("READER_FIELD_MISSING_DEFAULT_VALUE: cups",)))
    False
    """

    is_compatible: bool
    messages: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.is_compatible


def schema_from_json(answer: Mapping[str, Any]) -> Schema:
    references = tuple(
        SchemaReference(one["name"], one["subject"], one["version"]) for one in answer.get("references") or ()
    )
    return Schema(
        answer["schema"],
        answer.get("schemaType") or "AVRO",
        references,
        answer.get("metadata"),
        answer.get("ruleSet"),
    )


def registered_from_json(answer: Mapping[str, Any], schema: Schema | None = None) -> RegisteredSchema:
    """Of an answer that may leave out what the request said: that is in `schema`."""
    return RegisteredSchema(
        schema_from_json(answer) if answer.get("schema") is not None or schema is None else schema,
        answer["id"],
        answer.get("subject"),
        answer.get("version"),
        answer.get("guid"),
        bool(answer.get("deleted", False)),
    )
