"""A log directory with everything in it that a broker writes: codecs, rolled segments, transactions, groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from penstock.wire.messages.delete_groups import DeleteGroupsRequest
from tests.broker.streams_members import StreamsMember, counting, plain, settle
from tests.foreign_clients.drivers.confluent import ConfluentClient
from tests.foreign_clients.drivers.model import CODECS
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records, varied_records
from tests.java_tools.members import commit_alone, member
from tests.support.cluster_fixture import COORDINATOR_SETTINGS, KafkaServer, running_apache, running_penstock
from tests.support.java_tools import run_java_tool

SERVERS: dict[str, Callable[..., object]] = {"penstock": running_penstock, "apache": running_apache}
PARTITIONS = {
    "offsets.topic.num.partitions": "1",
    "transaction.state.log.num.partitions": "1",
    "share.coordinator.state.topic.num.partitions": "1",
}
SMALL_SEGMENTS = {"segment.bytes": "1048576", "index.interval.bytes": "4096", **KEEP_FOR_EVER}
ROUNDS, RECORDS_PER_ROUND = 12, 100
WORK = "work"


def written_by(peer: str, directory: Path) -> KafkaServer:
    """What a server of this kind has written; it has been stopped, which trims its indexes."""
    with SERVERS[peer](directory, {**COORDINATOR_SETTINGS, **PARTITIONS}) as server:  # type: ignore[attr-defined]
        client = ConfluentClient(server.bootstrap)
        _write_records(client)
        client.close()
        _write_transactions(server)
        _write_groups(server)
        _write_share_group(server)
        _write_streams_groups(server)
        return server


def _write_records(client: ConfluentClient) -> None:
    client.create_topic("codecs", configs=KEEP_FOR_EVER)
    for codec in CODECS:
        client.produce("codecs", varied_records(salt=codec), codec=codec, idempotent=True)
    client.create_topic("stamped", configs={"message.timestamp.type": "LogAppendTime"})
    client.produce("stamped", numbered_records(5))
    client.create_topic("rolled", configs=SMALL_SEGMENTS)
    records = numbered_records(ROUNDS * RECORDS_PER_ROUND, size=2_000)
    for start in range(0, len(records), RECORDS_PER_ROUND):
        client.produce("rolled", records[start : start + RECORDS_PER_ROUND], idempotent=start % 300 == 0)
    client.create_topic(WORK, configs=KEEP_FOR_EVER)
    client.produce(WORK, numbered_records(5))


def _write_transactions(server: KafkaServer) -> None:
    settings = {"bootstrap.servers": server.bootstrap, "log_level": 0}
    consumer = Consumer({**settings, "group.id": "transactional-group"})
    producer = Producer({**settings, "transactional.id": "transactional-id"})
    producer.init_transactions(30)
    for offset, end in enumerate((producer.commit_transaction, producer.abort_transaction) * 2):
        producer.begin_transaction()
        producer.produce(WORK, b"x", partition=0)
        producer.flush(30)  # or an abort would take it back before it is sent
        offsets = [TopicPartition(WORK, 0, offset)]
        producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), 30)
        end(30)
    consumer.close()


def _write_groups(server: KafkaServer) -> None:
    for protocol in ("classic", "consumer"):
        group = f"{protocol}-group"
        with member(server.bootstrap, group, [WORK], partitions=1, group_protocol=protocol) as joined:
            joined.commit({(WORK, 0): 3})
    commit_alone(server.bootstrap, "deleted-group", {(WORK, 0): 1})
    admin = AdminClient({"bootstrap.servers": server.bootstrap, "log_level": 0})
    admin.delete_consumer_groups(["deleted-group"])["deleted-group"].result(30)


def _write_streams_groups(server: KafkaServer) -> None:
    """One with two members and standbys, and one that is gone."""
    settings = {"streams.num.standby.replicas": "1"}
    client = ConfluentClient(server.bootstrap)
    client.alter_configs("GROUP", "streams-group", settings)
    client.close()
    topology = counting("streams-group", WORK)
    with (
        StreamsMember(server.bootstrap, "streams-group", topology, endpoint=("here", 7001)) as alice,
        StreamsMember(server.bootstrap, "streams-group", topology) as bob,
        StreamsMember(server.bootstrap, "deleted-streams-group", plain(WORK)) as carol,
    ):
        for each in (alice, bob, carol):
            each.join()
        settle(alice, bob)
        carol.leave()
        carol.client.send(DeleteGroupsRequest([carol.group_id]))


def _write_share_group(server: KafkaServer) -> None:
    earliest = ("--alter", "--group", "share-group", "--add-config", "share.auto.offset.reset=earliest")
    limits = ("--topic", WORK, "--group", "share-group", "--max-messages", "2", "--timeout-ms", "60000")
    for tool, words in (("kafka-configs", earliest), ("kafka-console-share-consumer", limits)):
        done = run_java_tool(tool, "--bootstrap-server", server.bootstrap, *words, timeout=90)
        assert done.returncode == 0, done
