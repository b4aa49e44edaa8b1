"""kafka-dump-log decodes every record that the coordinators keep, in the partition where Kafka would look for it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.foreign_clients.drivers.confluent import ConfluentClient
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records
from tests.java_tools.conftest import tool_for
from tests.java_tools.members import commit_alone, committed, member
from tests.support.cluster_fixture import KafkaServer, running_kafka
from tests.support.java_tools import run_java_tool
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.xdist_group("dump-internal-topics")

PARTITIONS = 3
SETTINGS = {
    "offsets.topic.num.partitions": str(PARTITIONS),
    "transaction.state.log.num.partitions": str(PARTITIONS),
    "share.coordinator.state.topic.num.partitions": str(PARTITIONS),
}
DECODERS = {
    "__consumer_offsets": "--offsets-decoder",
    "__transaction_state": "--transaction-log-decoder",
    "__share_group_state": "--share-group-state-decoder",
}
WORK = "work"
EMPTY, ONGOING, PREPARE_COMMIT, PREPARE_ABORT, COMPLETE_COMMIT, COMPLETE_ABORT = range(
    6
)  # states of transactions
AVAILABLE, ACKNOWLEDGED, ARCHIVED = 0, 2, 4  # states of shared records; markers are archived
RECORD = re.compile(
    r"\| offset: \d+ CreateTime: \d+ keySize: (\d+) valueSize: (-?\d+) .*? headerKeys: \[\] (.*)"
)
BATCH = re.compile(r"baseOffset: \d+ lastOffset: \d+ count: \d+ .* isvalid: (\w+)")
ENTRY = re.compile(r"key: (\{.*\}) payload: (\{.*\}|<DELETE>)")
MARKER = re.compile(r"endTxnMarker: (COMMIT|ABORT) coordinatorEpoch: \d+")
NOISE = re.compile(r"Dumping .*|Log starting offset: 0|")


@dataclass(frozen=True)
class Entry:
    """One record of an internal topic, as the tool shows it."""

    partition: int
    type: int
    key: dict[str, Any]
    value: dict[str, Any] | None


@dataclass(frozen=True)
class Dump:
    entries: list[Entry]
    markers: list[str]

    def values(self, type: int, **key: Any) -> list[dict[str, Any] | None]:
        """The values of one key, or of all keys that have these fields, oldest first."""
        return [each.value for each in self.entries if each.type == type and key.items() <= each.key.items()]


# --- what is written


def write_groups(kafka: KafkaServer) -> None:
    with member(kafka.bootstrap, "classic-group", [WORK], partitions=2, client_id="classic-client") as joined:
        joined.commit({(WORK, 0): 4, (WORK, 1): 1})
    with member(kafka.bootstrap, "consumer-group", [WORK], partitions=2, group_protocol="consumer") as joined:
        joined.commit({(WORK, 0): 3})
    commit_alone(kafka.bootstrap, "deleted-group", {(WORK, 0): 1})
    admin = AdminClient({"bootstrap.servers": kafka.bootstrap, "log_level": 0})
    admin.delete_consumer_groups(["deleted-group"])["deleted-group"].result(30)


def write_transactions(kafka: KafkaServer) -> None:
    """One that is committed, then one that is aborted; each with a record and the offset of a group."""
    settings = {"bootstrap.servers": kafka.bootstrap, "log_level": 0}
    consumer = Consumer({**settings, "group.id": "transactional-group"})
    producer = Producer({**settings, "transactional.id": "transactional-id"})
    producer.init_transactions(30)
    for offset, end in ((7, producer.commit_transaction), (8, producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(WORK, b"x", partition=0)
        offsets = [TopicPartition(WORK, 1, offset)]
        producer.send_offsets_to_transaction(offsets, consumer.consumer_group_metadata(), 30)
        end(30)
    consumer.close()
    assert committed(kafka.bootstrap, "transactional-group") == {(WORK, 1): 7}


def write_with_java(kafka: KafkaServer) -> None:
    """A producer that uses the second version of transactions, then a consumer that shares."""
    tool = tool_for(kafka)
    size = ("--num-records", "3", "--record-size", "10", "--throughput", "-1")
    tool("kafka-producer-perf-test", "--topic", WORK, *size, "--transactional-id", "java-id")
    tool(
        "kafka-configs",
        "--alter",
        "--group",
        "share-group",
        "--add-config",
        "share.auto.offset.reset=earliest",
    )
    share = ("--topic", WORK, "--group", "share-group", "--max-messages", "2", "--timeout-ms", "60000")
    tool("kafka-console-share-consumer", *share)


@pytest.fixture(scope="module")
@starts_processes
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with running_kafka(tmp_path_factory.mktemp("internal"), SETTINGS) as server:
        client = ConfluentClient(server.bootstrap)
        client.create_topic(WORK, partitions=2, configs=KEEP_FOR_EVER)
        client.produce(WORK, numbered_records(5))
        client.close()
        write_groups(server)
        write_transactions(server)
        write_with_java(server)
    return server.log_dir


# --- what is found


def parsed(printed: str) -> Dump:
    """Fails on any line that is not a batch, a decoded record or a marker."""
    entries: list[Entry] = []
    markers: list[str] = []
    partition = -1
    for line in printed.splitlines():
        if heading := re.match(r"Dumping .*-(\d+)/0+\.log", line):
            partition = int(heading[1])
        elif batch := BATCH.fullmatch(line):
            assert batch[1] == "true", line
        elif record := RECORD.fullmatch(line):
            if marker := MARKER.fullmatch(record[3]):
                markers.append(marker[1])
            else:
                entries.append(parsed_entry(partition, record[3]))
        else:
            assert NOISE.fullmatch(line), line
    return Dump(entries, markers)


def parsed_entry(partition: int, text: str) -> Entry:
    found = ENTRY.fullmatch(text)
    assert found, text
    key = json.loads(found[1])
    value = None if found[2] == "<DELETE>" else json.loads(found[2])["data"]
    return Entry(partition, int(key["type"]), key["data"], value)


@pytest.fixture(scope="module")
@starts_processes
def dumps(log_dir: Path) -> dict[str, Dump]:
    found = {}
    for topic, decoder in DECODERS.items():
        files = sorted(log_dir.glob(f"{topic}-*/*.log"))
        assert len(files) == PARTITIONS
        done = run_java_tool("kafka-dump-log", decoder, "--files", ",".join(map(str, files)), timeout=120)
        assert (done.returncode, done.stderr) == (0, "")
        found[topic] = parsed(done.stdout)
    return found


def partition_for(name: str) -> int:
    """By Java's hash of a string, of which the absolute value is taken."""
    hashed = 0
    for letter in name:
        hashed = (31 * hashed + ord(letter)) & 0xFFFFFFFF
    return min(hashed, 2**32 - hashed) % PARTITIONS


def test_everything_is_where_kafka_looks_for_it(dumps: dict[str, Dump]) -> None:
    for topic, name in (("__consumer_offsets", "group"), ("__transaction_state", "transactionalId")):
        for entry in dumps[topic].entries:
            group = entry.key.get(name) or entry.key["groupId"]
            assert entry.partition == partition_for(group), entry
    for entry in dumps["__share_group_state"].entries:
        coordinated = ":".join(str(entry.key[name]) for name in ("groupId", "topicId", "partition"))
        assert entry.partition == partition_for(coordinated), entry


def test_commits(dumps: dict[str, Dump]) -> None:
    offsets = dumps["__consumer_offsets"]
    for group, partition, offset in (
        ("classic-group", 0, 4),
        ("classic-group", 1, 1),
        ("consumer-group", 0, 3),
    ):
        [value] = offsets.values(1, group=group, topic=WORK, partition=partition)
        assert value is not None
        assert (value["offset"], value["metadata"]) == (offset, "")
        assert value["commitTimestamp"] > 0
        assert re.fullmatch(r"[\w-]{22}", value["topicId"])


def test_tombstones_of_a_deleted_group(dumps: dict[str, Dump]) -> None:
    offsets = dumps["__consumer_offsets"]
    assert [value is None for value in offsets.values(1, group="deleted-group")] == [False, True]
    assert offsets.values(2, group="deleted-group")[-1] is None


def test_a_classic_group(dumps: dict[str, Dump]) -> None:
    """Its last two records are the generation that had the member, and the one that has none."""
    *_, stable, empty = dumps["__consumer_offsets"].values(2, group="classic-group")
    assert stable is not None
    assert empty is not None
    assert (stable["protocolType"], stable["generation"], stable["protocol"]) == ("consumer", 1, "range")
    [joined] = stable["members"]
    assert stable["leader"] == joined["memberId"]
    assert (joined["clientId"], joined["clientHost"]) == ("classic-client", "/127.0.0.1")
    assert joined["subscription"]["topics"] == [WORK]
    [assigned] = joined["assignment"]["assignedPartitions"]
    assert (assigned["topic"], sorted(assigned["partitions"])) == (WORK, [0, 1])
    assert (empty["generation"], empty["protocol"], empty["leader"], empty["members"]) == (2, None, None, [])


def test_a_consumer_group(dumps: dict[str, Dump]) -> None:
    """Group, member, target and current assignment; all of the member's records end in tombstones."""
    offsets = dumps["__consumer_offsets"]
    of_group = {"groupId": "consumer-group"}
    groups = [value for value in offsets.values(3, **of_group) if value is not None]
    assert len(groups) >= 2
    assert groups[-1]["epoch"] == groups[-2]["epoch"] + 1
    for type in (5, 7, 8):
        *before, last = offsets.values(type, **of_group)
        assert last is None
        assert before
    member_value, target, current = (offsets.values(type, **of_group)[-2] for type in (5, 7, 8))
    assert member_value is not None
    assert target is not None
    assert current is not None
    assert member_value["subscribedTopicNames"] == [WORK]
    assert sorted(target["topicPartitions"][0]["partitions"]) == [0, 1]
    assert sorted(current["assignedPartitions"][0]["partitions"]) == [0, 1]
    *_, assignment = offsets.values(6, **of_group)
    assert assignment is not None
    assert current["memberEpoch"] == assignment["assignmentEpoch"]


def test_a_share_group(dumps: dict[str, Dump]) -> None:
    offsets = dumps["__consumer_offsets"]
    of_group = {"groupId": "share-group"}
    for type in (10, 13, 14):
        *before, last = offsets.values(type, **of_group)
        assert last is None
        assert before
    assert all(offsets.values(type, **of_group) for type in (11, 12))
    *_, known = offsets.values(15, **of_group)
    assert known is not None
    [initialized] = known["initializedTopics"]
    assert (initialized["topicName"], sorted(initialized["partitions"])) == (WORK, [0, 1])


def test_transactional_commits(dumps: dict[str, Dump]) -> None:
    """What was aborted is there too, and a marker after each."""
    offsets = dumps["__consumer_offsets"]
    values = offsets.values(1, group="transactional-group", topic=WORK, partition=1)
    assert [value and value["offset"] for value in values] == [7, 8]
    assert offsets.markers == ["COMMIT", "ABORT"]


def states(values: list[dict[str, Any] | None]) -> list[int]:
    """The states of a transactional id, each run of one state once."""
    found = [value["transactionStatus"] for value in values if value is not None]
    return [state for state, before in zip(found, [None, *found], strict=False) if state != before]


def test_transactions(dumps: dict[str, Dump]) -> None:
    values = dumps["__transaction_state"].values(0, transactionalId="transactional-id")
    assert states(values) == [
        EMPTY, ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT, ONGOING, PREPARE_ABORT, COMPLETE_ABORT,
    ]  # fmt: skip
    prepared = next(value for value in values if value and value["transactionStatus"] == PREPARE_COMMIT)
    partitions = {each["topic"]: each["partitionIds"] for each in prepared["transactionPartitions"]}
    assert partitions == {WORK: [0], "__consumer_offsets": [partition_for("transactional-group")]}
    assert prepared["transactionTimeoutMs"] == 60_000
    assert len({value["producerId"] for value in values if value}) == 1


def test_transactions_of_the_second_version(dumps: dict[str, Dump]) -> None:
    """Its end gives the producer a new epoch."""
    values = [value for value in dumps["__transaction_state"].values(0, transactionalId="java-id") if value]
    assert states([*values]) == [EMPTY, ONGOING, PREPARE_COMMIT, COMPLETE_COMMIT]
    epochs = [(value["transactionStatus"], value["producerEpoch"]) for value in values]
    assert epochs[-2:] == [(PREPARE_COMMIT, 1), (COMPLETE_COMMIT, 1)]
    assert {epoch for _, epoch in epochs[:-2]} == {0}
    assert {value["clientTransactionVersion"] for value in values[1:]} == {2}


def test_states_of_shared_records(dumps: dict[str, Dump]) -> None:
    """A snapshot at first, then what changes: the two that were read are acknowledged, once delivered."""
    state = dumps["__share_group_state"]
    for partition in (0, 1):
        first, *_ = state.values(0, groupId="share-group", partition=partition)
        assert first is not None
        assert (first["snapshotEpoch"], first["stateBatches"]) == (0, [])
    found = {}
    for entry in state.entries:
        if entry.type == 1 and entry.value is not None:
            for batch in entry.value["stateBatches"]:
                for offset in range(batch["firstOffset"], batch["lastOffset"] + 1):
                    found[entry.key["partition"], offset] = (batch["deliveryState"], batch["deliveryCount"])
    outcomes = list(found.values())
    assert outcomes.count((ACKNOWLEDGED, 1)) == 2
    assert set(outcomes) <= {(ACKNOWLEDGED, 1), (AVAILABLE, 1), (ARCHIVED, 1)}
