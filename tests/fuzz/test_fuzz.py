"""Requests of all kinds, right and wrong, at a broker that is a process: it must not hang, stall, leak or stumble.

`make test` runs a slice, `make fuzz` half a million requests. `PENSTOCK_FUZZ_SEED` and `PENSTOCK_FUZZ_FIRST` say which
conversations are held: each is drawn from the seed and its own number alone, which a failure names.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from penstock.wire.messages.delete_groups import DeleteGroupsRequest
from penstock.wire.messages.delete_topics import DeleteTopicsRequest, DeleteTopicState
from penstock.wire.messages.list_groups import ListGroupsRequest
from penstock.wire.messages.metadata import MetadataRequest
from tests.broker.asking import create_topic, metadata, new_topic
from tests.broker.conftest import only_penstock
from tests.broker.platform import Platform
from tests.fuzz.conversations import Judge, Unanswered, draw
from tests.fuzz.requests import PARTITIONS, TOPICS
from tests.support.bystander import Bystander, Waits
from tests.support.wire_client import WireClient
from tools.suite.processes import starts_processes

pytestmark = [pytest.mark.processes, only_penstock]

FRAMES = int(os.environ.get("PENSTOCK_FUZZ_FRAMES", "4000"))
SEED = os.environ.get("PENSTOCK_FUZZ_SEED", "penstock")
FIRST = int(os.environ.get("PENSTOCK_FUZZ_FIRST", "0"))
TIMEOUT_SECONDS = 300 + FRAMES // 50
AT_ONCE = 12
ROUND = 200
WARM_UP_SHARE = 0.2
MOST_GROWTH_BYTES = 24 * 2**20
LONGEST_WAIT_SECONDS = 0.25
TROUBLES = (b"Traceback", b"RuntimeWarning", b"failed; closing", b"can't be encoded", b"\0")
KEPT = "bystanders"
SETTINGS = {
    "auto.create.topics.enable": "false",
    "group.initial.rebalance.delay.ms": "0",
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "share.coordinator.state.topic.num.partitions": "4",
}


@dataclass
class Run:
    """Rounds of conversations; between them what mutants have made is removed, so that only what leaks remains."""

    platform: Platform
    judge: Judge
    number: int = FIRST
    resident: list[tuple[int, int]] = field(default_factory=list)

    async def rounds(self) -> None:
        while self.judge.judged < FRAMES:
            topic_ids = await asyncio.to_thread(self._tidy)
            slots = asyncio.Semaphore(AT_ONCE)
            last = self.number + ROUND
            async with asyncio.TaskGroup() as group:
                for number in range(self.number, last):
                    group.create_task(self._hold(number, topic_ids, slots))
            self.number = last
            self.resident.append((self.judge.judged, self.platform.broker.rss_bytes()))

    async def _hold(self, number: int, topic_ids: list[bytes], slots: asyncio.Semaphore) -> None:
        async with slots:
            try:
                await self.judge.hold(draw(f"{SEED}:{number}", topic_ids))
            except Unanswered as error:
                error.add_note(f"PENSTOCK_FUZZ_SEED={SEED} PENSTOCK_FUZZ_FIRST={number}")
                raise

    def _tidy(self) -> list[bytes]:
        with WireClient(self.platform.bootstrap, timeout=120.0) as client:
            groups = [group.group_id for group in client.send(ListGroupsRequest([], [])).groups]
            client.send(DeleteGroupsRequest(groups))
            there = {topic.name for topic in client.send(MetadataRequest(None)).topics}
            strays = [name for name in there if not name.startswith("__") and name not in (KEPT, *TOPICS)]
            if strays:
                client.send(
                    DeleteTopicsRequest(
                        topics=[DeleteTopicState(name=name) for name in strays], timeout_ms=60_000
                    )
                )
            for name in set(TOPICS) - there:
                create_topic(client, name, PARTITIONS)
            return [topic.topic_id for topic in metadata(client, *TOPICS).topics]


@pytest.fixture
@starts_processes
def platform(tmp_path: Path) -> Iterator[Platform]:
    with Platform(tmp_path / "platform", SETTINGS) as running:
        with WireClient(running.bootstrap) as client:
            new_topic(client, KEPT)
        yield running


def growth(resident: list[tuple[int, int]]) -> int:
    """What the process has gained since it was warm."""
    warm = [size for judged, size in resident if judged <= FRAMES * WARM_UP_SHARE] or [resident[0][1]]
    return resident[-1][1] - warm[-1]


def tell(run: Run, waits: Waits, long_waits: list[str], seconds: float) -> None:
    sizes = [size // 2**20 for _, size in run.resident]
    tenths = sizes[:: max(len(sizes) // 10, 1)]
    print(
        f"seed {SEED}, conversations {FIRST} to {run.number - 1} in {seconds:.0f} s: {dict(run.judge.outcomes)}"
    )
    print(f"resident MB: {tenths}, {max(sizes)} at most, {sizes[-1]} last")
    print(f"grown since it was warm: {growth(run.resident) // 1024} KB")
    print(f"bystander: {waits}", *long_waits, sep="\n")


@pytest.mark.timeout(TIMEOUT_SECONDS)
def test_requests_of_all_kinds(platform: Platform) -> None:
    run = Run(platform, Judge("127.0.0.1", platform.port))
    bystander = Bystander(platform.bootstrap, platform.broker.pid, KEPT)
    began = time.monotonic()
    try:
        asyncio.run(run.rounds())
        waits, long_waits = bystander.finish()
    finally:
        bystander.kill()
    tell(run, waits, long_waits, time.monotonic() - began)
    assert platform.broker.alive
    logged = platform.broker.log.read_bytes().splitlines()
    assert [line for line in logged if any(trouble in line for trouble in TROUBLES)] == []
    assert growth(run.resident) < MOST_GROWTH_BYTES
    assert waits.broker < LONGEST_WAIT_SECONDS
