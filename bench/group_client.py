"""The load on a group coordinator, in a process of its own: `python -m bench.group_client settle '{...}'`."""

from __future__ import annotations

import asyncio
import json
import sys
import time
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

from bench.group_members import MEMBERS, Group, Member, connect, wait_for_coordinator
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic, MetadataResponse
from penstock.wire.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
)

Job = dict[str, Any]
COMMIT_VERSION = 9
FIRST_MEMBERS_SECONDS = 120


async def settle(job: Job) -> Job:
    """Seconds from the moment that one member leaves until the others have settled, again and again."""
    port, count = job["port"], job["members"]
    group_id = f"bench-{uuid.uuid4()}"
    await wait_for_coordinator(port, group_id)
    group = Group(group_id, job["topic"], await topic_id(port, job["topic"]), job["partitions"])
    for number in range(count):
        await add_member(group, job, f"member-{number}")
    await asyncio.wait_for(group.settled(), FIRST_MEMBERS_SECONDS)
    seconds = []
    for number in range(job["times"]):
        leaving = group.members[0]
        started = time.perf_counter()
        await leaving.leave()
        await asyncio.wait_for(group.settled(), FIRST_MEMBERS_SECONDS)
        seconds.append(time.perf_counter() - started)
        await add_member(group, job, f"member-{count + number}")
        await asyncio.wait_for(group.settled(), FIRST_MEMBERS_SECONDS)
    for member in list(group.members):
        await member.leave()
    return {"seconds": seconds}


async def add_member(group: Group, job: Job, name: str) -> None:
    member: Member = MEMBERS[job["protocol"]](group, await connect(job["port"]), name)
    member.start()


async def topic_id(port: int, topic: str) -> bytes:
    connection = await connect(port)
    answer = await connection.ask(
        MetadataRequest(topics=[MetadataRequestTopic(name=topic)]), MetadataResponse
    )
    connection.close()
    found: bytes = answer.topics[0].topic_id
    return found


async def commit(job: Job) -> Job:
    """Nanoseconds of each commit, one after the other, by a consumer that assigns itself."""
    group_id = f"bench-{uuid.uuid4()}"
    await wait_for_coordinator(job["port"], group_id)
    connection = await connect(job["port"])
    nanoseconds = []
    for number in range(job["warm_up"] + job["commits"]):
        partition = OffsetCommitRequestPartition(0, number, -1, "")
        topics = [OffsetCommitRequestTopic(job["topic"], partitions=[partition])]
        request = OffsetCommitRequest(group_id, -1, "", topics=topics)
        started = time.perf_counter_ns()
        answer = await connection.ask(request, OffsetCommitResponse, at_most=COMMIT_VERSION)
        nanoseconds.append(time.perf_counter_ns() - started)
        if answer.topics[0].partitions[0].error_code:
            raise RuntimeError(f"a commit was refused: {answer}")
    return {"nanoseconds": nanoseconds[job["warm_up"] :]}


COMMANDS: dict[str, Callable[[Job], Coroutine[Any, Any, Job]]] = {"settle": settle, "commit": commit}

if __name__ == "__main__":
    print(json.dumps(asyncio.run(COMMANDS[sys.argv[1]](json.loads(sys.argv[2])))))
