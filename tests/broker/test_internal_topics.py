"""What coordinators keep in their topics is not for clients to change."""

import pytest

from penstock.errors import ErrorCode
from penstock.wire.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from tests.broker.asking import batch_of, log_end_offset, produce_request, topic_id
from tests.broker.committing import commit, new_group
from tests.support.wire_client import WireClient

TOPIC = "__consumer_offsets"


@pytest.fixture
def partition(client: WireClient, topic: str) -> int:
    """A partition of the topic that has records."""
    assert commit(client, new_group(client), topic, 1) == 0
    return next(index for index in range(50) if log_end_offset(client, TOPIC, index) > 0)


@pytest.mark.parametrize("version", [8, 12, 13])
def test_nothing_is_produced_to_them(client: WireClient, partition: int, version: int) -> None:
    end = log_end_offset(client, TOPIC, partition)
    request = produce_request(TOPIC, batch_of(b"stray", key=b"\0\1"), partition)
    request.topic_data[0].topic_id = topic_id(client, TOPIC)
    for _ in range(3):
        (answer,) = client.send(request, version).responses[0].partition_responses
        assert answer.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
    assert log_end_offset(client, TOPIC, partition) == end


def test_their_records_are_not_deleted(client: WireClient, partition: int) -> None:
    wanted = DeleteRecordsTopic(TOPIC, [DeleteRecordsPartition(partition, 1)])
    answer = client.send(DeleteRecordsRequest(topics=[wanted], timeout_ms=30_000))
    assert answer.topics[0].partitions[0].error_code == ErrorCode.INVALID_TOPIC_EXCEPTION
