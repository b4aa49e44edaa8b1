"""`penstock transactions list`, `describe` and `describe-producers`."""

from __future__ import annotations

from dataclasses import asdict

from penstock.cli.options.argparse4j import Namespace
from penstock.cli.output.view import Record, View
from penstock.cli.views.asking import cluster_of
from penstock.client.admin.transactions import describe_producers, describe_transaction, list_transactions
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError


def view(options: Namespace) -> View | None:
    show = {"list": _listed, "describe": _described, "describe-producers": _producers}.get(options["command"])
    if show is None:
        return None
    with cluster_of(options) as cluster:
        return now(show(cluster, options))


async def _listed(cluster: Cluster, options: Namespace) -> View:
    longer_than_ms = options["duration_filter"]
    found = await list_transactions(
        cluster,
        longer_than_ms=-1 if longer_than_ms is None else longer_than_ms,
        transactional_id_pattern=options["transactional_id_pattern"],
    )
    records: list[Record] = [
        {
            "transactional_id": each.transactional_id,
            "coordinator": coordinator,
            "producer_id": each.producer_id,
            "state": each.state,
        }
        for coordinator, listings in found.items()
        for each in listings
    ]
    return View(sorted(records, key=lambda record: str(record["transactional_id"])))


async def _described(cluster: Cluster, options: Namespace) -> View:
    name = options["transactional_id"]
    found = await describe_transaction(cluster, name)
    record: Record = {
        "transactional_id": name,
        "coordinator": found.coordinator_id,
        "producer_id": found.producer_id,
        "producer_epoch": found.producer_epoch,
        "state": found.state,
        "timeout_ms": found.timeout_ms,
        "start_time_ms": found.start_time_ms,
        "partitions": [str(partition) for partition in sorted(found.partitions)],
    }
    return View([record])


async def _producers(cluster: Cluster, options: Namespace) -> View:
    partition = TopicPartition(options["topic"], options["partition"])
    found = (await describe_producers(cluster, [partition], broker_id=options["broker_id"]))[partition]
    if isinstance(found, KafkaError):
        raise found
    return View([asdict(each) for each in found])
