"""Access control lists: who may do what with which resource.

A filter has `ANY`, or None for a name, a principal or a host, where it does not mind.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum

from penstock.wire.messages.create_acls import AclCreation, CreateAclsRequest, CreateAclsResponse
from penstock.wire.messages.delete_acls import (
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsRequest,
    DeleteAclsResponse,
)
from penstock.wire.messages.describe_acls import DescribeAclsRequest, DescribeAclsResponse
from penstock.wire_client import Cluster
from penstock.wire_client.errors import KafkaError, error_for, raise_for


class AclResourceType(IntEnum):
    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class AclOperation(IntEnum):
    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class AclPermissionType(IntEnum):
    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


CLUSTER_NAME = "kafka-cluster"
ANYONE_HOST = "*"


@dataclass(frozen=True, slots=True)
class ResourcePattern:
    """The resources that an entry is about; with ANY or MATCH, or without a name, a filter of patterns."""

    resource_type: AclResourceType
    name: str | None
    pattern_type: PatternType = PatternType.LITERAL

    def __str__(self) -> str:
        name = "<any>" if self.name is None else self.name
        return (
            f"ResourcePattern(resourceType={self.resource_type.name}, name={name}, "
            f"patternType={self.pattern_type.name})"
        )


@dataclass(frozen=True, slots=True)
class AccessControlEntry:
    """Who may or may not do what, from where."""

    principal: str | None
    host: str | None
    operation: AclOperation
    permission_type: AclPermissionType

    def __str__(self) -> str:
        principal = "<any>" if self.principal is None else self.principal
        host = "<any>" if self.host is None else self.host
        return (
            f"(principal={principal}, host={host}, operation={self.operation.name}, "
            f"permissionType={self.permission_type.name})"
        )


@dataclass(frozen=True, slots=True)
class AclBinding:
    """An entry for a pattern of resources, or a filter of such."""

    pattern: ResourcePattern
    entry: AccessControlEntry

    def __str__(self) -> str:
        return f"(pattern={self.pattern}, entry={self.entry})"


ANY_PATTERN = ResourcePattern(AclResourceType.ANY, None, PatternType.ANY)
ANY_ENTRY = AccessControlEntry(None, None, AclOperation.ANY, AclPermissionType.ANY)
ANY_ACL = AclBinding(ANY_PATTERN, ANY_ENTRY)


async def describe_acls(cluster: Cluster, wanted: AclBinding = ANY_ACL) -> list[AclBinding]:
    """Those that match."""
    request = DescribeAclsRequest(
        wanted.pattern.resource_type,
        wanted.pattern.name,
        wanted.pattern.pattern_type,
        wanted.entry.principal,
        wanted.entry.host,
        wanted.entry.operation,
        wanted.entry.permission_type,
    )
    answer = await cluster.ask_any(request, DescribeAclsResponse)
    raise_for(answer.error_code, answer.error_message)
    return [
        AclBinding(
            _pattern(resource.resource_type, resource.resource_name, resource.pattern_type),
            _entry(acl.principal, acl.host, acl.operation, acl.permission_type),
        )
        for resource in answer.resources
        for acl in resource.acls
    ]


def _pattern(resource_type: int, name: str, pattern_type: int) -> ResourcePattern:
    return ResourcePattern(AclResourceType(resource_type), name, PatternType(pattern_type))


def _entry(principal: str, host: str, operation: int, permission_type: int) -> AccessControlEntry:
    return AccessControlEntry(principal, host, AclOperation(operation), AclPermissionType(permission_type))


async def create_acls(cluster: Cluster, bindings: Sequence[AclBinding]) -> list[KafkaError | None]:
    """For each why it could not be made, or None."""
    creations = [
        AclCreation(
            binding.pattern.resource_type,
            binding.pattern.name or "",
            binding.pattern.pattern_type,
            binding.entry.principal or "",
            binding.entry.host or "",
            binding.entry.operation,
            binding.entry.permission_type,
        )
        for binding in bindings
    ]
    answer = await cluster.ask_any(CreateAclsRequest(creations), CreateAclsResponse)
    return [
        error_for(result.error_code, result.error_message) if result.error_code else None
        for result in answer.results
    ]


async def delete_acls(
    cluster: Cluster, filters: Iterable[AclBinding]
) -> list[list[AclBinding | KafkaError] | KafkaError]:
    """For each filter those that are gone, or why one is not; or why the filter could not be applied."""
    asked = [
        DeleteAclsFilter(
            each.pattern.resource_type,
            each.pattern.name,
            each.pattern.pattern_type,
            each.entry.principal,
            each.entry.host,
            each.entry.operation,
            each.entry.permission_type,
        )
        for each in filters
    ]
    answer = await cluster.ask_any(DeleteAclsRequest(asked), DeleteAclsResponse)
    return [_deleted(result) for result in answer.filter_results]


def _deleted(result: DeleteAclsFilterResult) -> list[AclBinding | KafkaError] | KafkaError:
    if result.error_code:
        return error_for(result.error_code, result.error_message)
    return [
        error_for(acl.error_code, acl.error_message)
        if acl.error_code
        else AclBinding(
            _pattern(acl.resource_type, acl.resource_name, acl.pattern_type),
            _entry(acl.principal, acl.host, acl.operation, acl.permission_type),
        )
        for acl in result.matching_acls
    ]
