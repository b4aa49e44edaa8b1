"""Partitions that move between three brokers, while they are written to."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress

import pytest

from penstock.errors import ErrorCode
from penstock.wire.messages.alter_partition_reassignments import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from penstock.wire.messages.create_partitions import CreatePartitionsRequest, CreatePartitionsTopic
from penstock.wire.messages.incremental_alter_configs import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from penstock.wire.messages.list_partition_reassignments import (
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsTopics,
)
from tests.broker.asking import SET, TOPIC_RESOURCE, batch_of, metadata, produce, produced, values_in
from tests.broker.conftest import only_penstock
from tests.faults.load import Load
from tests.support.penstock_cluster import QUOTA_SECONDS, PenstockCluster
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = [only_penstock, pytest.mark.processes]

PATIENCE_SECONDS = 60.0
BROKER_RESOURCE = 4
IMPATIENT = {"socket.timeout.ms": 1_500}
Targets = dict[int, Sequence[int] | None]


def reassign(
    cluster: PenstockCluster,
    topic: str,
    targets: Targets,
    *,
    asked: int | None = None,
    allow_replication_factor_change: bool = True,
) -> dict[int, ErrorCode]:
    """The error of each partition."""
    wanted = [ReassignablePartition(index, replicas) for index, replicas in targets.items()]
    request = AlterPartitionReassignmentsRequest(
        30_000, allow_replication_factor_change, [ReassignableTopic(topic, wanted)]
    )
    answer = cluster.ask(asked or cluster.not_the_controller(), request)
    assert answer.error_code == 0, answer
    (found,) = answer.responses
    return {each.partition_index: ErrorCode(each.error_code) for each in found.partitions}


def under_way(
    cluster: PenstockCluster, topic: str, asked: int = 3
) -> dict[int, tuple[list[int], list[int], list[int]]]:
    """Replicas, adding and removing of the partitions that move."""
    answer = cluster.ask(asked, ListPartitionReassignmentsRequest(30_000, None))
    assert answer.error_code == 0, answer
    return {
        each.partition_index: (list(each.replicas), list(each.adding_replicas), list(each.removing_replicas))
        for found in answer.topics
        if found.name == topic
        for each in found.partitions
    }


def wait_until_moved(cluster: PenstockCluster, topic: str, replicas: dict[int, list[int]]) -> None:
    """As every broker sees it, and all of them in sync."""

    def is_there(number: int) -> bool:
        found = cluster.partitions(topic, number)
        return all(
            list(found[index].replica_nodes) == wanted and set(found[index].isr_nodes) == set(wanted)
            for index, wanted in replicas.items()
        )

    cluster.wait_until_whole([topic])
    for number in cluster.ports:
        wait_for(
            lambda: is_there(number),  # noqa: B023
            PATIENCE_SECONDS,
            lambda: f"{replicas} on {number}, not {cluster.partitions(topic, number)}",  # noqa: B023
        )


def stored(cluster: PenstockCluster, number: int, topic: str, index: int = 0) -> dict[str, bytes] | None:
    """The bytes of the log's segments; None if the broker has no replica on disk."""
    found = [place for each in cluster.log_dirs(number) if (place := each / f"{topic}-{index}").exists()]
    if not found:
        return None
    (directory,) = found
    segments = {}
    for file in sorted(directory.glob("*.log")):
        with suppress(FileNotFoundError):  # it has just been removed
            segments[file.name] = file.read_bytes()
    return segments


def log_of(segments: dict[str, bytes] | None) -> bytes:
    return b"".join((segments or {}).values())


def wait_until_equal(cluster: PenstockCluster, topic: str, index: int, replicas: Sequence[int]) -> None:
    """The logs of all replicas; other brokers have none."""
    for number in cluster.ports:
        if number not in replicas:
            wait_for(lambda: stored(cluster, number, topic, index) is None, what=f"no log at {number}")  # noqa: B023

    def are_equal() -> bool:
        first, *others = (log_of(stored(cluster, number, topic, index)) for number in replicas)
        return all(other == first for other in others)

    wait_for(are_equal, what=f"equal logs at {replicas}")


def test_nothing_is_lost_while_partitions_move(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    cluster.create("moved", [[1, 2], [2, 1]], min_insync_replicas="2")
    rounds: list[dict[int, list[int]]] = [
        {0: [3, 2], 1: [2, 3]},  # a leader that goes, a follower that goes
        {0: [1, 3], 1: [3, 1]},
        {0: [1, 2, 3], 1: [2, 3]},
        {0: [2, 1], 1: [3, 2]},
    ]
    with Load(cluster.bootstrap, "moved", 2, idempotent=True) as load:
        for replicas in rounds:
            load.wait_for_progress_everywhere()
            assert set(reassign(cluster, "moved", dict(replicas)).values()) == {ErrorCode.NONE}
            wait_until_moved(cluster, "moved", replicas)
            load.wait_for_progress_everywhere()
        load.finish()
    load.check(cluster.bootstrap)
    for index, replicas_of in rounds[-1].items():
        wait_until_equal(cluster, "moved", index, replicas_of)
    assert under_way(cluster, "moved") == {}


def test_what_is_refused(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    cluster.create("refused", [[1, 2]])
    assert reassign(cluster, "no-such-topic", {0: [1], 1: None}) == {
        0: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        1: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    assert reassign(cluster, "refused", {7: [1]}) == {7: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    for target in ([], [1, 1], [1, 9], [-1]):
        assert reassign(cluster, "refused", {0: target}) == {0: ErrorCode.INVALID_REPLICA_ASSIGNMENT}
    assert reassign(cluster, "refused", {0: None}) == {0: ErrorCode.NO_REASSIGNMENT_IN_PROGRESS}
    kept = reassign(cluster, "refused", {0: [1]}, allow_replication_factor_change=False)
    assert kept == {0: ErrorCode.INVALID_REPLICATION_FACTOR}
    assert list(cluster.partitions("refused")[0].replica_nodes) == [1, 2]


def test_a_broker_without_a_replica_sends_clients_to_the_leader(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    cluster.create("elsewhere", [[1]])
    with WireClient(cluster.address(1)) as client:
        produced(client, "elsewhere", batch_of(b"bread"))
    assert reassign(cluster, "elsewhere", {0: [2]}) == {0: ErrorCode.NONE}
    wait_until_moved(cluster, "elsewhere", {0: [2]})
    with WireClient(cluster.address(1)) as client:
        refusal = produce(client, "elsewhere", batch_of(b"milk"))
        assert refusal.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    with WireClient(cluster.address(2)) as client:
        produced(client, "elsewhere", batch_of(b"milk"))
        assert values_in(client, "elsewhere") == [b"bread", b"milk"]


def test_a_broker_that_was_down_deletes_what_has_moved_away(penstock_cluster: PenstockCluster) -> None:
    cluster = penstock_cluster
    gone = 2 if cluster.controller() == 1 else 1
    cluster.create("behind", [[gone, 3]])
    with WireClient(cluster.address(gone)) as client:
        produced(client, "behind", batch_of(b"bread"))
    cluster.stop(gone)
    other = 3 - gone
    assert reassign(cluster, "behind", {0: [3, other]}, asked=3) == {0: ErrorCode.NONE}
    wait_for(lambda: not under_way(cluster, "behind"), PATIENCE_SECONDS, "the move")
    assert stored(cluster, gone, "behind") is not None
    cluster.start(gone)
    cluster.wait_until_whole(["behind"])
    wait_until_equal(cluster, "behind", 0, [3, other])


# --- held back, so that there is a middle of the move


RATE = 2048
"""Bytes a second; the partitions that are to be slow hold a hundred times that."""


def fill(cluster: PenstockCluster, topic: str) -> None:
    leader = cluster.leaders(topic)[0]
    with WireClient(cluster.address(leader)) as client:
        for _ in range(200):
            produced(client, topic, batch_of(b"x" * 1000))


def alter_configs(
    cluster: PenstockCluster, kind: int, name: str, configs: dict[str, str], asked: int
) -> None:
    wanted = [AlterableConfig(key, SET, value) for key, value in configs.items()]
    request = IncrementalAlterConfigsRequest([AlterConfigsResource(kind, name, wanted)])
    (answer,) = cluster.ask(asked, request).responses
    assert answer.error_code == 0, answer


def limit(cluster: PenstockCluster, rate: int) -> None:
    """Of all brokers, for the replicas that topics name."""
    for number in cluster.ports:
        rates = {f"{side}.replication.throttled.rate": str(rate) for side in ("leader", "follower")}
        alter_configs(cluster, BROKER_RESOURCE, str(number), rates, number)


def throttle(cluster: PenstockCluster, topic: str, replicas: str, asked: int = 3) -> None:
    configs = {f"{side}.replication.throttled.replicas": replicas for side in ("leader", "follower")}
    alter_configs(cluster, TOPIC_RESOURCE, topic, configs, asked)


@pytest.fixture
def slow(penstock_cluster: PenstockCluster) -> Iterator[PenstockCluster]:
    limit(penstock_cluster, RATE)
    yield penstock_cluster
    limit(penstock_cluster, 2**40)


def controller_as_told_by(cluster: PenstockCluster, number: int) -> int:
    with WireClient(cluster.address(number)) as client:
        found: int = metadata(client).controller_id
    return found


def begin_slowly(cluster: PenstockCluster, topic: str, before: list[int], after: list[int]) -> None:
    cluster.create(topic, [before])
    fill(cluster, topic)
    throttle(cluster, topic, "*")
    assert reassign(cluster, topic, {0: after}) == {0: ErrorCode.NONE}


def test_what_is_seen_of_a_move(slow: PenstockCluster) -> None:
    begin_slowly(slow, "seen", [1, 2], [3, 2])
    for asked in slow.ports:
        assert under_way(slow, "seen", asked) == {0: ([3, 2, 1], [3], [1])}
    wait_for(lambda: list(slow.partitions("seen", 1)[0].replica_nodes) == [3, 2, 1], what="the news")
    assert set(slow.partitions("seen", 1)[0].isr_nodes) == {1, 2}
    request = ListPartitionReassignmentsRequest(30_000, [ListPartitionReassignmentsTopics("seen", [1])])
    assert not slow.ask(3, request).topics
    grown = slow.ask(3, CreatePartitionsRequest([CreatePartitionsTopic("seen", 2)], 30_000)).results
    assert [each.error_code for each in grown] == [ErrorCode.REASSIGNMENT_IN_PROGRESS]
    throttle(slow, "seen", "")
    wait_until_moved(slow, "seen", {0: [3, 2]})
    wait_until_equal(slow, "seen", 0, [3, 2])


def test_a_move_is_cancelled(slow: PenstockCluster) -> None:
    begin_slowly(slow, "cancelled", [1, 2], [3])
    wait_for(lambda: stored(slow, 3, "cancelled") is not None, what="a log at 3")
    assert reassign(slow, "cancelled", {0: None}) == {0: ErrorCode.NONE}
    assert under_way(slow, "cancelled") == {}
    wait_until_moved(slow, "cancelled", {0: [1, 2]})
    wait_until_equal(slow, "cancelled", 0, [1, 2])


def test_a_move_on_top_of_a_move(slow: PenstockCluster) -> None:
    begin_slowly(slow, "twice", [1], [2])
    assert reassign(slow, "twice", {0: [3]}) == {0: ErrorCode.NONE}
    assert under_way(slow, "twice") == {0: ([3, 1, 2], [3], [1, 2])}
    throttle(slow, "twice", "")
    wait_until_moved(slow, "twice", {0: [3]})
    wait_until_equal(slow, "twice", 0, [3])


def test_a_move_takes_as_long_as_its_throttle_says(slow: PenstockCluster) -> None:
    """And who is in sync is not held back: what is written with acks=all is acknowledged all the while."""
    cluster, rate = slow, 50_000
    cluster.create("timed", [[1, 2]], min_insync_replicas="2")
    fill(cluster, "timed")
    size = len(log_of(stored(cluster, 1, "timed")))
    throttle(cluster, "timed", "*")
    limit(cluster, rate)
    began = time.monotonic()
    assert reassign(cluster, "timed", {0: [1, 2, 3]}) == {0: ErrorCode.NONE}
    with WireClient(cluster.address(1)) as client:
        wait_for(
            lambda: produced(client, "timed", batch_of(b"y")) and not under_way(cluster, "timed"),
            PATIENCE_SECONDS,
            "the move",
        )
    assert time.monotonic() - began > 0.7 * (size / rate - QUOTA_SECONDS)
    wait_until_equal(cluster, "timed", 0, [1, 2, 3])


@pytest.mark.parametrize("victim", ["the controller", "the leader", "a new replica"])
def test_a_move_goes_on_after_a_kill(slow: PenstockCluster, victim: str) -> None:
    cluster, topic = slow, f"killed-{victim.replace(' ', '-')}"
    controller = cluster.controller()
    first, second = (number for number in cluster.ports if number != controller)
    before, after = {
        "the controller": ([first], [second]),
        "the leader": ([controller, first], [first, second]),
        "a new replica": ([first], [second]),
    }[victim]
    killed = {"the controller": controller, "the leader": controller, "a new replica": second}[victim]
    cluster.create(topic, [before])
    fill(cluster, topic)
    throttle(cluster, topic, "*")
    with Load(cluster.bootstrap, topic, 1, idempotent=True, settings=IMPATIENT) as load:
        load.wait_for_progress()
        assert reassign(cluster, topic, {0: after}) == {0: ErrorCode.NONE}
        wait_for(lambda: stored(cluster, second, topic), what=f"a log at {second}")
        cluster.kill(killed)
        load.wait_for_progress_everywhere()
        if killed == controller:
            wait_for(
                lambda: controller_as_told_by(cluster, first) != controller, PATIENCE_SECONDS, "another one"
            )
        throttle(cluster, topic, "", asked=first)
        cluster.start(killed)
        wait_until_moved(cluster, topic, {0: after})
        load.wait_for_progress_everywhere()
        load.finish()
    wait_until_equal(cluster, topic, 0, after)
