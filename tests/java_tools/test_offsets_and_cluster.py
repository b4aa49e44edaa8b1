"""kafka-get-offsets, kafka-delete-records, and the tools that describe brokers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.foreign_clients.drivers.model import Client, Record
from tests.foreign_clients.samples import BASE_TIMESTAMP, KEEP_FOR_EVER, numbered_records
from tests.java_tools.conftest import Tool
from tests.support.cluster_fixture import KafkaServer

pytestmark = pytest.mark.processes


@pytest.fixture(scope="module")
def filled(client: Client) -> str:
    """Partition 0 has ten records, a second apart, the eldest last; partition 1 has none."""
    client.create_topic("filled", partitions=2, configs=KEEP_FOR_EVER)
    client.produce("filled", numbered_records(9))
    client.produce("filled", [Record(b"late", timestamp=BASE_TIMESTAMP - 5)])
    return "filled"


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("latest", ["filled:0:10", "filled:1:0"]),
        ("earliest", ["filled:0:0", "filled:1:0"]),
        ("max-timestamp", ["filled:0:8"]),
        (str(BASE_TIMESTAMP + 3_500), ["filled:0:4"]),
    ],
)
def test_get_offsets(tool: Tool, filled: str, time: str, expected: list[str]) -> None:
    """A partition that has no such record is left out."""
    assert tool("kafka-get-offsets", "--topic", filled, "--time", time).stdout.splitlines() == expected


def test_get_offsets_of_some_partitions(tool: Tool, filled: str) -> None:
    assert tool("kafka-get-offsets", "--topic-partitions", f"{filled}:0").stdout == f"{filled}:0:10\n"


def test_delete_records(tool: Tool, client: Client, topic: str, tmp_path: Path) -> None:
    client.create_topic(topic, configs=KEEP_FOR_EVER)
    client.produce(topic, numbered_records(20))
    wanted = {"version": 1, "partitions": [{"topic": topic, "partition": 0, "offset": 7}]}
    file = tmp_path / "delete.json"
    file.write_text(json.dumps(wanted))
    said = tool("kafka-delete-records", "--offset-json-file", str(file)).stdout
    assert f"partition: {topic}-0\tlow_watermark: 7\n" in said
    assert client.offsets(topic).beginning == 7


# What a broker must serve now, in the versions of Apache Kafka 4.3.1.
SERVED = {
    "Produce(0)": "0 to 13",
    "Fetch(1)": "4 to 18",
    "ListOffsets(2)": "1 to 11",
    "Metadata(3)": "0 to 13",
    "OffsetCommit(8)": "2 to 10",
    "OffsetFetch(9)": "1 to 10",
    "FindCoordinator(10)": "0 to 6",
    "JoinGroup(11)": "0 to 9",
    "Heartbeat(12)": "0 to 4",
    "LeaveGroup(13)": "0 to 5",
    "SyncGroup(14)": "0 to 5",
    "DescribeGroups(15)": "0 to 6",
    "ListGroups(16)": "0 to 5",
    "ApiVersions(18)": "0 to 4",
    "CreateTopics(19)": "2 to 7",
    "DeleteTopics(20)": "1 to 6",
    "DeleteRecords(21)": "0 to 2",
    "InitProducerId(22)": "0 to 5",
    "OffsetForLeaderEpoch(23)": "2 to 4",
    "AddPartitionsToTxn(24)": "0 to 5",
    "AddOffsetsToTxn(25)": "0 to 4",
    "EndTxn(26)": "0 to 5",
    "WriteTxnMarkers(27)": "1 to 2",
    "TxnOffsetCommit(28)": "0 to 5",
    "DescribeAcls(29)": "1 to 3",
    "CreateAcls(30)": "1 to 3",
    "DeleteAcls(31)": "1 to 3",
    "DescribeConfigs(32)": "1 to 4",
    "AlterConfigs(33)": "0 to 2",
    "DescribeLogDirs(35)": "1 to 5",
    "CreatePartitions(37)": "0 to 3",
    "DeleteGroups(42)": "0 to 2",
    "IncrementalAlterConfigs(44)": "0 to 1",
    "OffsetDelete(47)": "0",
    "UpdateFeatures(57)": "0 to 2",
    "DescribeCluster(60)": "0 to 2",
    "DescribeProducers(61)": "0",
    "DescribeTransactions(65)": "0",
    "ListTransactions(66)": "0 to 2",
    "ConsumerGroupHeartbeat(68)": "0 to 1",
    "ConsumerGroupDescribe(69)": "0 to 1",
    "ListConfigResources(74)": "0 to 1",
    "DescribeTopicPartitions(75)": "0",
    "ShareGroupHeartbeat(76)": "1",
    "ShareGroupDescribe(77)": "1",
    "ShareFetch(78)": "1 to 2",
    "ShareAcknowledge(79)": "1 to 2",
    "InitializeShareGroupState(83)": "0",
    "ReadShareGroupState(84)": "0",
    "WriteShareGroupState(85)": "0 to 1",
    "DeleteShareGroupState(86)": "0",
    "ReadShareGroupStateSummary(87)": "0 to 1",
    "DescribeShareGroupOffsets(90)": "0 to 1",
    "AlterShareGroupOffsets(91)": "0",
    "DeleteShareGroupOffsets(92)": "0",
}


def test_api_versions(tool: Tool, kafka: KafkaServer) -> None:
    said = tool("kafka-broker-api-versions").stdout
    assert said.startswith(f"{kafka.bootstrap} (id: {kafka.broker_id} rack: null isFenced: false) -> (")
    found = dict(re.findall(r"^\t(\w+\(\d+\)): ([\d to]+?) \[usable: \d+\],?$", said, re.MULTILINE))
    assert {name: found.get(name) for name in SERVED} == SERVED


def test_cluster(tool: Tool, client: Client, kafka: KafkaServer) -> None:
    assert (
        tool("kafka-cluster", "cluster-id").stdout == f"Cluster ID: {client.describe_cluster().cluster_id}\n"
    )
    [_, line] = tool("kafka-cluster", "list-endpoints").stdout.splitlines()
    assert line.split() == [
        str(kafka.broker_id), kafka.host, str(kafka.port), "null", "unfenced", "broker",
    ]  # fmt: skip


def test_log_dirs(tool: Tool, kafka: KafkaServer, filled: str) -> None:
    said = tool("kafka-log-dirs", "--describe", "--topic-list", filled).stdout
    [broker] = json.loads(said.splitlines()[-1])["brokers"]
    assert broker["broker"] == kafka.broker_id
    [directory] = broker["logDirs"]
    assert directory["logDir"] == str(kafka.log_dir)
    assert directory["error"] is None
    sizes = {each["partition"]: each["size"] for each in directory["partitions"]}
    size = sum(segment.stat().st_size for segment in kafka.partition_dir(filled).glob("*.log"))
    assert sizes == {f"{filled}-0": size, f"{filled}-1": 0}


def test_acls_without_an_authorizer(tool: Tool) -> None:
    said = tool("kafka-acls", "--list", code=1)
    assert "SecurityDisabledException: No Authorizer is configured" in said.stdout


def test_list_of_client_metrics_configs(tool: Tool) -> None:
    """Nobody made one; the answer is ListConfigResources'."""
    assert tool("kafka-client-metrics", "--list").stdout.strip() == ""
