"""One shard of the group coordinator: the machine over one partition of `__consumer_offsets`.

Its parts each own one subject: `offsets`, `classic` groups, `consumer` groups (KIP-848), `share` groups, `streams`
groups (KIP-1071). The shard only finds the part that a record or a timer belongs to; requests are put to the parts
directly, but for those of the classic protocol, which both classic and consumer groups serve.
"""

from collections.abc import Callable
from typing import ClassVar

from penstock.controller.image import ClusterImage
from penstock.errors import ApiError, ErrorCode
from penstock.group.classic import ClassicGroups
from penstock.group.consumer import ConsumerGroups
from penstock.group.groups import CONSUMER, GroupContext
from penstock.group.offsets import Offsets
from penstock.group.parts import ClassicProtocol, OnTimer, Replay
from penstock.group.share import ShareGroups
from penstock.group.streams.groups import StreamsGroups
from penstock.machine import Outcome, Producer, RecordContext, Ticket, TimerKey
from penstock.settings.broker import BrokerSettings
from penstock.wire.schema import RecordTypes, StoredMessage
from penstock.wire.stored import group as group_records
from penstock.wire.stored import share_group as share_group_records
from penstock.wire.stored import streams_group as streams_group_records


class GroupShard:
    RECORD_TYPES: ClassVar[RecordTypes] = {
        **group_records.RECORD_TYPES,
        **share_group_records.RECORD_TYPES,
        **streams_group_records.RECORD_TYPES,
    }

    def __init__(
        self, image: ClusterImage, settings: Callable[[], BrokerSettings], new_id: Callable[[], str]
    ) -> None:
        self.context = GroupContext(image, settings, new_id)
        self.offsets = Offsets(self.context)
        self.classic = ClassicGroups(self.context)
        self.consumer = ConsumerGroups(self.context, self.classic)
        self.share = ShareGroups(self.context)
        self.streams = StreamsGroups(self.context)
        self._parts = (self.offsets, self.classic, self.consumer, self.share, self.streams)
        self._replays: dict[type[StoredMessage], Replay] = {}
        self._timers: dict[str, OnTimer] = {}
        for part in self._parts:
            self._replays.update(part.replays())
            self._timers.update(part.timers())

    def replay(self, key: StoredMessage, value: StoredMessage | None, context: RecordContext) -> None:
        self._replays[type(key)](key, value, context)

    def replay_end_transaction(self, producer: Producer, *, is_commit: bool) -> None:
        self.offsets.replay_end_transaction(producer, is_commit=is_commit)

    def on_loaded(self, now_ms: int) -> Outcome:
        outcome = Outcome()
        for part in self._parts:
            part.on_loaded(now_ms, outcome)
        return outcome

    def on_timer(self, key: TimerKey, now_ms: int) -> Outcome:
        return self._timers[str(key[0])](key, now_ms)

    def on_topics_changed(self, names: frozenset[str], now_ms: int) -> Outcome:
        self.context.topic_hashes.forget(names)
        outcome = Outcome()
        for part in self._parts:
            part.on_topics_changed(names, now_ms, outcome)
        return outcome

    # requests that concern several parts

    def serving_classic_protocol(self, group_id: str) -> ClassicProtocol:
        """The part that serves JoinGroup, SyncGroup, Heartbeat and LeaveGroup in this group."""
        group = self.context.groups.get(group_id)
        if group is None or group.KIND != CONSUMER or group.is_empty:
            return self.classic
        return self.consumer

    def handle_delete_group(self, group_id: str, ticket: Ticket, now_ms: int) -> Outcome:
        """Removes a group of any kind, with its offsets."""
        group = self.context.groups.get(group_id)
        if group is None:
            raise ApiError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} not found.")
        group.check_delete()
        outcome = Outcome()
        self.offsets.write_tombstones_of_group(group_id, outcome)
        group.write_tombstones(outcome)
        outcome.reply(ticket, None)
        return outcome
