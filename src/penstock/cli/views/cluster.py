"""`penstock cluster cluster-id` and `list-endpoints`."""

from __future__ import annotations

from penstock.cli.options.argparse4j import Namespace
from penstock.cli.output.view import Record, View
from penstock.cli.views.asking import cluster_of
from penstock.client.admin.cluster_nodes import describe_cluster
from penstock.wire_client import Cluster, now


def view(options: Namespace) -> View | None:
    show = {"cluster-id": _cluster_id, "list-endpoints": _endpoints}.get(options["command"])
    if show is None or options["bootstrap_server"] is None:
        return None
    with cluster_of(options) as cluster:
        return now(show(cluster, options))


async def _cluster_id(cluster: Cluster, options: Namespace) -> View:
    found = await describe_cluster(cluster)
    return View(
        [{"cluster_id": found.cluster_id, "controller": found.controller_id, "brokers": len(found.nodes)}]
    )


async def _endpoints(cluster: Cluster, options: Namespace) -> View:
    found = await describe_cluster(cluster, include_fenced_brokers=options["include_fenced_brokers"])
    records: list[Record] = [
        {
            "id": each.node.id,
            "host": each.node.host,
            "port": each.node.port,
            "rack": each.node.rack,
            "controller": each.node.id == found.controller_id,
            "fenced": each.is_fenced,
        }
        for each in sorted(found.nodes, key=lambda each: each.node.id)
    ]
    return View(records)
