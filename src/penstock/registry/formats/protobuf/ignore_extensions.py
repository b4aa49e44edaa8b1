"""A schema without its extensions (`?format=ignore_extensions`): options of others than Confluent go too."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from penstock.registry.formats.protobuf.elements import (
    Constant,
    Enum,
    Field,
    Group,
    Message,
    OneOf,
    Option,
    ProtoFile,
    Rpc,
    Service,
)

_Optioned = TypeVar("_Optioned", Constant, Field, Rpc)


def without_extensions(file: ProtoFile) -> ProtoFile:
    return replace(
        file,
        options=_kept(file.options),
        messages=[_message(each) for each in file.messages],
        enums=[_enum(each) for each in file.enums],
        services=[_service(each) for each in file.services],
        extends=[],
    )


def _kept(options: list[Option]) -> list[Option]:
    return [each for each in options if not each.names[0].is_extension or each.key.startswith("confluent.")]


def _each_kept(elements: list[_Optioned]) -> list[_Optioned]:
    return [replace(each, options=_kept(each.options)) for each in elements]


def _message(message: Message) -> Message:
    return replace(
        message,
        fields=_each_kept(message.fields),
        oneofs=[_oneof(each) for each in message.oneofs],
        groups=_groups(message.groups),
        messages=[_message(each) for each in message.messages],
        enums=[_enum(each) for each in message.enums],
        options=_kept(message.options),
        extensions=[],
        extends=[],
    )


def _groups(groups: list[Group]) -> list[Group]:
    return [replace(each, message=_message(each.message), options=_kept(each.options)) for each in groups]


def _oneof(oneof: OneOf) -> OneOf:
    return replace(
        oneof,
        fields=_each_kept(oneof.fields),
        groups=_groups(oneof.groups),
        options=_kept(oneof.options),
    )


def _enum(enum: Enum) -> Enum:
    return replace(enum, constants=_each_kept(enum.constants), options=_kept(enum.options))


def _service(service: Service) -> Service:
    return replace(service, rpcs=_each_kept(service.rpcs), options=_kept(service.options))
