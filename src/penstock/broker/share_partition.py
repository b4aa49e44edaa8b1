"""One share partition at work: the records in flight, the log that they are read from, the coordinator that remembers.

It is made when the first member fetches, and begins by reading its state from the share coordinator; members wait
meanwhile. What members acknowledge is stored before they are told so. A lock that ends is noticed by a timer; nobody
waits for the storing of that.

When it finds itself fenced (another leader, a state that was made anew, a group that is gone) it is dropped, and the
next fetch makes a new one.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence

from penstock.broker.partition import Partition, Waiter
from penstock.broker.share_state_operations import READ, WRITE
from penstock.broker.share_states import ShareStates
from penstock.clock import Clock
from penstock.errors import ApiError, ErrorCode
from penstock.group.share_state import UNINITIALIZED, SharePartitionKey
from penstock.settings.group_config import BY_DURATION, EARLIEST, GroupConfig
from penstock.share.acknowledgements import Acknowledgement, AcknowledgeType
from penstock.share.in_flight import Acquired, Fetched, InFlight, Limits, Wanted
from penstock.share.runs import StateBatch, Transition
from penstock.wire.messages import read_share_group_state as read
from penstock.wire.messages import write_share_group_state as write

log = logging.getLogger("penstock.broker.share_partition")

CLIENT_ERRORS = {
    ErrorCode.NOT_COORDINATOR: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_NOT_AVAILABLE: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.COORDINATOR_LOAD_IN_PROGRESS: ErrorCode.COORDINATOR_NOT_AVAILABLE,
    ErrorCode.GROUP_ID_NOT_FOUND: ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.FENCED_LEADER_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.FENCED_STATE_EPOCH: ErrorCode.NOT_LEADER_OR_FOLLOWER,
}
"""What a member is told when the share coordinator refuses; anything else is UNKNOWN_SERVER_ERROR."""
FENCED = {
    ErrorCode.FENCED_LEADER_EPOCH,
    ErrorCode.FENCED_STATE_EPOCH,
    ErrorCode.GROUP_ID_NOT_FOUND,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.INVALID_REQUEST,
}
"""With these the share coordinator says that its state is no longer ours, or not there any more."""


class SharePartition:
    def __init__(
        self,
        clock: Clock,
        states: ShareStates,
        key: SharePartitionKey,
        partition: Partition,
        config: Callable[[], GroupConfig],
        drop: Callable[["SharePartition"], None],
    ) -> None:
        self.key = key
        self.partition = partition
        self.leader_epoch = partition.replica_set.leader_epoch
        self.in_flight: InFlight | None = None
        """None until the state is read."""
        self.waiters: dict[Waiter, None] = {}
        """Fetches that wait for the state, or for records to become available."""
        self.error: ApiError | None = None
        """Why it is of no use any more."""
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._states = states
        self._config = config
        self._drop = drop
        self._state_epoch = 0
        self._timer: asyncio.TimerHandle | None = None

    # what applies

    def now_ms(self) -> int:
        """On a clock that never jumps."""
        return int(self._loop.time() * 1000)

    @property
    def config(self) -> GroupConfig:
        return self._config()

    def limits(self) -> Limits:
        config = self.config
        return Limits(
            config.share_delivery_count_limit,
            config.share_partition_max_record_locks,
            config.share_record_lock_duration_ms,
        )

    # life

    def begin_loading(self) -> None:
        self._states.begin(self._load())

    async def _load(self) -> None:
        asked = read.PartitionData(self.key.partition, self.leader_epoch)
        try:
            state: read.PartitionResult = await self._states.ask(READ, self.key, asked)
            self._state_epoch = state.state_epoch
            start_offset = state.start_offset
            if start_offset == UNINITIALIZED:
                start_offset = self._first_start_offset()
        except ApiError as error:
            self.fail(self._as_told(error))
            return
        batches = (
            StateBatch(batch.first_offset, batch.last_offset, batch.delivery_state, batch.delivery_count)
            for batch in state.state_batches
        )
        self.in_flight = InFlight(start_offset, batches)
        self.wake()

    def _first_start_offset(self) -> int:
        """Where a group begins that has never read this partition."""
        config, log_, end = self.config, self.partition.log, self.partition.high_watermark
        if config.share_auto_offset_reset == EARLIEST:
            return log_.log_start_offset
        if not config.share_auto_offset_reset.startswith(BY_DURATION):
            return end
        found = log_.offset_for_timestamp(self._clock.now_ms() - (config.reset_duration_ms or 0), end)
        return end if found is None else found.offset

    def fail(self, error: ApiError) -> None:
        """It is of no use any more; whoever waits is told."""
        self.error = error
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._drop(self)
        self.wake()

    def wake(self) -> None:
        for waiter in list(self.waiters):
            waiter.on_progress()

    def _as_told(self, error: ApiError) -> ApiError:
        code = CLIENT_ERRORS.get(error.code, ErrorCode.UNKNOWN_SERVER_ERROR)
        if code == ErrorCode.UNKNOWN_SERVER_ERROR:
            log.error("the state of the share partition %s can't be kept: %s", self.key, error)
        return ApiError(code, error.message)

    # acquiring

    def acquire(self, member_id: str, fetched: Fetched, wanted: Wanted) -> list[Acquired]:
        assert self.in_flight is not None
        acquired = self.in_flight.acquire(member_id, fetched, wanted, self.limits(), self.now_ms())
        self._watch_locks()
        return acquired

    def on_log_start(self) -> None:
        """What was to be read next is gone from the log."""
        assert self.in_flight is not None
        self.in_flight.on_log_start(self.partition.log.log_start_offset)

    # acknowledging

    def acknowledge(
        self, member_id: str, batches: Sequence[Acknowledgement]
    ) -> "asyncio.Future[ApiError | None]":
        """What a member says of its records; done when that is durable."""
        renews = any(AcknowledgeType.RENEW in batch.types for batch in batches)
        try:
            if self.in_flight is None:
                raise self.error or ApiError(ErrorCode.LEADER_NOT_AVAILABLE)
            if renews and not self.config.share_renew_acknowledge_enable:
                message = "Renewing acquisition locks is not enabled for the group."
                raise ApiError(ErrorCode.INVALID_RECORD_STATE, message)
            transition = self.in_flight.acknowledge(member_id, batches, self.limits(), self.now_ms())
        except ApiError as error:
            return self._done(error)
        return self._complete(transition)

    def release(self, member_id: str) -> "asyncio.Future[ApiError | None]":
        """Takes back what a member has that is gone."""
        if self.in_flight is None:
            return self._done(None)
        return self._complete(self.in_flight.release(member_id, self.limits()))

    def _done(self, error: ApiError | None) -> "asyncio.Future[ApiError | None]":
        future: asyncio.Future[ApiError | None] = self._loop.create_future()
        future.set_result(error)
        return future

    def _complete(self, transition: Transition) -> "asyncio.Future[ApiError | None]":
        if not transition.batches:
            return self._done(None)
        done: asyncio.Future[ApiError | None] = self._loop.create_future()

        def on_stored(stored: "asyncio.Future[None]") -> None:
            error = self._finish(transition, stored)
            if not done.done():
                done.set_result(error)

        asyncio.ensure_future(self._store(transition.batches)).add_done_callback(on_stored)
        return done

    def _finish(self, transition: Transition, stored: "asyncio.Future[None]") -> ApiError | None:
        assert self.in_flight is not None
        failure = ApiError(ErrorCode.COORDINATOR_NOT_AVAILABLE) if stored.cancelled() else stored.exception()
        if failure is None:
            self.in_flight.commit(transition)
            self.wake()
            return None
        self.in_flight.roll_back(transition, self.limits(), self.now_ms())
        self._watch_locks()
        error = failure if isinstance(failure, ApiError) else ApiError(ErrorCode.UNKNOWN_SERVER_ERROR)
        told = self._as_told(error)
        if error.code in FENCED and self.error is None:
            self.fail(told)
        else:
            self.wake()
        return told

    def _store(self, batches: Sequence[StateBatch]) -> Awaitable[None]:
        assert self.in_flight is not None
        data = write.PartitionData(
            self.key.partition,
            self._state_epoch,
            self.leader_epoch,
            self.in_flight.start_offset,
            self.in_flight.finished_count,
            [write.StateBatch(*batch) for batch in batches],
        )
        return self._states.ask(WRITE, self.key, data)

    # locks

    def _watch_locks(self) -> None:
        """Sees to it that a timer runs while there are locks. It may fire too early, and is set anew then."""
        assert self.in_flight is not None
        if self._timer is not None or self.error is not None:
            return
        deadline_ms = self.in_flight.next_deadline_ms()
        if deadline_ms is not None:
            self._timer = self._loop.call_at(deadline_ms / 1000, self._on_lock_timer)

    def _on_lock_timer(self) -> None:
        assert self.in_flight is not None
        self._timer = None
        batches = self.in_flight.expire_locks(self.limits(), self.now_ms())
        if batches:
            asyncio.ensure_future(self._store(batches)).add_done_callback(self._on_expiry_stored)
            self.wake()
        self._watch_locks()

    def _on_expiry_stored(self, stored: "asyncio.Future[None]") -> None:
        if not stored.cancelled() and stored.exception() is not None:
            log.warning("ended locks of %s could not be stored: %s", self.key, stored.exception())
