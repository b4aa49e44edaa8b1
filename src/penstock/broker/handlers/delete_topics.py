"""DeleteTopics. v4 is flexible; v5 returns error messages; v6 takes topics by id too."""

from typing import TYPE_CHECKING

from penstock.broker.router import RequestContext, handles
from penstock.errors import ApiError, ErrorCode
from penstock.wire.messages.delete_topics import (
    DeletableTopicResult,
    DeleteTopicsRequest,
    DeleteTopicsResponse,
    DeleteTopicState,
)

if TYPE_CHECKING:
    from penstock.broker.broker import Broker

NO_TOPIC_ID = bytes(16)


@handles(DeleteTopicsRequest, versions=(1, 6), at_controller=DeleteTopicsResponse)
async def handle_delete_topics(
    broker: "Broker", request: DeleteTopicsRequest, context: RequestContext
) -> DeleteTopicsResponse:
    wanted = list(request.topics) or [DeleteTopicState(name=name) for name in request.topic_names]
    return DeleteTopicsResponse(responses=[await _delete(broker, topic) for topic in wanted])


async def _delete(broker: "Broker", wanted: DeleteTopicState) -> DeletableTopicResult:
    result = DeletableTopicResult(wanted.name, wanted.topic_id)
    try:
        if wanted.name is not None and wanted.topic_id != NO_TOPIC_ID:
            raise ApiError(ErrorCode.INVALID_REQUEST, "You may not specify both topic name and topic id.")
        if wanted.name is None:
            topic = broker.image.topic_by_id(wanted.topic_id)
            if topic is None:
                raise ApiError(ErrorCode.UNKNOWN_TOPIC_ID, "This server does not host this topic ID.")
        else:
            topic = broker.topics.existing(wanted.name)
        result.name, result.topic_id = topic.name, topic.topic_id
        await broker.topics.delete(topic.name)
    except ApiError as error:
        result.error_code, result.error_message = error.code, error.message
    return result
