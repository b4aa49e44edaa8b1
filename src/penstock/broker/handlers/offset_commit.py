"""OffsetCommit.

v2-4 carry a retention time, which makes the offsets expire at a fixed time; v6 leader epochs; v7 static members; v8 is
flexible; v9 serves members of consumer groups (KIP-848), and tells GROUP_ID_NOT_FOUND apart from an illegal
generation; v10 names topics by id.
"""

from typing import TYPE_CHECKING

from penstock.broker.callers import caller_of
from penstock.broker.router import RequestContext, handles
from penstock.broker.tickets import Call
from penstock.group.offsets_answers import refuse_commit
from penstock.wire.messages.offset_commit import OffsetCommitRequest
from penstock.wire.schema import ApiMessage

if TYPE_CHECKING:
    from penstock.broker.broker import Broker


@handles(OffsetCommitRequest, versions=(2, 10))
def handle_offset_commit(
    broker: "Broker", request: OffsetCommitRequest, context: RequestContext
) -> ApiMessage | Call:
    caller = caller_of(context)
    return broker.coordinators.groups.ask(
        request.group_id,
        lambda shard, ticket, now_ms: shard.offsets.handle_offset_commit(request, caller, ticket, now_ms),
        lambda error: refuse_commit(request, caller.version, broker.image, error.code),
    )
