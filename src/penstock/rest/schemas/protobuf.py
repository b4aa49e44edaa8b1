"""Protobuf messages in Protobuf's own JSON: names in camelCase, 64-bit numbers as text, bytes in base64."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor import Descriptor
from google.protobuf.json_format import Error as JsonError
from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.message import DecodeError, EncodeError, Message

from penstock.client.registry.client import SchemaRegistryClient
from penstock.client.registry.protobuf_files import ProtobufFile, class_of
from penstock.client.registry.schemas import Schema
from penstock.client.registry.wire_format import SchemaId
from penstock.rest.schemas.codec import Misfit


@dataclass(frozen=True, slots=True)
class ProtobufCodec:
    descriptor: Descriptor
    message_class: type[Message]
    message_indexes: tuple[int, ...]

    @property
    def record_name(self) -> str | None:
        return str(self.descriptor.full_name)

    def encode(self, data: Any) -> bytes:
        message = self.message_class()
        try:
            ParseDict(data, message, descriptor_pool=self.descriptor.file.pool)
            return bytes(message.SerializeToString())
        except (JsonError, EncodeError, ValueError, TypeError, AttributeError, RecursionError) as error:
            raise Misfit(f"is no {self.descriptor.full_name}: {error}") from None

    def decode(self, data: bytes, start: int) -> Any:
        message = self.message_class()
        try:
            message.ParseFromString(data[start:])
            return MessageToDict(
                message,
                always_print_fields_with_no_presence=True,
                descriptor_pool=self.descriptor.file.pool,
            )
        except (DecodeError, JsonError, TypeError) as error:
            raise ValueError(f"not a {self.descriptor.full_name}: {error}") from None


def make_codec(schema: Schema, schema_id: SchemaId, registry: SchemaRegistryClient) -> ProtobufCodec:
    descriptor = ProtobufFile(schema, registry).message_at(schema_id.message_indexes)
    return ProtobufCodec(descriptor, class_of(descriptor), schema_id.message_indexes)


_NO_NAMES = re.compile(r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""", re.DOTALL)
_PACKAGE = re.compile(r"\bpackage\s+([\w.]+)\s*;")
_MESSAGE = re.compile(r"\bmessage\s+(\w+)\s*{")


def record_name(schema: Schema, registry: SchemaRegistryClient) -> str | None:
    """That of the first message in the text of a .proto file. The registry alone reads the rest of it."""
    text = _NO_NAMES.sub(" ", schema.text)
    package, message = _PACKAGE.search(text), _MESSAGE.search(text)
    if message is None:
        raise ValueError("it has no message")
    return f"{package[1]}.{message[1]}" if package is not None else message[1]
