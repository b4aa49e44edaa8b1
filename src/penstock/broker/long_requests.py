"""Requests of more elements, or longer names, than the event loop can read and answer at once.

Kafka sets no bound but the bytes, so an administrator may ask for the configs of forty thousand topics, and a consumer
commit offsets of as many partitions; and a name may have 32 KB, each character of which counts when the coordinator of
a group is looked for. Reading what is that long is left to a thread, one request at a time. What it asks
for is done in slices, each a request of its own for the handler, between which others are served; the answers are put
together again, and encoded in a thread. That is so for the requests of `SLICED`, whose elements have nothing to do with
each other. Any other is handled in one piece, and so has a lower bound.
"""

import asyncio
import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from penstock.broker.asked_once import ANSWERED_ONCE, leave_out_repetitions
from penstock.broker.connection import Answer, Connection
from penstock.broker.parked import Encoded, Parked, message_of
from penstock.wire.codec import MAX_ELEMENTS, decode_message
from penstock.wire.frames import encode_response_frame
from penstock.wire.messages.add_partitions_to_txn import AddPartitionsToTxnRequest
from penstock.wire.messages.consumer_group_describe import ConsumerGroupDescribeRequest
from penstock.wire.messages.delete_groups import DeleteGroupsRequest
from penstock.wire.messages.delete_topics import DeleteTopicsRequest
from penstock.wire.messages.describe_configs import DescribeConfigsRequest
from penstock.wire.messages.describe_groups import DescribeGroupsRequest
from penstock.wire.messages.describe_share_group_offsets import DescribeShareGroupOffsetsRequest
from penstock.wire.messages.describe_transactions import DescribeTransactionsRequest
from penstock.wire.messages.find_coordinator import FindCoordinatorRequest
from penstock.wire.messages.list_offsets import ListOffsetsRequest
from penstock.wire.messages.metadata import MetadataRequest
from penstock.wire.messages.offset_commit import OffsetCommitRequest
from penstock.wire.messages.offset_fetch import OffsetFetchRequest
from penstock.wire.messages.offset_for_leader_epoch import OffsetForLeaderEpochRequest
from penstock.wire.messages.share_group_describe import ShareGroupDescribeRequest
from penstock.wire.messages.streams_group_describe import StreamsGroupDescribeRequest
from penstock.wire.messages.txn_offset_commit import TxnOffsetCommitRequest
from penstock.wire.schema import ApiMessage, Message

MAX_ELEMENTS_IN_SLICES = 250_000
"""More topics than a broker can have."""
MAX_ELEMENTS_IN_ONE_PIECE = 60_000
LONG_FROM_BYTES = 256 * 1024
"""A request that has slices has them from here on, however few its elements are."""
SLICE_ELEMENTS = 5_000
SLICE_CONFIGS = 200
"""Resources of DescribeConfigs, each of which may be answered with forty configs."""
SLICE_SHARE_GROUPS = 500
"""Of which each is asked of its coordinator as if it came alone."""
CHARACTERS_OF_AN_ELEMENT = 64
"""That many more in a name cost as much as one more name."""


class Sliced(NamedTuple):
    asked: str
    """The array of the request of which a slice is a request, too."""
    answered: str
    """The array of the response that has an element for each of those, in the same order."""
    size: int = SLICE_ELEMENTS


SLICED: dict[type[ApiMessage], tuple[Sliced, ...]] = {
    AddPartitionsToTxnRequest: (Sliced("transactions", "results_by_transaction"),),
    ConsumerGroupDescribeRequest: (Sliced("group_ids", "groups"),),
    DeleteGroupsRequest: (Sliced("groups_names", "results"),),
    DeleteTopicsRequest: (Sliced("topics", "responses"), Sliced("topic_names", "responses")),
    DescribeConfigsRequest: (Sliced("resources", "results", SLICE_CONFIGS),),
    DescribeGroupsRequest: (Sliced("groups", "groups"),),
    DescribeShareGroupOffsetsRequest: (Sliced("groups", "groups"),),
    DescribeTransactionsRequest: (Sliced("transactional_ids", "transaction_states"),),
    FindCoordinatorRequest: (Sliced("coordinator_keys", "coordinators"),),
    ListOffsetsRequest: (Sliced("topics", "topics"),),
    MetadataRequest: (Sliced("topics", "topics"),),
    OffsetCommitRequest: (Sliced("topics", "topics"),),
    OffsetFetchRequest: (Sliced("groups", "groups"), Sliced("topics", "topics")),
    OffsetForLeaderEpochRequest: (Sliced("topics", "topics"),),
    ShareGroupDescribeRequest: (Sliced("group_ids", "groups", SLICE_SHARE_GROUPS),),
    StreamsGroupDescribeRequest: (Sliced("group_ids", "groups"),),
    TxnOffsetCommitRequest: (Sliced("topics", "topics"),),
}

LONG_FROM: dict[type[ApiMessage], int] = {
    DescribeConfigsRequest: SLICE_CONFIGS,
    ShareGroupDescribeRequest: SLICE_SHARE_GROUPS,
}
"""Elements in requests that are long before they have `MAX_ELEMENTS`."""

Handle = Callable[[Any], Any]
"""A handler with all but the request."""


async def answer_at_length(
    connection: Connection,
    cls: type[ApiMessage],
    version: int,
    frame: memoryview,
    position: int,
    correlation_id: int,
    handle: Handle,
) -> Encoded | None:
    most = MAX_ELEMENTS_IN_SLICES if cls in SLICED else MAX_ELEMENTS_IN_ONE_PIECE
    async with connection.router.broker.long_work:
        request = await asyncio.to_thread(decode_message, cls, version, frame, position, most)
    if cls in ANSWERED_ONCE:
        leave_out_repetitions(request, ANSWERED_ONCE[cls])
    for sliced in SLICED.get(cls, ()):
        if getattr(request, sliced.asked):
            answer: ApiMessage | None = await _in_slices(connection, request, sliced, handle)
            break
    else:
        answer = await _answer_of(connection, handle(request))
    if answer is None:
        return None
    return Encoded(await asyncio.to_thread(encode_response_frame, answer, version, correlation_id))


async def _in_slices(
    connection: Connection, request: ApiMessage, sliced: Sliced, handle: Handle
) -> ApiMessage:
    whole: ApiMessage | None = None
    for part, goes_on in _slices(getattr(request, sliced.asked), sliced.size):
        one = copy.copy(request)
        setattr(one, sliced.asked, part)
        answer = await _answer_of(connection, handle(one))
        assert answer is not None
        if whole is None:
            whole = answer
            setattr(whole, sliced.answered, list(getattr(whole, sliced.answered)))
        else:
            _join(getattr(whole, sliced.answered), list(getattr(answer, sliced.answered)), goes_on=goes_on)
        await asyncio.sleep(0)
    assert whole is not None
    return whole


async def _answer_of(connection: Connection, answer: Answer) -> ApiMessage | None:
    if isinstance(answer, Parked):
        return await connection.park(answer)
    if answer is None or isinstance(answer, ApiMessage):
        return answer
    return message_of(await answer)


def _slices(elements: list[Any], most: int) -> Iterator[tuple[list[Any], bool]]:
    """Slices that are not too long with what is in their elements; whether one goes on with the element before."""
    part: list[Any] = []
    weight = 0
    for element in elements:
        size = _weight(element)
        if part and weight + size > most:
            yield part, False
            part, weight = [], 0
        if size > most and _arrays_in(element):
            yield from _pieces(element, most)
        else:
            part.append(element)
            weight += size
    if part:
        yield part, False


def _weight(element: Any) -> int:
    if isinstance(element, str):
        return 1 + len(element) // CHARACTERS_OF_AN_ELEMENT
    if not isinstance(element, Message):
        return 1
    weight = 1
    for field in element.SCHEMA:
        value = getattr(element, field.name)
        if value and field.is_array:
            weight += len(value)
        elif value and field.kind == "string":
            weight += len(value) // CHARACTERS_OF_AN_ELEMENT
    return weight


def _pieces(element: Message, most: int) -> Iterator[tuple[list[Any], bool]]:
    longest = max(_arrays_in(element), key=lambda name: len(getattr(element, name)))
    inside = getattr(element, longest)
    for start in range(0, len(inside), most):
        piece = copy.copy(element)
        setattr(piece, longest, inside[start : start + most])
        yield [piece], start > 0


def _arrays_in(element: Any) -> list[str]:
    if not isinstance(element, Message):
        return []
    return [field.name for field in element.SCHEMA if field.is_array and getattr(element, field.name)]


def _join(whole: list[Any], more: list[Any], *, goes_on: bool) -> None:
    if goes_on and whole and more:
        last, first = whole[-1], more.pop(0)
        for name in _arrays_in(first):
            setattr(last, name, [*getattr(last, name), *getattr(first, name)])
    whole += more


assert MAX_ELEMENTS < MAX_ELEMENTS_IN_ONE_PIECE < MAX_ELEMENTS_IN_SLICES
