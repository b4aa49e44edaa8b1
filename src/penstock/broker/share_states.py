"""The way to the share coordinator: share partitions and share groups keep what must last with it.

Each share partition has its own coordinator, the leader of the partition of `__share_group_state` that its key belongs
to: on this broker, or on another one, which is asked in a request. A coordinator that can't be reached for the moment
is asked again, a few times.
"""

import asyncio
import base64
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from penstock.broker.peers import Peers
from penstock.broker.registration import Registration
from penstock.broker.shards import COORDINATOR_IS_AWAY, Shard, Shards
from penstock.broker.share_state_operations import StateOperation
from penstock.broker.turns import Turns
from penstock.errors import ApiError, ErrorCode
from penstock.group.share_state import PruneLog, SharePartitionKey, ShareStateShard
from penstock.machine import Outcome, Ticket
from penstock.replica.replica_set import NO_LEADER
from penstock.settings.broker import BrokerSettings
from penstock.wire_client import Disconnected

Ask = Callable[[ShareStateShard, Ticket, int], Outcome]
_KEY = re.compile(r"(?P<group>.*):[A-Za-z0-9_-]{22}(?:==)?:[+-]?[0-9]{1,10}", re.DOTALL)
FIRST_BACKOFF_MS = 50
MAX_ATTEMPTS = 8


def coordinator_key(key: SharePartitionKey) -> str:
    """What FindCoordinator knows a share partition by."""
    topic_id = base64.urlsafe_b64encode(key.topic_id).rstrip(b"=").decode()
    return f"{key.group_id}:{topic_id}:{key.partition}"


def is_coordinator_key(text: str) -> bool:
    """Whether this is the key of a share partition: group, topic id, partition. A group's name may have colons."""
    found = _KEY.fullmatch(text)
    return found is not None and bool(found["group"].strip())


class ShareStates:
    def __init__(
        self,
        settings: Callable[[], BrokerSettings],
        registration: Registration,
        peers: Peers,
        shards: Shards[ShareStateShard],
    ) -> None:
        self._registration = registration
        self._settings = settings
        self._peers = peers
        self._shards = shards
        self._at_work: set[asyncio.Task[Any]] = set()

    def ask(self, operation: StateOperation, key: SharePartitionKey, asked: Any) -> Awaitable[Any]:
        """The answer of the share partition's coordinator, or an ApiError.

        It is asked at once if it can be: what is asked later is asked after it.
        """
        try:
            self._shards.find(coordinator_key(key))
        except ApiError:
            return self.begin(self._ask_again(operation, key, asked))
        return self._ask_here(operation, key, asked)

    def _ask_here(self, operation: StateOperation, key: SharePartitionKey, asked: Any) -> Awaitable[Any]:
        return self.ask_here(
            key, lambda shard, ticket, now_ms: operation.handle(shard, key, asked, ticket, now_ms)
        )

    def ask_here(self, key: SharePartitionKey, handle: Ask) -> Awaitable[Any]:
        """The answer of the coordinator on this broker, as another broker asks for it: without a second try."""
        return self._shards.begin_call(coordinator_key(key), handle)

    async def _ask_again(self, operation: StateOperation, key: SharePartitionKey, asked: Any) -> Any:
        for attempt in range(MAX_ATTEMPTS):
            try:
                await self._shards.ensure_topic()
                leader = self._shards.leader_of(coordinator_key(key))
                if leader in (NO_LEADER, self._registration.broker_id):
                    return await self._ask_here(operation, key, asked)
                return await self._ask_peer(leader, operation, key, asked)
            except ApiError as error:
                if error.code not in COORDINATOR_IS_AWAY or attempt + 1 == MAX_ATTEMPTS:
                    raise
            await asyncio.sleep(FIRST_BACKOFF_MS * 2**attempt / 1000)
        raise AssertionError("the last attempt returns or raises")

    async def _ask_peer(
        self, leader: int, operation: StateOperation, key: SharePartitionKey, asked: Any
    ) -> Any:
        request = operation.request_for(key, asked)
        timeout_ms = self._settings().request_timeout_ms
        try:
            answer: Any = await self._peers.ask(
                leader, request, operation.answer, purpose="share-states", timeout_ms=timeout_ms
            )
        except Disconnected as error:
            raise ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE, str(error)) from error
        result = answer.results[0].partitions[0]
        if result.error_code:
            raise ApiError(ErrorCode(result.error_code), result.error_message or "")
        return result

    def begin(self, work: Any) -> "asyncio.Task[Any]":
        """Lets something go on that nobody may be waiting for any more."""
        task = asyncio.get_running_loop().create_task(work)
        self._at_work.add(task)
        task.add_done_callback(self._at_work.discard)
        return task

    def begin_effect(self, shard: Shard[ShareStateShard], effect: Any) -> None:
        assert isinstance(effect, PruneLog)
        log = shard.partition.log
        if log.log_start_offset < effect.offset <= shard.partition.high_watermark:
            self.begin(shard.partition.delete_records_before(effect.offset))

    def close(self) -> None:
        for task in self._at_work:
            task.cancel()


ASKED_AT_ONCE = 200


async def answers(asked: Iterable[Awaitable[Any]]) -> list[Any]:
    """All answers; where there is none, the ApiError. Who is asked writes to a log, so others are served between turns
    of asking: what is given should ask only as it is gone through."""
    turns = Turns()
    found: list[Any] = []
    part: list[Awaitable[Any]] = []
    for one in asked:
        part.append(one)
        if turns.is_over or len(part) == ASKED_AT_ONCE:
            found += await asyncio.gather(*part, return_exceptions=True)
            part = []
            await turns.let_others()
    found += await asyncio.gather(*part, return_exceptions=True)
    for answer in found:
        if isinstance(answer, BaseException) and not isinstance(answer, ApiError):
            raise answer
    return found
