"""An answer to any request, in any version, that says an error and nothing else.

Kafka puts errors where the API has room for them: beside the whole answer, or beside each topic, partition, group or
resource that was asked for. The answer here repeats the structure of the request down to the outermost level that has
an error code, so that each item that the client waits for comes back with the error. The schemas of request and
response are enough for that: their arrays stand in the same order, and the fields that identify an item have the
same name, or one of a few synonyms.

Two APIs have an error code beside the whole answer that says something else in practice: in Fetch it is about the
fetch session, in Metadata it tells the client to bootstrap anew. Other errors go to the partitions and topics there.
"""

import importlib
from collections.abc import Iterable, Sequence, Set
from typing import Any

from penstock.errors import ErrorCode
from penstock.wire.api_keys import ApiKey
from penstock.wire.schema import ApiMessage, Field, Message

ERROR_CODES = ("error_code", "partition_error_code")
ERROR_MESSAGE = "error_message"
SYNONYMS = (
    {"name", "topic", "topic_name"},
    {"partition", "partition_index", "index"},
    {"key", "group_id", "transactional_id", "name"},
)
IDENTIFIES_AN_ITEM = set().union(*SYNONYMS, {"producer_id", "resource_name", "resource_type", "topic_id"})
IDENTIFIES_THE_ANSWER = {"member_id", "session_id"}
NOTHING_KNOWN = {
    "base_offset": -1,
    "committed_offset": -1,
    "generation_id": -1,
    "high_watermark": -1,
    "leader_id": -1,
    "low_watermark": -1,
    "node_id": -1,
    "port": -1,
    "producer_epoch": -1,
    "producer_id": -1,
    "records": b"",
    "start_offset": -1,
}
"""What Kafka says in an answer that failed, where the schema's default would look like a success."""
OF_THE_WHOLE_ANSWER = {
    ApiKey.FETCH: {
        ErrorCode.FETCH_SESSION_ID_NOT_FOUND,
        ErrorCode.INVALID_FETCH_SESSION_EPOCH,
        ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR,
    },
    ApiKey.METADATA: {ErrorCode.REBOOTSTRAP_REQUIRED},
}


def response_class(request: type[ApiMessage]) -> type[ApiMessage]:
    """The response that belongs to a request: both stand in the same module."""
    name = request.__name__.removesuffix("Request") + "Response"
    found: type[ApiMessage] = getattr(importlib.import_module(request.__module__), name)
    return found


def error_answer(
    request: ApiMessage, version: int, code: ErrorCode, message: str | None = None
) -> ApiMessage:
    answer = response_class(type(request))()
    api = ApiKey(request.API_KEY)
    is_whole = api not in OF_THE_WHOLE_ANSWER or code in OF_THE_WHOLE_ANSWER[api]
    Refusal(version, code, message).fill(answer, request, may_hold_error=is_whole)
    return answer


class Refusal:
    def __init__(self, version: int, code: ErrorCode, message: str | None) -> None:
        self.version = version
        self.code = code
        self.message = message

    def fill(self, answer: Message, asked: Any, *, may_hold_error: bool = True) -> None:
        """Repeats what identifies the item that was asked for, and puts the error in, here or further down."""
        for field in answer.SCHEMA:
            if field.name in NOTHING_KNOWN:
                setattr(answer, field.name, NOTHING_KNOWN[field.name])
        is_item = not isinstance(answer, ApiMessage)
        _repeat(answer, asked, IDENTIFIES_AN_ITEM if is_item else IDENTIFIES_THE_ANSWER)
        place = next((f for f in answer.SCHEMA if f.name in ERROR_CODES and f.exists_in(self.version)), None)
        if place is not None and may_hold_error:
            setattr(answer, place.name, int(self.code))
            if self.message is not None and ERROR_MESSAGE in answer.__slots__:
                setattr(answer, ERROR_MESSAGE, self.message)
            return
        self._fill_items(answer, asked)

    def _fill_items(self, answer: Message, asked: Any) -> None:
        field = next((field for field in answer.SCHEMA if self._holds_errors(field)), None)
        if field is None:
            return
        assert field.struct is not None
        items = []
        for item in self._items_asked_for(asked):
            items.append(field.struct())
            self.fill(items[-1], item)
        setattr(answer, field.name, items)

    def _holds_errors(self, field: Field) -> bool:
        if field.struct is None or not field.is_array or not field.exists_in(self.version):
            return False
        return any(inner.name in ERROR_CODES or self._holds_errors(inner) for inner in field.struct.SCHEMA)

    def _items_asked_for(self, asked: Any) -> Iterable[Any]:
        """The first array of what was asked: groups, topics, partitions, or their plain names and numbers."""
        schema: Sequence[Field] = getattr(asked, "SCHEMA", ())
        arrays = (field.name for field in schema if field.is_array and field.exists_in(self.version))
        name = next(arrays, None)
        return () if name is None else getattr(asked, name) or ()


def _repeat(answer: Message, asked: Any, identifying: Set[str]) -> None:
    """Copies names, ids and numbers; a plain value goes to the first field that can be such a name or number."""
    if not isinstance(asked, Message):
        kind = "string" if isinstance(asked, str) else "int32"
        field = next(field for field in answer.SCHEMA if field.kind == kind and field.name != ERROR_MESSAGE)
        setattr(answer, field.name, asked)
        return
    for field in answer.SCHEMA:
        source = _source(asked, field.name) if field.name in identifying else None
        if source is not None:
            setattr(answer, field.name, getattr(asked, source))


def _source(asked: Message, name: str) -> str | None:
    names = {field.name for field in asked.SCHEMA if not field.is_array and field.struct is None}
    if name in names:
        return name
    return next((found for group in SYNONYMS if name in group for found in group & names), None)
