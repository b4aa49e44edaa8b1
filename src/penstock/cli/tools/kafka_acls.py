"""kafka-acls: lists, adds and removes access control lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from penstock.cli.options.joptsimple import OptionError, OptionParser, OptionSet
from penstock.cli.tool import run
from penstock.cli.tools.acls.options import parse_options
from penstock.cli.tools.acls.wanted import acls_to_add, patterns_of, principals_of, wanted_acls
from penstock.cli.tools.common.admin_client import admin_client_of, raise_first
from penstock.cli.tools.common.failures import as_java_says
from penstock.client.admin.acls import (
    ANY_ACL,
    ANY_ENTRY,
    AccessControlEntry,
    AclBinding,
    ResourcePattern,
    create_acls,
    delete_acls,
    describe_acls,
)
from penstock.errors import PenstockError
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-acls", acls, arguments)


def acls(words: list[str]) -> int:
    parser, options = parse_options(words)
    try:
        _process(parser, options)
    except (OptionError, PenstockError) as error:
        said = as_java_says(error) if isinstance(error, KafkaError) else str(error)
        print(f"Error while executing ACL command: {said}")
        return 1
    return 0


def _process(parser: OptionParser, options: OptionSet) -> None:
    with admin_client_of(options) as cluster:
        act = _add if options.has("add") else _remove if options.has("remove") else _list
        now(act(cluster, parser, options))


async def _add(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    for pattern, entries in acls_to_add(parser, options).items():
        existing = await describe_acls(cluster, AclBinding(pattern, ANY_ENTRY))
        new = []
        for binding in (AclBinding(pattern, entry) for entry in entries):
            if binding in existing:
                print(f"Acl {binding} already exists.")
            else:
                new.append(binding)
        if new:
            print(f"Adding ACLs for resource `{pattern}`: \n {_listed(each.entry for each in new)}\n")
            raise_first(await create_acls(cluster, new))


async def _remove(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    for pattern, entries in wanted_acls(parser, options).items():
        if options.has("force") or _confirmed(_question(pattern, entries)):
            filters = [AclBinding(pattern, entry) for entry in entries or (ANY_ENTRY,)]
            for result in await delete_acls(cluster, filters):
                raise_first([result] if isinstance(result, KafkaError) else result)


def _question(pattern: ResourcePattern, entries: Iterable[AccessControlEntry]) -> str:
    listed = _listed(entries)
    if not listed:
        return f"Are you sure you want to delete all ACLs for resource filter `{pattern}`? (y/n)"
    return f"Are you sure you want to remove ACLs: \n {listed}\n from resource filter `{pattern}`? (y/n)"


def _confirmed(question: str) -> bool:
    print(question)
    try:
        return input().lower() == "y"
    except EOFError:
        return False


async def _list(cluster: Cluster, parser: OptionParser, options: OptionSet) -> None:
    patterns = patterns_of(parser, options, is_needed=False)
    principals = principals_of(options, "principal")
    found: dict[ResourcePattern, dict[AccessControlEntry, None]] = {}
    for wanted in [AclBinding(pattern, ANY_ENTRY) for pattern in patterns] or [ANY_ACL]:
        for binding in await describe_acls(cluster, wanted):
            found.setdefault(binding.pattern, {})[binding.entry] = None
    if not principals:
        _print_acls(found)
    for principal in principals:
        print(f"ACLs for principal `{principal}`")
        _print_acls(
            {
                pattern: own
                for pattern, entries in found.items()
                if (own := [entry for entry in entries if entry.principal == principal])
            }
        )


def _print_acls(found: Mapping[ResourcePattern, Iterable[AccessControlEntry]]) -> None:
    for pattern, entries in found.items():
        print(f"Current ACLs for resource `{pattern}`:\n{_listed(entries)}\n")


def _listed(entries: Iterable[AccessControlEntry]) -> str:
    return "\n".join(f"\t{entry}" for entry in entries)


if __name__ == "__main__":
    raise SystemExit(main())
