"""`penstock log-dirs --describe`."""

from __future__ import annotations

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.view import Record, View
from penstock.cli.views.asking import cluster_of, has_only
from penstock.client.admin.log_dirs import describe_log_dirs
from penstock.wire_client import Cluster, now


def view(options: OptionSet) -> View | None:
    if not options.has("describe") or not has_only(options, "describe", "topic-list", "broker-list"):
        return None
    with cluster_of(options) as cluster:
        return now(_described(cluster, _listed(options, "topic-list"), _listed(options, "broker-list")))


def _listed(options: OptionSet, flag: str) -> set[str]:
    return set(filter(None, (options.value(flag) or "").split(",")))


async def _described(cluster: Cluster, topics: set[str], brokers: set[str]) -> View:
    ids = sorted(node.id for node in (await cluster.describe()).nodes)
    nodes = [each for each in ids if not brokers or str(each) in brokers]
    records: list[Record] = [
        {
            "broker": broker,
            "log_dir": path,
            "topic": partition.topic,
            "partition": partition.partition,
            "size_bytes": replica.size,
            "offset_lag": replica.offset_lag,
            "future": replica.is_future,
        }
        for broker, directories in (await describe_log_dirs(cluster, nodes)).items()
        for path, directory in directories.items()
        for partition, replica in sorted(directory.replicas.items())
        if not topics or partition.topic in topics
    ]
    return View(records)
