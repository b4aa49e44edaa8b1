"""`penstock broker-api-versions`."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import Record, View
from penstock.cli.views.asking import cluster_of, has_only
from penstock.wire.api_keys import ApiKey
from penstock.wire_client import Cluster, now


def view(options: OptionSet) -> View | None:
    if not has_only(options):
        return None
    with cluster_of(options) as cluster:
        return now(_served(cluster))


async def _served(cluster: Cluster) -> View:
    records: list[Record] = []
    for node in (await cluster.describe()).nodes:
        served = (await cluster.connection_to(node.id)).api_versions.api_keys
        for each in sorted(served, key=lambda each: each.api_key):
            is_known = each.api_key in set(ApiKey)
            records.append(
                {
                    "broker": node.id,
                    "api": ApiKey(each.api_key).name if is_known else None,
                    "key": each.api_key,
                    "min_version": each.min_version,
                    "max_version": each.max_version,
                }
            )
    return View(records)
