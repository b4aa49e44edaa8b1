"""Access control lists: found, made and deleted."""

from __future__ import annotations

from enum import IntEnum
from typing import Any, TypeVar

from penstock.client.admin.acls import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    AclResourceType,
    PatternType,
    ResourcePattern,
    create_acls,
    delete_acls,
    describe_acls,
)
from penstock.rest.errors import bad_field
from penstock.rest.fields import Field, Fields, Parameter
from penstock.rest.kafka import Kafka
from penstock.rest.v3.resources import Links, Resource, links_of
from penstock.web.errors import HttpError
from penstock.web.request import Request
from penstock.web.response import NO_CONTENT, Response, json_response
from penstock.wire_client.errors import KafkaError

E = TypeVar("E", bound=IntEnum)

_SPOKEN_OF = ("UNKNOWN", "ANY", "MATCH")
"""What a filter may say, but not an entry."""


def _words(kind: type[IntEnum], *left_out: str) -> tuple[str, ...]:
    return tuple(each.name for each in kind if each.name not in left_out)


NEW_ACL = Fields(
    "CreateAclRequest",
    {
        "resource_type": Field(str, required=True, values=_words(AclResourceType, *_SPOKEN_OF)),
        "resource_name": Field(str, required=True),
        "pattern_type": Field(str, required=True, values=_words(PatternType, *_SPOKEN_OF)),
        "principal": Field(str, required=True),
        "host": Field(str, required=True),
        "operation": Field(str, required=True, values=_words(AclOperation, *_SPOKEN_OF)),
        "permission": Field(str, required=True, values=_words(AclPermissionType, *_SPOKEN_OF)),
    },
)
NEW_ACLS = Fields("BatchCreateAclRequest", {"data": Field(list, required=True, items=NEW_ACL)})
_KINDS = {
    "resource_type": AclResourceType,
    "pattern_type": PatternType,
    "operation": AclOperation,
    "permission": AclPermissionType,
}


def _parameters(required: bool) -> tuple[Parameter, ...]:
    return tuple(Parameter(name, required=required and name in _KINDS) for name in NEW_ACL.fields)


SEARCH = _parameters(required=False)
DELETION = _parameters(required=True)


async def search_acls(kafka: Kafka, request: Request) -> Response:
    """List the ACLs that fit what is asked for."""
    links = await links_of(kafka, request)
    wanted = _filter(request, required=False)
    found = await describe_acls(kafka.cluster, wanted)
    address = links.to("acls", query=_words_of(wanted))
    return json_response(
        {
            "kind": "KafkaAclList",
            "metadata": {"self": address, "next": None},
            "data": [_acl(links, each) for each in sorted(found, key=_order)],
        }
    )


async def create_acl(kafka: Kafka, request: Request) -> Response:
    """Create an ACL."""
    links = await links_of(kafka, request)
    binding = _binding(await NEW_ACL.read(request))
    await _create(kafka, [binding])
    return Response(b"", 201, headers={"location": links.to("acls", query=_words_of(binding))})


async def create_all_acls(kafka: Kafka, request: Request) -> Response:
    """Create several ACLs."""
    await links_of(kafka, request)
    given = await NEW_ACLS.read(request)
    await _create(kafka, [_binding(each) for each in given["data"]])
    return NO_CONTENT


async def remove_acls(kafka: Kafka, request: Request) -> Response:
    """Delete the ACLs that fit what is asked for, and list them."""
    links = await links_of(kafka, request)
    [deleted] = await delete_acls(kafka.cluster, [_filter(request, required=True)])
    if isinstance(deleted, KafkaError):
        raise deleted
    gone = [each for each in deleted if isinstance(each, AclBinding)]
    for each in deleted:
        if isinstance(each, KafkaError):
            raise each
    return json_response({"data": [_acl(links, each) for each in sorted(gone, key=_order)]})


async def _create(kafka: Kafka, bindings: list[AclBinding]) -> None:
    for binding, error in zip(bindings, await create_acls(kafka.cluster, bindings), strict=True):
        if error is not None:
            raise type(error)(f"{binding}: {error.message}", error.code)


# --- words


def _filter(request: Request, *, required: bool) -> AclBinding:
    return AclBinding(
        ResourcePattern(
            _word(request, "resource_type", AclResourceType, required),
            request.text("resource_name") or None,
            _word(request, "pattern_type", PatternType, required),
        ),
        AccessControlEntry(
            request.text("principal") or None,
            request.text("host") or None,
            _word(request, "operation", AclOperation, required),
            _word(request, "permission", AclPermissionType, required),
        ),
    )


def _word(request: Request, name: str, kind: type[E], required: bool) -> E:
    text = request.text(name)
    if not text and required:
        raise HttpError(400, 400, f"{name} cannot be unspecified or UNKNOWN")
    word = text.upper() or "ANY"
    words = _words(kind, "UNKNOWN")
    if word not in words:
        raise bad_field(name, text, f"one of {', '.join(words)}")
    return kind[word]


def _binding(given: dict[str, Any]) -> AclBinding:
    return AclBinding(
        ResourcePattern(
            AclResourceType[given["resource_type"]],
            given["resource_name"],
            PatternType[given["pattern_type"]],
        ),
        AccessControlEntry(
            given["principal"],
            given["host"],
            AclOperation[given["operation"]],
            AclPermissionType[given["permission"]],
        ),
    )


def _words_of(binding: AclBinding) -> dict[str, str]:
    pattern, entry = binding.pattern, binding.entry
    return {
        "resource_type": pattern.resource_type.name,
        "resource_name": pattern.name or "",
        "pattern_type": pattern.pattern_type.name,
        "principal": entry.principal or "",
        "host": entry.host or "",
        "operation": entry.operation.name,
        "permission": entry.permission_type.name,
    }


def _order(binding: AclBinding) -> tuple[str | int, ...]:
    pattern, entry = binding.pattern, binding.entry
    place = (pattern.resource_type, pattern.name or "", pattern.pattern_type)
    return (*place, entry.principal or "", entry.host or "", entry.operation, entry.permission_type)


def _acl(links: Links, binding: AclBinding) -> Resource:
    words = _words_of(binding)
    return {
        "kind": "KafkaAcl",
        "metadata": {"self": links.to("acls", query=words)},
        "cluster_id": links.cluster_id,
        **words,
    }
