"""Replicas that move between the log directories of their broker, while they are written to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker
from penstock.wire.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.describe_log_dirs import (
    DescribableLogDirTopic,
    DescribeLogDirsPartition,
    DescribeLogDirsRequest,
)
from penstock.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.broker.asking import (
    SET,
    batch_of,
    create_topic,
    log_start_offset,
    new_topic,
    produced,
    values_in,
)
from tests.broker.conftest import only_penstock
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = only_penstock

BROKER_RESOURCE = 4
THROTTLE = "replica.alter.log.dirs.io.max.bytes.per.second"
SLOW, FAST = 2048, 2**40
VALUE = b"x" * 1000
SETTINGS = {"replica.fetch.max.bytes": "1024"}


def alter(client: WireClient, path: Path | str, topic: str, *indexes: int) -> list[int]:
    request = AlterReplicaLogDirsRequest(
        [AlterReplicaLogDir(str(path), [AlterReplicaLogDirTopic(topic, indexes)])]
    )
    (answered,) = client.send(request).results
    assert [each.partition_index for each in answered.partitions] == list(indexes)
    return [each.error_code for each in answered.partitions]


def described(client: WireClient, topic: str, index: int = 0) -> dict[str, DescribeLogDirsPartition]:
    """By the name of the directory."""
    answer = client.send(DescribeLogDirsRequest([DescribableLogDirTopic(topic, [index])]))
    return {
        Path(directory.log_dir).name: partition
        for directory in answer.results
        for found in directory.topics
        for partition in found.partitions
    }


def places(client: WireClient, topic: str, index: int = 0) -> dict[str, bool]:
    """Where it is, and whether that is a copy that is under way."""
    return {name: each.is_future_key for name, each in described(client, topic, index).items()}


def limit(client: WireClient, rate: int) -> None:
    config = AlterableConfig(THROTTLE, SET, str(rate))
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(BROKER_RESOURCE, "", [config])])
    (answer,) = client.send(request).responses
    assert answer.error_code == 0, answer


@pytest.fixture
def log_dirs(tmp_path: Path) -> dict[str, Path]:
    return {name: tmp_path / name for name in ("a", "b")}


@pytest.fixture
def broker(log_dirs: dict[str, Path]) -> Iterator[InProcessBroker]:
    with InProcessBroker(SETTINGS, log_dirs=list(log_dirs.values())) as broker:
        yield broker


@pytest.fixture
def client(broker: InProcessBroker) -> Iterator[WireClient]:
    with WireClient(broker.bootstrap_servers) as client:
        yield client


def fill(client: WireClient, topic: str, count: int = 100, **configs: str) -> list[bytes]:
    """It begins in one directory; that is the one with the fewest."""
    new_topic(client, topic, **configs)
    values = [b"%d " % number + VALUE for number in range(count)]
    for value in values:
        produced(client, topic, batch_of(value))
    return values


def other(log_dirs: dict[str, Path], here: str) -> tuple[str, Path]:
    return next((name, path) for name, path in log_dirs.items() if name != here)


def test_there_and_back(client: WireClient, log_dirs: dict[str, Path]) -> None:
    values = fill(client, "moved")
    for _ in range(2):
        ((here, _),) = places(client, "moved").items()
        there, path = other(log_dirs, here)
        assert alter(client, path, "moved", 0) == [0]
        values.append(b"on the way")
        produced(client, "moved", batch_of(b"on the way"))
        wait_for(lambda: places(client, "moved") == {there: False}, what=f"it to be in {there}")  # noqa: B023
        assert values_in(client, "moved") == values
        produced(client, "moved", batch_of(b"there"))
        values.append(b"there")
        assert (path / "moved-0").is_dir()
        assert not (log_dirs[here] / "moved-0").exists()
        wait_for(lambda: not list(log_dirs[here].glob("moved-*")), what="its files to go")  # noqa: B023
    assert values_in(client, "moved") == values


def test_what_is_seen_on_the_way(client: WireClient, log_dirs: dict[str, Path]) -> None:
    limit(client, SLOW)
    values = fill(client, "slow")
    ((here, _),) = places(client, "slow").items()
    there, path = other(log_dirs, here)
    assert alter(client, path, "slow", 0) == [0]
    assert alter(client, path, "slow", 0) == [0]
    assert places(client, "slow") == {here: False, there: True}
    found = described(client, "slow")
    assert found[there].offset_lag > 0 == found[here].offset_lag
    assert found[there].partition_size < found[here].partition_size
    wait_for(lambda: described(client, "slow")[there].partition_size > 0, what="some of it")
    limit(client, FAST)
    wait_for(lambda: places(client, "slow") == {there: False}, what="it to have moved")
    assert values_in(client, "slow") == values


def test_it_is_called_back(client: WireClient, log_dirs: dict[str, Path]) -> None:
    limit(client, SLOW)
    values = fill(client, "back")
    ((here, _),) = places(client, "back").items()
    path = log_dirs["b" if here == "a" else "a"]
    assert alter(client, path, "back", 0) == [0]
    assert alter(client, log_dirs[here], "back", 0) == [0]
    assert places(client, "back") == {here: False}
    wait_for(lambda: not list(path.glob("back-*")), what="the copy to go")
    assert values_in(client, "back") == values


def test_a_topic_that_is_deleted_takes_its_copy_along(client: WireClient, log_dirs: dict[str, Path]) -> None:
    limit(client, SLOW)
    fill(client, "gone")
    ((here, _),) = places(client, "gone").items()
    assert alter(client, other(log_dirs, here)[1], "gone", 0) == [0]
    client.send(DeleteTopicsRequest(topics=[DeleteTopicState("gone")], timeout_ms=30_000))
    for path in log_dirs.values():
        wait_for(lambda: not list(path.glob("gone-*")), what="files to go")  # noqa: B023


def test_what_is_refused(client: WireClient, log_dirs: dict[str, Path]) -> None:
    fill(client, "refused", 1)
    assert alter(client, "/no/such/dir", "refused", 0, 9) == [ErrorCode.LOG_DIR_NOT_FOUND] * 2
    assert alter(client, log_dirs["a"], "refused", 9) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]
    long = "l" * 240
    assert alter(client, log_dirs["a"], long, 0) == [ErrorCode.INVALID_TOPIC_EXCEPTION]


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_replica_that_is_still_to_come(client: WireClient, log_dirs: dict[str, Path], name: str) -> None:
    assert alter(client, log_dirs[name], "new", 0, 1) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION] * 2
    assert create_topic(client, "new", 3).error_code == 0
    assert [places(client, "new", index) for index in (0, 1)] == [{name: False}] * 2
    assert places(client, "new", 2) != {name: False}


def test_a_move_goes_on_after_a_stop(
    broker: InProcessBroker, client: WireClient, log_dirs: dict[str, Path]
) -> None:
    limit(client, SLOW)
    values = fill(client, "stopped")
    ((here, _),) = places(client, "stopped").items()
    there, path = other(log_dirs, here)
    assert alter(client, path, "stopped", 0) == [0]
    wait_for(lambda: described(client, "stopped")[there].partition_size > 0, what="some of it")
    broker.restart()
    with WireClient(broker.bootstrap_servers) as again:
        assert places(again, "stopped") == {here: False, there: True}
        assert described(again, "stopped")[there].partition_size > 0
        limit(again, FAST)
        wait_for(lambda: places(again, "stopped") == {there: False}, what="it to have moved")
        assert values_in(again, "stopped") == values
        broker.restart()
    with WireClient(broker.bootstrap_servers) as again:
        assert places(again, "stopped") == {there: False}
        assert values_in(again, "stopped") == values


def test_records_that_were_deleted_stay_so(
    broker: InProcessBroker, client: WireClient, log_dirs: dict[str, Path]
) -> None:
    """The log begins within a batch."""
    new_topic(client, "cut")
    produced(client, "cut", batch_of(b"a", b"b", b"c"))
    produced(client, "cut", batch_of(b"d"))
    wanted = DeleteRecordsTopic("cut", [DeleteRecordsPartition(0, 2)])
    client.send(DeleteRecordsRequest([wanted], 30_000))
    ((here, _),) = places(client, "cut").items()
    there, path = other(log_dirs, here)
    assert alter(client, path, "cut", 0) == [0]
    wait_for(lambda: places(client, "cut") == {there: False}, what="it to have moved")
    assert log_start_offset(client, "cut") == 2
    assert values_in(client, "cut") == [b"c", b"d"]
    broker.restart()
    with WireClient(broker.bootstrap_servers) as again:
        assert log_start_offset(again, "cut") == 2
        assert values_in(again, "cut") == [b"c", b"d"]
