"""A key or a value in a request: what its `type` says, or which schema of the registry it is to be written with.

    {"type": "JSON", "data": ...}                  without a schema; BINARY and STRING too
    {"type": "AVRO", "schema": "...", "data": ...}  with a text that is registered if it is new
    {"schema_id": 7, "data": ...}                   with a schema of the registry, which knows its type
    {"schema_version": 2, "data": ...}              with a version of the subject
    {"data": ...}                                   with the latest version of the subject

The subject is `subject`, or called as `subject_name_strategy` has it: after the topic, unless it says otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from json import dumps
from typing import Any

from penstock.client.serializers.base import Field as Part
from penstock.rest.errors import bad_field
from penstock.rest.fields import ANYTHING, Field, Fields, refuse_unrecognized
from penstock.rest.payloads import ENCODERS
from penstock.rest.schemas.choice import STRATEGIES, SchemaChoice
from penstock.rest.schemas.codec import FORMATS
from penstock.rest.schemas.writer import PayloadWriter
from penstock.web.errors import HttpError

FORMAT_OF_TYPE = {each.name: each for each in FORMATS.values()}
TYPES = (*ENCODERS, *FORMAT_OF_TYPE)
WHICH_SCHEMA = ("schema_id", "schema_version", "schema")
OF_SCHEMAS = ("subject", "subject_name_strategy", *WHICH_SCHEMA)
MOST = 2**31 - 1

DATA = Fields(
    "ProduceRequestData",
    {
        "type": Field(
            str, values=TYPES, description=f"{', '.join(TYPES)}; with a schema's id or version, none"
        ),
        "subject": Field(str),
        "subject_name_strategy": Field(str, values=tuple(STRATEGIES)),
        "schema_id": Field(int),
        "schema_version": Field(int),
        "schema": Field(str, description="its text, together with a type"),
        "data": Field(ANYTHING),
    },
)

_OF_PAYLOAD = frozenset(DATA.fields)

KnownWriter = Callable[[SchemaChoice], PayloadWriter | None]


class SchemaNotKnown(Exception):
    """The registry has to be asked for a schema first."""

    def __init__(self, choice: SchemaChoice) -> None:
        self.choice = choice


Payload = tuple[str | None, bytes | None]
"""What the answer says of it, but for its size, if it says anything; and its bytes."""
_NOTHING = (None, None)
_PLAIN = {kind: (encode, f'"type":"{kind}"') for kind, encode in ENCODERS.items()}


def read_payload(part: Part, given: Any, topic: str, known_writer: KnownWriter) -> Payload:
    """Raises `SchemaNotKnown`, and an `HttpError` that names the field that is wrong."""
    if given is None:
        return _NOTHING
    if not isinstance(given, dict):
        raise bad_field(part, given, "an object with type and data")
    if not _OF_PAYLOAD.issuperset(given):
        refuse_unrecognized(given, _OF_PAYLOAD)
    kind, data = given.get("type"), given.get("data")
    plain = _PLAIN.get(kind) if isinstance(kind, str) else None
    if plain is None:
        writer = _writer(part, given, topic, known_writer)
        return about(writer), None if data is None else writer.encode(f"{part}.data", data)
    encode, text = plain
    if len(given) > 2:
        _refuse_schema(part, given)
    return text, None if data is None else encode(f"{part}.data", data)


def about(writer: PayloadWriter) -> str:
    return (
        f'"type":"{writer.type}","subject":{dumps(writer.subject)},'
        f'"schema_id":{writer.schema_id},"schema_version":{writer.schema_version}'
    )


def _refuse_schema(part: Part, given: dict[str, Any]) -> None:
    for name in OF_SCHEMAS:
        if given.get(name) is not None:
            raise HttpError(400, 400, f"{part}.{name}: cannot be used with type {given['type']}")


def _writer(part: Part, given: dict[str, Any], topic: str, known_writer: KnownWriter) -> PayloadWriter:
    choice = _choice(part, given, topic)
    writer = known_writer(choice)
    if writer is None:
        raise SchemaNotKnown(choice)
    return writer


def _choice(part: Part, given: dict[str, Any], topic: str) -> SchemaChoice:
    kind = given.get("type")
    if kind is not None and (not isinstance(kind, str) or kind not in FORMAT_OF_TYPE):
        raise bad_field(f"{part}.type", kind, f"one of {', '.join(TYPES)}")
    chosen = {name: _checked(part, name, given[name]) for name in OF_SCHEMAS if given.get(name) is not None}
    _check_combination(part, kind, chosen)
    return SchemaChoice(part, topic, part, None if kind is None else FORMAT_OF_TYPE[kind], **chosen)


def _checked(part: Part, name: str, value: Any) -> Any:
    checked = DATA.fields[name].check(f"{part}.{name}", value)
    if isinstance(checked, int) and not 0 <= checked <= MOST:
        raise bad_field(f"{part}.{name}", value, f"a number from 0 to {MOST}")
    return checked


def _check_combination(part: Part, kind: str | None, chosen: dict[str, Any]) -> None:
    """As Confluent's proxy has it: a type goes with a text and with nothing else."""
    which = [name for name in WHICH_SCHEMA if name in chosen]
    if len(which) > 1:
        raise HttpError(400, 400, f"{part}.{which[1]}: only one of {', '.join(WHICH_SCHEMA)} can be used")
    if "subject" in chosen and "subject_name_strategy" in chosen:
        raise HttpError(400, 400, f"{part}.subject: only one of subject, subject_name_strategy can be used")
    if kind is not None and which != ["schema"]:
        if which:
            raise HttpError(400, 400, f"{part}.{which[0]}: cannot be used with type {kind}")
        raise HttpError(400, 400, f"{part}.schema: is missing; type {kind} takes a schema beside it")
    if kind is None and which == ["schema"]:
        raise HttpError(400, 400, f"{part}.type: is missing; a schema takes a type beside it")
