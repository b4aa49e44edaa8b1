"""What the options of kafka-acls ask for: patterns of resources, and the entries for each."""

from __future__ import annotations

from collections.abc import Iterable

from penstock.cli.options.command_line import print_usage_and_exit
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tools.acls.options import operation_name
from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.common.java_order import hash_code, in_hash_order
from penstock.client.admin.acls import (
    ANYONE_HOST,
    CLUSTER_NAME,
    AccessControlEntry,
    AclOperation,
    AclPermissionType,
    AclResourceType,
    PatternType,
    ResourcePattern,
)

Wanted = dict[ResourcePattern, dict[AccessControlEntry, None]]
"""Entries by pattern, each once and as they came."""

CLUSTER = ResourcePattern(AclResourceType.CLUSTER, CLUSTER_NAME, PatternType.LITERAL)

RESOURCE_FLAGS = {
    "topic": AclResourceType.TOPIC,
    "group": AclResourceType.GROUP,
    "transactional-id": AclResourceType.TRANSACTIONAL_ID,
    "delegation-token": AclResourceType.DELEGATION_TOKEN,
    "user-principal": AclResourceType.USER,
}
SUPPORTED = {
    AclResourceType.TOPIC: "READ WRITE CREATE DELETE ALTER DESCRIBE DESCRIBE_CONFIGS ALTER_CONFIGS",
    AclResourceType.GROUP: "READ DELETE DESCRIBE DESCRIBE_CONFIGS ALTER_CONFIGS",
    AclResourceType.CLUSTER: (
        "CREATE ALTER DESCRIBE CLUSTER_ACTION DESCRIBE_CONFIGS ALTER_CONFIGS IDEMPOTENT_WRITE"
    ),
    AclResourceType.TRANSACTIONAL_ID: "WRITE DESCRIBE TWO_PHASE_COMMIT",
    AclResourceType.DELEGATION_TOKEN: "DESCRIBE",
    AclResourceType.USER: "CREATE_TOKENS DESCRIBE_TOKENS",
}
"""The operations that there are on a type of resource, besides ALL."""

_OPERATIONS = {operation_name(each).upper(): each for each in AclOperation}


# --- resources


def patterns_of(parser: OptionParser, options: OptionSet, *, is_needed: bool) -> list[ResourcePattern]:
    pattern_type = PatternType[options.value("resource-pattern-type")]
    patterns = [
        ResourcePattern(resource_type, name if flag == "transactional-id" else name.strip(), pattern_type)
        for flag, resource_type in RESOURCE_FLAGS.items()
        if options.has(flag)
        for name in options.values(flag)
    ]
    if pattern_type is PatternType.LITERAL and (options.has("cluster") or options.has("idempotent")):
        patterns.append(CLUSTER)
    if not patterns and is_needed:
        print_usage_and_exit(
            parser,
            "You must provide at least one resource: --topic <topic> or --cluster or --group <group> or "
            "--delegation-token <Delegation Token ID>",
        )
    return list(dict.fromkeys(patterns))


# --- entries


def wanted_acls(parser: OptionParser, options: OptionSet) -> Wanted:
    """The entries for each pattern, to be removed; no entries means all that it has."""
    patterns = [] if _is_role(options) else patterns_of(parser, options, is_needed=True)
    operations = [_operation(name.strip()) for name in options.values("operation")]
    wanted: Wanted = {pattern: _entries(options, operations) for pattern in patterns}
    if options.has("producer"):
        wanted |= _producer_acls(parser, options)
    if options.has("consumer"):
        for pattern, entries in _consumer_acls(parser, options).items():
            wanted[pattern] = wanted.get(pattern, {}) | entries
    _check_operations(parser, wanted)
    return wanted


def acls_to_add(parser: OptionParser, options: OptionSet) -> Wanted:
    pattern_type = options.value("resource-pattern-type")
    if pattern_type not in ("LITERAL", "PREFIXED"):
        message = f"A '--resource-pattern-type' value of '{pattern_type}' is not valid when adding acls."
        print_usage_and_exit(parser, message)
    wanted = wanted_acls(parser, options)
    if not all(wanted.values()):
        print_usage_and_exit(
            parser,
            "You must specify one of: --allow-principal, --deny-principal when trying to add ACLs.",
        )
    return wanted


def _is_role(options: OptionSet) -> bool:
    return options.has("producer") or options.has("consumer")


def _producer_acls(parser: OptionParser, options: OptionSet) -> Wanted:
    operations = {
        AclResourceType.TOPIC: (AclOperation.WRITE, AclOperation.DESCRIBE, AclOperation.CREATE),
        AclResourceType.TRANSACTIONAL_ID: (AclOperation.WRITE, AclOperation.DESCRIBE),
    }
    wanted = _role_acls(parser, options, operations)
    if options.has("idempotent"):
        wanted[CLUSTER] = _entries(options, [AclOperation.IDEMPOTENT_WRITE])
    return wanted


def _consumer_acls(parser: OptionParser, options: OptionSet) -> Wanted:
    operations = {
        AclResourceType.TOPIC: (AclOperation.READ, AclOperation.DESCRIBE),
        AclResourceType.GROUP: (AclOperation.READ,),
    }
    return _role_acls(parser, options, operations)


def _role_acls(
    parser: OptionParser,
    options: OptionSet,
    operations: dict[AclResourceType, tuple[AclOperation, ...]],
) -> Wanted:
    return {
        pattern: _entries(options, operations[pattern.resource_type])
        for pattern in patterns_of(parser, options, is_needed=True)
        if pattern.resource_type in operations
    }


def _entries(options: OptionSet, operations: Iterable[AclOperation]) -> dict[AccessControlEntry, None]:
    operations = list(operations)
    return {
        AccessControlEntry(principal, host, operation, permission): None
        for permission, word in ((AclPermissionType.ALLOW, "allow"), (AclPermissionType.DENY, "deny"))
        for principal in principals_of(options, f"{word}-principal")
        for operation in operations
        for host in _hosts(options, f"{word}-host")
    }


def principals_of(options: OptionSet, flag: str) -> list[str]:
    given = [_principal(text.strip()) for text in options.values(flag)] if options.has(flag) else []
    return in_hash_order(given, hash_of=_hash_of_principal)


def _principal(text: str) -> str:
    if ":" not in text:
        raise CommandFailure(f"expected a string in format principalType:principalName but got {text}")
    return text


def _hash_of_principal(principal: str) -> int:
    kind, _, name = principal.partition(":")
    return (31 * hash_code(kind) + hash_code(name)) & 0xFFFFFFFF


def _hosts(options: OptionSet, flag: str) -> list[str]:
    return [host.strip() for host in options.values(flag)] if options.has(flag) else [ANYONE_HOST]


def _operation(name: str) -> AclOperation:
    return _OPERATIONS.get(name.upper(), AclOperation.UNKNOWN)


def _check_operations(parser: OptionParser, wanted: Wanted) -> None:
    for pattern, entries in wanted.items():
        supported = ["ALL", *SUPPORTED[pattern.resource_type].split()]
        if any(entry.operation.name not in supported for entry in entries):
            kind = pattern.resource_type.name
            message = f"ResourceType {kind} only supports operations [{', '.join(supported)}]"
            print_usage_and_exit(parser, message)
