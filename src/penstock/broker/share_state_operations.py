"""The five things that a share coordinator is asked: on its own broker, and by other brokers in requests (KIP-932)."""

from collections.abc import Callable
from typing import Any, NamedTuple

from penstock.group.share_state import SharePartitionKey, ShareStateShard
from penstock.machine import Outcome, Ticket
from penstock.wire.messages.delete_share_group_state import (
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
    DeleteStateData,
)
from penstock.wire.messages.initialize_share_group_state import (
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    InitializeStateData,
)
from penstock.wire.messages.read_share_group_state import (
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadStateData,
)
from penstock.wire.messages.read_share_group_state_summary import (
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    ReadStateSummaryData,
)
from penstock.wire.messages.write_share_group_state import (
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
    WriteStateData,
)
from penstock.wire.schema import ApiMessage

Handle = Callable[[ShareStateShard, SharePartitionKey, Any, Ticket, int], Outcome]
"""Asks for one partition: (machine, key, what is said of the partition, ticket, now_ms)."""


class StateOperation(NamedTuple):
    handle: Handle
    request: type[ApiMessage]
    answer: type[ApiMessage]
    topic: Callable[[bytes, list[Any]], Any]

    def request_for(self, key: SharePartitionKey, asked: Any) -> ApiMessage:
        """For one partition. `asked` is the `PartitionData` of the request."""
        make: Any = self.request
        request: ApiMessage = make(key.group_id, [self.topic(key.topic_id, [asked])])
        return request


INITIALIZE = StateOperation(
    lambda shard, key, asked, ticket, now_ms: shard.handle_initialize(key, asked, ticket, now_ms),
    InitializeShareGroupStateRequest,
    InitializeShareGroupStateResponse,
    InitializeStateData,
)
READ = StateOperation(
    lambda shard, key, asked, ticket, now_ms: shard.handle_read(key, asked, ticket, now_ms),
    ReadShareGroupStateRequest,
    ReadShareGroupStateResponse,
    ReadStateData,
)
READ_SUMMARY = StateOperation(
    lambda shard, key, asked, ticket, now_ms: shard.handle_read_summary(key, ticket, now_ms),
    ReadShareGroupStateSummaryRequest,
    ReadShareGroupStateSummaryResponse,
    ReadStateSummaryData,
)
WRITE = StateOperation(
    lambda shard, key, asked, ticket, now_ms: shard.handle_write(key, asked, ticket, now_ms),
    WriteShareGroupStateRequest,
    WriteShareGroupStateResponse,
    WriteStateData,
)
DELETE = StateOperation(
    lambda shard, key, asked, ticket, now_ms: shard.handle_delete(key, ticket, now_ms),
    DeleteShareGroupStateRequest,
    DeleteShareGroupStateResponse,
    DeleteStateData,
)
