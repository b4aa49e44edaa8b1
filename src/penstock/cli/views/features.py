"""`penstock features describe`."""

from __future__ import annotations

from penstock.cli.options.argparse4j import Namespace
from penstock.cli.output.view import Record, View
from penstock.cli.views.asking import cluster_of
from penstock.client.admin.features import describe_features
from penstock.wire_client import now


def view(options: Namespace) -> View | None:
    if options["command"] != "describe" or options["bootstrap_server"] is None:
        return None
    with cluster_of(options) as cluster:
        found = now(describe_features(cluster, node_id=options.get("node_id")))
    records: list[Record] = [
        {
            "feature": name,
            "supported_min": levels.min_version,
            "supported_max": levels.max_version,
            "finalized_level": levels.finalized_level,
            "epoch": found.epoch,
        }
        for name, levels in sorted(found.levels.items())
    ]
    return View(records)
