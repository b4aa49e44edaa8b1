"""`penstock reassign-partitions --execute ... --wait`: starts a reassignment, shows how far it is, and verifies it.

Kafka's tool leaves when the reassignment has begun, and wants to be asked again and again with --verify, which also
takes throttles away when all is done. Here that is done as soon as nothing moves any more and every broker knows of it:
the controller says first that all has moved, and --verify may ask another broker, which hears of it a moment later.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from penstock.cli.options.joptsimple import OptionSet
from penstock.cli.output.progress import Progress
from penstock.cli.tool import err, run
from penstock.cli.tool_commands.option_tables import options_of
from penstock.cli.tool_commands.running import WAIT_FLAG
from penstock.cli.tools import kafka_reassign_partitions
from penstock.cli.tools.common.failures import CommandFailure
from penstock.cli.tools.reassign_partitions.plans import parse_plan
from penstock.cli.tools.reassign_partitions.under_way import under_way
from penstock.cli.views.asking import cluster_of
from penstock.types import TopicPartition
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

LOOK_EVERY_SECONDS = 0.5
NEWS_SECONDS = 10.0
"""How long brokers may take to hear of it; --verify tells of a partition that does not get there at all."""
KEPT_FOR_VERIFYING = ("bootstrap-server", "command-config", "reassignment-json-file")


def main(words: Sequence[str]) -> int:
    return run("penstock reassign-partitions", command, list(words))


def command(words: list[str]) -> int:
    rest = [word for word in words if word != WAIT_FLAG]
    options = options_of(kafka_reassign_partitions.__name__, rest)
    if isinstance(options, OptionSet) and not options.has("execute"):
        err(f"penstock reassign-partitions: {WAIT_FLAG} goes with --execute")
        return 1
    code = kafka_reassign_partitions.main(rest)
    if code or not isinstance(options, OptionSet):
        return code
    try:
        _wait(options)
    except CommandFailure as failure:
        err(f"penstock reassign-partitions: {failure}")
        return 1
    return kafka_reassign_partitions.main(_verifying(options))


def _wait(options: OptionSet) -> None:
    plan = parse_plan(Path(options.value("reassignment-json-file")).read_text())
    partitions = list(plan.replicas)
    with cluster_of(options) as cluster, Progress("moving partitions", len(partitions)) as bar:
        while moving := under_way(cluster, partitions):
            bar.reach(len(partitions) - len(moving))
            time.sleep(LOOK_EVERY_SECONDS)
        bar.reach(len(partitions))
        deadline = time.monotonic() + NEWS_SECONDS
        while not now(all_brokers_show(cluster, plan.replicas)) and time.monotonic() < deadline:
            time.sleep(LOOK_EVERY_SECONDS)


async def all_brokers_show(cluster: Cluster, replicas: Mapping[TopicPartition, Sequence[int]]) -> bool:
    """Whether those that can be asked tell of these replicas."""
    topics = [MetadataRequestTopic(name=each) for each in sorted({each.topic for each in replicas})]
    request = MetadataRequest(topics, allow_auto_topic_creation=False)
    for node in (await cluster.describe()).nodes:
        try:
            answer = await cluster.ask_node(node.id, request, MetadataResponse)
        except KafkaError:
            continue
        shown = {
            TopicPartition(topic.name or "", each.partition_index): list(each.replica_nodes)
            for topic in answer.topics
            for each in topic.partitions
        }
        if any(shown.get(partition) != list(wanted) for partition, wanted in replicas.items()):
            return False
    return True


def _verifying(options: OptionSet) -> list[str]:
    words = ["--verify"]
    for name in KEPT_FOR_VERIFYING:
        if options.has(name):
            words += [f"--{name}", options.value(name)]
    return [*words, "--preserve-throttles"] if options.has("preserve-throttles") else words
