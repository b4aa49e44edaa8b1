"""Members of a share group at work while the broker is killed.

What a member was told to be accepted never comes again; everything that was produced is accepted in the end; and the
pruning of the coordinator's log takes nothing away that is needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.broker.asking import batch_of, log_start_offset, new_topic, produced, topic_id
from tests.broker.committing import new_group
from tests.broker.platform import Platform
from tests.broker.share_members import ACCEPT, RELEASE, Part, ShareMember, acquired, begin_at, code_of
from tests.support.processes import wait_for
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

pytestmark = pytest.mark.processes

ROUNDS = 3
BATCHES, BATCH = 12, 25
DELIVERY_LIMIT = 10
STATE_TOPIC = "__share_group_state"


@pytest.fixture
@starts_processes
def platform(tmp_path: Path) -> Iterator[Platform]:
    settings = {
        "offsets.topic.num.partitions": "1",
        "share.coordinator.state.topic.num.partitions": "1",
        "share.coordinator.snapshot.update.records.per.snapshot": "5",
        "share.coordinator.state.topic.prune.interval.ms": "200",
        "group.share.delivery.count.limit": str(DELIVERY_LIMIT),
    }
    with Platform(tmp_path, settings) as running:
        yield running


class Work:
    """What members have seen so far."""

    def __init__(self, group_id: str, part: Part) -> None:
        self.group_id = group_id
        self.part = part
        self.random = Random(7)
        self.accepted: set[int] = set()
        """Told to be durable."""
        self.in_doubt: set[int] = set()
        """Said to be accepted, when the answer did not come."""
        self.deliveries: Counter[int] = Counter()

    def take_turn(self, member: ShareMember) -> None:
        """Fetches, accepts most of it, gives some back, and leaves some without a word."""
        answer = member.fetch(max_wait_ms=100, max_records=20)
        assert code_of(answer) == "NONE", answer
        for data in (one for topic in answer.responses for one in topic.partitions):
            for first, last, _ in acquired(data):
                self.deal_with(member, range(first, last + 1))

    def deal_with(self, member: ShareMember, offsets: range) -> None:
        again = self.accepted.intersection(offsets)
        assert not again, f"{sorted(again)} was accepted, and came again"
        self.deliveries.update(offsets)
        kinds = [ACCEPT if self.random.random() < 0.8 else RELEASE for _ in offsets]
        said = {offset for offset, kind in zip(offsets, kinds, strict=True) if kind == ACCEPT}
        self.in_doubt |= said
        assert member.acknowledge((offsets[0], offsets[-1], kinds)) == "NONE"
        self.in_doubt -= said
        self.accepted |= said


def test_nothing_is_lost_or_accepted_twice(platform: Platform) -> None:
    platform.start_zookeeper()
    platform.start_broker()
    with WireClient(platform.bootstrap) as client:
        topic = new_topic(client, "t")
        group_id = new_group(client)
        begin_at(client, group_id, topic, 0)
        work = Work(group_id, Part(topic_id(client, topic)))
    total = 0
    for _ in range(ROUNDS):
        with WireClient(platform.bootstrap) as client:
            for _ in range(BATCHES):
                produced(client, topic, batch_of(*[b"x"] * BATCH))
            total += BATCHES * BATCH
        work_until_killed(platform, work, total)
    finish(platform, work, total)
    assert work.accepted | work.in_doubt == set(range(total))
    assert max(work.deliveries.values()) <= DELIVERY_LIMIT
    with WireClient(platform.bootstrap) as client:
        wait_for(lambda: log_start_offset(client, STATE_TOPIC) > 0, what="the state's log to be pruned")


def work_until_killed(platform: Platform, work: Work, total: int) -> None:
    """Two members work on about a half of what is new, one of them holds records when the broker dies."""
    members = [ShareMember(platform.bootstrap, work.group_id, work.part) for _ in range(2)]
    enough = len(work.accepted) + BATCHES * BATCH // 2
    try:
        while len(work.accepted) < min(enough, total):
            for member in members:
                work.take_turn(member)
        members[0].fetch(max_wait_ms=100, max_records=10)
        members[1].post_fetch(max_wait_ms=10_000)
        platform.restart_broker(kill=True)
    finally:
        for member in members:
            member.client.close()


def finish(platform: Platform, work: Work, total: int) -> None:
    def is_done() -> bool:
        work.take_turn(member)
        return len(work.accepted | work.in_doubt) == total

    with ShareMember(platform.bootstrap, work.group_id, work.part) as member:
        wait_for(is_done, what=lambda: f"{total} records, {len(work.accepted)} are accepted")
