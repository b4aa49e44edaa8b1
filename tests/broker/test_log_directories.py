"""Several log directories, and one that fails: the rest serves on, and nothing acknowledged is lost."""

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import ErrorCode
from penstock.replica.replica_set import NO_LEADER
from penstock.stack.health import broker_complaint
from penstock.testing import InProcessBroker
from penstock.wire.messages.describe_log_dirs import DescribeLogDirsRequest
from penstock.wire.messages.describe_topic_partitions import DescribeTopicPartitionsRequest, TopicRequest
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from tests.broker.asking import (
    batch_of,
    create_topic,
    fetch_one,
    has_leaders,
    log_end_offset,
    new_topic,
    produce,
    produced,
    values_in,
)
from tests.broker.conftest import only_penstock
from tests.support.our_tools import our_tools
from tests.support.small_disk import fill, mounted
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

pytestmark = only_penstock

SMALL_DISK_BYTES = 8 << 20


def partitions_in(log_dir: Path, topic: str) -> list[int]:
    return sorted(int(path.name.rpartition("-")[2]) for path in log_dir.glob(f"{topic}-[0-9]*"))


def leader_of(client: WireClient, topic: str, index: int) -> int:
    (found,) = client.send(MetadataRequest([MetadataRequestTopic(name=topic)]), 12).topics
    return next(p.leader_id for p in found.partitions if p.partition_index == index)


def test_partitions_are_spread_and_found_again(tmp_path: Path) -> None:
    log_dirs = [tmp_path / name for name in "abc"]
    with InProcessBroker(log_dirs=log_dirs) as broker:
        with WireClient(broker.bootstrap_servers) as client:
            new_topic(client, "foods", 6)
            for index in range(6):
                produced(client, "foods", batch_of(b"%d" % index), index)
        spread = [partitions_in(log_dir, "foods") for log_dir in log_dirs]
        assert [len(indexes) for indexes in spread] == [2, 2, 2]
        broker.restart()
        assert [partitions_in(log_dir, "foods") for log_dir in log_dirs] == spread
        with WireClient(broker.bootstrap_servers) as client:
            assert [values_in(client, "foods", index) for index in range(6)] == [
                [b"%d" % index] for index in range(6)
            ]


def test_each_directory_has_its_own_files(tmp_path: Path) -> None:
    log_dirs = [tmp_path / name for name in "ab"]
    with InProcessBroker(log_dirs=log_dirs):
        pass
    for log_dir in log_dirs:
        names = {path.name for path in log_dir.iterdir()}
        assert {"meta.properties", ".kafka_cleanshutdown"} <= names


def test_segments_are_rolled_by_size(broker: InProcessBroker) -> None:
    (log_dir,) = broker.log_dirs
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods", segment_bytes=str(1 << 20))
        for index in range(5):
            produced(client, "foods", batch_of(b"%d" % index * 500_000))
        names = sorted(path.name for path in (log_dir / "foods-0").glob("*.log"))
        assert names == [f"{base:020}.log" for base in (0, 2, 4)]
        assert [value[:1] for value in values_in(client, "foods")] == [b"0", b"1", b"2", b"3", b"4"]


# a disk that fails


@pytest.fixture
@starts_processes
def small_disk(tmp_path: Path) -> Iterator[Path]:
    with mounted(tmp_path / "small", SMALL_DISK_BYTES) as place:
        yield place


class TwoDisks:
    """A broker with a large and a small disk, a partition on each, and what it acknowledged."""

    def __init__(self, large: Path, small: Path) -> None:
        self.large, self.small = large, small
        self.broker = InProcessBroker(log_dirs=[large, small])
        self.acknowledged: dict[int, list[bytes]] = {0: [], 1: []}

    def start(self) -> None:
        self.broker.start()
        with WireClient(self.broker.bootstrap_servers) as client:
            new_topic(client, "foods", 2)
        (self.on_large,) = partitions_in(self.large, "foods")
        (self.on_small,) = partitions_in(self.small, "foods")

    def send(self, client: WireClient, partition: int, value: bytes) -> ErrorCode:
        code = ErrorCode(produce(client, "foods", batch_of(value), partition).error_code)
        if code == ErrorCode.NONE:
            self.acknowledged[partition].append(value)
        return code

    def fill_small(self, client: WireClient) -> ErrorCode:
        for number in range(2 * SMALL_DISK_BYTES // 100_000):
            code = self.send(client, self.on_small, b"%4d" % number * 25_000)
            if code != ErrorCode.NONE:
                return code
        raise AssertionError("the disk did not fill up")


@pytest.fixture
def disks(tmp_path: Path, small_disk: Path) -> Iterator[TwoDisks]:
    two = TwoDisks(tmp_path / "large", small_disk / "logs")
    two.start()
    yield two
    two.broker.stop()


@pytest.mark.processes
def test_a_full_disk(disks: TwoDisks, small_disk: Path, caplog: pytest.LogCaptureFixture) -> None:
    filler = small_disk / "filler"
    filler.write_bytes(bytes(SMALL_DISK_BYTES // 2))
    with WireClient(disks.broker.bootstrap_servers) as client:
        with caplog.at_level(logging.ERROR, "penstock.broker"):
            assert disks.fill_small(client) == ErrorCode.KAFKA_STORAGE_ERROR
        (line,) = [message for message in caplog.messages if "offline" in message]
        assert line.startswith(f"log directory {disks.small} goes offline: ")
        assert "No space left on device" in line
        assert disks.send(client, disks.on_small, b"later") == ErrorCode.KAFKA_STORAGE_ERROR
        refused = fetch_one(client, "foods", 0, disks.on_small)
        assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
        for number in range(3):
            assert disks.send(client, disks.on_large, b"%d" % number) == ErrorCode.NONE
        assert create_topic(client, "drinks").error_code == 0, "new topics go to the disk that works"
        assert has_leaders(client, "drinks", 1)
        offline = {result.log_dir: result.error_code for result in client.send(all_log_dirs()).results}
        assert offline == {str(disks.large): 0, str(disks.small): ErrorCode.KAFKA_STORAGE_ERROR}
        assert_everybody_tells(client, disks)
    disks.broker.stop_broker()
    filler.unlink()
    disks.broker.start_broker()
    with WireClient(disks.broker.bootstrap_servers) as client:
        for partition, values in disks.acknowledged.items():
            assert values_in(client, "foods", partition)[: len(values)] == values
        assert disks.send(client, disks.on_small, b"again") == ErrorCode.NONE


def assert_everybody_tells(client: WireClient, disks: TwoDisks) -> None:
    """Which partition is served and which is not, and why."""
    broker_id = disks.broker.broker.broker_id
    by_metadata = client.send(MetadataRequest([MetadataRequestTopic(name="foods")]), 12).topics[0].partitions
    pages = DescribeTopicPartitionsRequest([TopicRequest("foods")], 100)
    by_pages = client.send(pages, 0).topics[0].partitions
    for partitions in (by_metadata, by_pages):
        told = {p.partition_index: (p.leader_id, p.error_code, list(p.offline_replicas)) for p in partitions}
        assert told[disks.on_large] == (broker_id, ErrorCode.NONE, [])
        assert told[disks.on_small] == (NO_LEADER, ErrorCode.LEADER_NOT_AVAILABLE, [broker_id])
    shown = run_tool("kafka_topics", disks.broker, "--describe", "--topic", "foods")
    (line,) = [line for line in shown.splitlines() if f"Partition: {disks.on_small}\t" in line]
    assert "Leader: none" in line
    told_by_tool = json.loads(run_tool("kafka_log_dirs", disks.broker, "--describe").splitlines()[-1])
    errors = {each["logDir"]: each["error"] for each in told_by_tool["brokers"][0]["logDirs"]}
    storage_error = "org.apache.kafka.common.errors.KafkaStorageException"
    assert errors == {str(disks.large): None, str(disks.small): storage_error}
    said = broker_complaint(disks.broker.host, disks.broker.port)
    assert said == f"offline log directory: {disks.small}"


def run_tool(name: str, broker: InProcessBroker, *words: str) -> str:
    arguments = ["--bootstrap-server", broker.bootstrap_servers, *words]
    return our_tools().run(f"penstock.cli.tools.{name}", arguments).stdout.decode()


def all_log_dirs() -> DescribeLogDirsRequest:
    return DescribeLogDirsRequest(topics=None)


@pytest.mark.processes
def test_a_disk_that_is_full_at_the_start(tmp_path: Path, small_disk: Path) -> None:
    fill(small_disk / "filler")
    log_dirs = [tmp_path / "large", small_disk / "logs"]
    with InProcessBroker(log_dirs=log_dirs) as broker, WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods", 2)
        for index in (0, 1):
            produced(client, "foods", batch_of(b"bread"), index)
        assert partitions_in(log_dirs[0], "foods") == [0, 1]


def test_a_directory_that_is_a_file(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "b").write_text("not a directory")
    with InProcessBroker(log_dirs=[tmp_path / "a", tmp_path / "b"]) as broker:
        assert f"log directory {tmp_path / 'b'} goes offline" in caplog.text
        with WireClient(broker.bootstrap_servers) as client:
            produced(client, new_topic(client, "foods"), batch_of(b"bread"))
            assert log_end_offset(client, "foods") == 1


def test_a_directory_that_is_away_for_a_while(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Its partitions are not made anew elsewhere: they are back with it."""
    log_dirs = [tmp_path / "a", tmp_path / "b"]
    with InProcessBroker(log_dirs=log_dirs) as broker:
        with WireClient(broker.bootstrap_servers) as client:
            new_topic(client, "foods", 2)
            for index in (0, 1):
                produced(client, "foods", batch_of(b"%d" % index), index)
        ((on_a,), (on_b,)) = (partitions_in(log_dir, "foods") for log_dir in log_dirs)
        broker.stop_broker()
        log_dirs[1].rename(tmp_path / "away")
        log_dirs[1].write_text("in the way")
        broker.start_broker()
        assert f"partition foods-{on_b} can't be hosted" in caplog.text
        with WireClient(broker.bootstrap_servers) as client:
            assert values_in(client, "foods", on_a) == [b"%d" % on_a]
            refused = produce(client, "foods", batch_of(b"lost?"), on_b)
            assert refused.error_code == ErrorCode.KAFKA_STORAGE_ERROR
            assert leader_of(client, "foods", on_a) == broker.broker.broker_id
            assert leader_of(client, "foods", on_b) == NO_LEADER
            new_topic(client, "drinks")
        broker.stop_broker()
        log_dirs[1].unlink()
        (tmp_path / "away").rename(log_dirs[1])
        broker.start_broker()
        with WireClient(broker.bootstrap_servers) as client:
            for index in (0, 1):
                assert values_in(client, "foods", index) == [b"%d" % index]
