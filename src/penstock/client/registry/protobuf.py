"""Protobuf: messages of generated classes, or of classes that are made of the registry's schemas."""

from dataclasses import dataclass
from typing import Any, ClassVar

from google.protobuf.descriptor import Descriptor, FileDescriptor
from google.protobuf.message import DecodeError, EncodeError, Message

from penstock.client.registry.protobuf_files import (
    SERIALIZED,
    ProtobufFile,
    class_of,
    is_known,
    message_indexes,
    schema_of,
)
from penstock.client.registry.reading import Reader, RegistryDeserializer, require_type
from penstock.client.registry.schemas import Schema, SchemaReference
from penstock.client.registry.serde import RegistrySpec
from penstock.client.registry.wire_format import SchemaId
from penstock.client.registry.writing import RegistrySerializer, WritingCodec


@dataclass(frozen=True, eq=False)
class _ProtobufCodec:
    descriptor: Descriptor
    schema: Schema
    message_indexes: tuple[int, ...]

    @property
    def record_name(self) -> str | None:
        return str(self.descriptor.full_name)

    def encode(self, value: Message, strict: bool) -> bytes:
        if strict:
            _check_fields(value, self.descriptor)
        try:
            return bytes(value.SerializeToString())
        except EncodeError as error:
            raise ValueError(str(error)) from error


def _check_fields(message: Message, registered: Descriptor) -> None:
    """ValueError if a field that is set is not in the message of the registry, or is another there."""
    for own, _ in message.ListFields():
        there = registered.fields_by_number.get(own.number)
        if there is None:
            raise ValueError(f"{own.name}: {registered.full_name} of the registry has no field {own.number}")
        if there.type != own.type:
            raise ValueError(
                f"{own.name}: field {own.number} of {registered.full_name} is another type there"
            )


def _checked_class(given: object) -> type[Message] | None:
    if given is None or (isinstance(given, type) and issubclass(given, Message)):
        return given
    raise TypeError(
        f"got {given!r} as message_class; takes a class that protoc made of a .proto file, such as orders_pb2.Order"
        " (the schema is its own; the registry is the second argument)"
    )


class ProtobufSerializer(RegistrySerializer):
    """Writes Protobuf messages in Confluent's wire format; files that theirs import are registered before it.

    Takes messages of any generated class, or of `message_class` only.

    >>> from google.protobuf.wrappers_pb2 import StringValue
    >>> from penstock.client import ProtobufDeserializer, ProtobufSerializer, SchemaRegistryClient
    >>> with SchemaRegistryClient("http://localhost:8081") as registry:
    ...     data = ProtobufSerializer(registry=registry).serialize("names", StringValue(value="Ada"))
    ...     ProtobufDeserializer(StringValue, registry).deserialize("names", data).value
    'Ada'
    """

    takes = "a Protobuf message"
    schema_format: ClassVar[str | None] = SERIALIZED

    def __init__(
        self, message_class: type[Message] | None = None, registry: RegistrySpec = None, **settings: object
    ) -> None:
        self._message_class = _checked_class(message_class)
        if message_class is not None:
            self.takes = f"a {message_class.DESCRIPTOR.full_name}"
        super().__init__(registry, **settings)

    def _reset(self) -> None:
        super()._reset()
        self._codecs: dict[type[Message], _ProtobufCodec] = {}

    def _own_codec(self, value: Any) -> WritingCodec | None:
        found = self._codecs.get(type(value))
        if found is None:
            if not isinstance(value, self._message_class or Message):
                raise TypeError(f"not {self.takes}")
            descriptor = value.DESCRIPTOR
            found = _ProtobufCodec(descriptor, schema_of(descriptor.file), message_indexes(descriptor))
            self._codecs[type(value)] = found
        return found

    def _codec_of(self, schema: Schema, own: WritingCodec | None) -> WritingCodec:
        require_type(schema, "PROTOBUF", SchemaId(None, None))
        assert own is not None
        descriptor = ProtobufFile(schema, self.registry).message_of(str(own.record_name))
        return _ProtobufCodec(descriptor, schema, message_indexes(descriptor))

    def _schema_to_register(self, own: WritingCodec) -> Schema:
        assert isinstance(own, _ProtobufCodec)
        return self._with_references(own.descriptor.file)

    def _with_references(self, file: FileDescriptor) -> Schema:
        """Each file that it imports is registered, or looked up, under a subject of its own."""
        references = tuple(self._reference(each) for each in file.dependencies if not is_known(each.name))
        return Schema(schema_of(file).text, "PROTOBUF", references)

    def _reference(self, file: FileDescriptor) -> SchemaReference:
        strategy = self._setting("reference.subject.name.strategy")
        subject = file.name if strategy is None else strategy(file.name)
        schema = self._with_references(file)
        if self._auto_register:
            self.registry.register(subject, schema, self._normalize)
        found = self.registry.lookup(subject, schema, self._normalize)
        assert found.version is not None
        return SchemaReference(file.name, subject, found.version)


class ProtobufDeserializer(RegistryDeserializer):
    """Reads Protobuf messages in Confluent's wire format: of `message_class`, or of classes made of their schemas.

    >>> from google.protobuf.wrappers_pb2 import StringValue
    >>> from penstock.client import ProtobufDeserializer, ProtobufSerializer, SchemaRegistryClient
    >>> with SchemaRegistryClient("http://localhost:8081") as registry:
    ...     data = ProtobufSerializer(registry=registry).serialize("names", StringValue(value="Ada"))
    ...     message = ProtobufDeserializer(registry=registry).deserialize("names", data)
    >>> message.DESCRIPTOR.full_name, message.value
    ('google.protobuf.StringValue', 'Ada')
    """

    takes = "a Protobuf message with the id of its schema"
    has_message_indexes: ClassVar[bool] = True
    schema_format: ClassVar[str | None] = SERIALIZED

    def __init__(
        self, message_class: type[Message] | None = None, registry: RegistrySpec = None, **settings: object
    ) -> None:
        self._message_class = _checked_class(message_class)
        super().__init__(registry, **settings)

    def _reader(self, schema: Schema, schema_id: SchemaId) -> Reader:
        require_type(schema, "PROTOBUF", schema_id)
        written = ProtobufFile(schema, self.registry).message_at(schema_id.message_indexes)
        message_class = self._message_class or class_of(written)
        if written.name != message_class.DESCRIPTOR.name:
            wanted = message_class.DESCRIPTOR.full_name
            raise ValueError(f"it is a {written.full_name}, not a {wanted}")

        def read(data: bytes, start: int) -> Message:
            message = message_class()
            try:
                message.ParseFromString(data[start:])
            except DecodeError as error:
                raise ValueError(f"not a {written.full_name}: {error}") from error
            return message

        return read
