"""Coordinators over logs that were compacted: after a restart they know what they knew before."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.testing import InProcessBroker
from tests.broker.asking import new_topic
from tests.broker.classic_members import Member, settle
from tests.broker.committing import all_committed, commit, find_coordinator, new_group
from tests.broker.conftest import only_penstock
from tests.broker.transacting import Transactor, committed_values
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient

pytestmark = only_penstock

SEGMENT_BYTES = 1 << 20
HASTE = {
    "log.cleaner.backoff.ms": "20",
    "log.initial.task.delay.ms": "20",
    "log.cleaner.min.cleanable.ratio": "0.0",
    "offsets.topic.segment.bytes": str(SEGMENT_BYTES),
    "transaction.state.log.segment.bytes": str(SEGMENT_BYTES),
}
LONG_NOTE = "x" * 4000


@pytest.fixture
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker(HASTE) as running:
        yield running


def stored_bytes(broker: InProcessBroker, topic: str) -> int:
    (log_dir,) = broker.log_dirs
    return sum(path.stat().st_size for path in Path(log_dir, f"{topic}-0").glob("*.log"))


def commit_until_segments_are_full(client: WireClient, group: str, topic: str) -> int:
    """The last offset that was committed."""
    last = 3 * SEGMENT_BYTES // len(LONG_NOTE)
    for offset in range(last + 1):
        assert commit(client, group, topic, offset, metadata=LONG_NOTE) == 0
    return last


def test_groups_and_their_offsets(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods", 2)
        quiet, busy, inhabited = new_group(client), new_group(client), new_group(client)
        assert commit(client, quiet, "foods", 5, partition=1) == 0
        with Member(broker.bootstrap_servers, inhabited) as member:
            settle(member)
            last = commit_until_segments_are_full(client, busy, "foods")
            wait_for(
                lambda: stored_bytes(broker, "__consumer_offsets") < 2 * SEGMENT_BYTES, what="compaction"
            )
            broker.restart()
            with WireClient(broker.bootstrap_servers) as after:
                find_coordinator(after, quiet)
                assert all_committed(after, quiet) == {("foods", 1): 5}
                assert all_committed(after, busy) == {("foods", 0): last}
            member.client.close()
            member.client = WireClient(broker.bootstrap_servers)
            assert member.heartbeat() == "NONE", "it is still in the same generation"


def test_transactional_ids(broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods")
        new_topic(client, "crumbs")
        quiet, busy = Transactor(client), Transactor(client, "x" * len(LONG_NOTE))
        quiet.sent("foods", b"bread")
        quiet.commit()
        quiet.sent("foods", b"wine")
        for _ in range(SEGMENT_BYTES // len(LONG_NOTE)):  # each writes three records
            busy.sent("crumbs", b".")
            busy.commit()
        wait_for(lambda: stored_bytes(broker, "__transaction_state") < 2 * SEGMENT_BYTES, what="compaction")
    broker.restart()
    with WireClient(broker.bootstrap_servers) as client:
        quiet.client = client
        quiet.commit()
        assert committed_values(client, "foods") == [b"bread", b"wine"]
