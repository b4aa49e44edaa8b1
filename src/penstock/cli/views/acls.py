"""`penstock acls --list`."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import Record, View
from penstock.cli.views.asking import cluster_of, has_only
from penstock.client.admin.acls import AclBinding, describe_acls
from penstock.wire_client import now


def view(options: OptionSet) -> View | None:
    if not options.has("list") or not has_only(options, "list"):
        return None
    with cluster_of(options) as cluster:
        return View([_record(each) for each in now(describe_acls(cluster))])


def _record(acl: AclBinding) -> Record:
    return {
        "resource_type": acl.pattern.resource_type.name,
        "resource": acl.pattern.name,
        "pattern": acl.pattern.pattern_type.name,
        "principal": acl.entry.principal,
        "host": acl.entry.host,
        "operation": acl.entry.operation.name,
        "permission": acl.entry.permission_type.name,
    }
