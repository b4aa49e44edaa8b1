"""Fetch over the wire: what is read, what is waited for, and sessions."""

import time

import pytest

from penstock.errors import ErrorCode
from penstock.testing import InProcessBroker
from penstock.wire.messages.fetch import FetchPartition, FetchTopic, ForgottenTopic
from penstock.wire.messages.metadata import MetadataRequest
from tests.broker.asking import (
    FETCH_BY_NAME,
    batch_of,
    batches_of,
    fetch,
    fetch_one,
    fetch_request,
    log_end_offset,
    metadata,
    new_topic,
    produced,
    records_of,
    topic_id,
    unique_topic,
    wanted,
)
from tests.broker.conftest import only_penstock
from tests.broker.test_topics import delete_topic
from tests.support.wire_client import WireClient

A_WHILE_MS = 60_000
"""Longer than any test: a fetch that waits this long must be woken."""
TIMER_EARLY_SECONDS = 0.001
"""The event loop's clock counts whole milliseconds from before the timer was set, so it rings up to one early."""
A_MOMENT_MS = 300


@pytest.fixture
def filled(client: WireClient, topic: str) -> str:
    """Three batches: offset 0, offsets 1 and 2, offset 3."""
    produced(client, topic, batch_of(b"bread", timestamp=1000))
    produced(client, topic, batch_of(b"wine", b"salt", timestamp=3000))
    produced(client, topic, batch_of(b"oil", timestamp=2000))
    return topic


def offsets(data: object) -> list[int]:
    return [record.offset for record in records_of(data)]


# reading


def test_from_the_start(client: WireClient, filled: str) -> None:
    data = fetch_one(client, filled)
    assert [record.value for record in records_of(data)] == [b"bread", b"wine", b"salt", b"oil"]
    assert (data.high_watermark, data.last_stable_offset, data.log_start_offset) == (4, 4, 0)
    assert data.aborted_transactions is None


def test_an_offset_inside_a_batch_gets_the_whole_batch(client: WireClient, filled: str) -> None:
    assert offsets(fetch_one(client, filled, 2)) == [1, 2, 3]


def test_at_the_end_there_is_nothing(client: WireClient, filled: str) -> None:
    data = fetch_one(client, filled, 4)
    assert (data.error_code, data.high_watermark, bytes(data.records)) == (0, 4, b"")


@pytest.mark.parametrize("offset", [5, -1, 2**62])
def test_out_of_range(client: WireClient, filled: str, offset: int) -> None:
    data = fetch_one(client, filled, offset)
    assert (ErrorCode(data.error_code), data.high_watermark) == (ErrorCode.OFFSET_OUT_OF_RANGE, -1)


def test_by_topic_id(client: WireClient, filled: str) -> None:
    partition = FetchPartition(partition=0, partition_max_bytes=1 << 20)
    named = FetchTopic(topic_id=topic_id(client, filled), partitions=[partition])
    (answer,) = fetch(client, named, version=18).responses
    assert answer.topic_id == named.topic_id
    assert offsets(answer.partitions[0]) == [0, 1, 2, 3]
    unknown = FetchTopic(topic_id=b"z" * 16, partitions=[partition])
    (answer,) = fetch(client, unknown, version=18).responses
    assert answer.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_ID


@pytest.mark.parametrize("version", range(4, 13))
def test_every_version_by_name(client: WireClient, filled: str, version: int) -> None:
    (answer,) = fetch(client, wanted(filled), version=version).responses
    assert offsets(answer.partitions[0]) == [0, 1, 2, 3]


def test_a_partition_that_is_not_there(client: WireClient, filled: str) -> None:
    data = fetch_one(client, filled, partition=9)
    assert data.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_partition_that_is_not_there_is_no_reason_to_answer_early(
    client: WireClient, other_client: WireClient, filled: str
) -> None:
    asked = fetch_request(wanted(filled, 0, partition=9), wanted(filled, 4), max_wait_ms=A_WHILE_MS)
    client.post(asked, FETCH_BY_NAME)
    client.expect_silence()
    produced(other_client, filled, batch_of(b"news"))
    answers = client.receive(asked, FETCH_BY_NAME).responses
    codes = sorted(partition.error_code for answer in answers for partition in answer.partitions)
    assert codes == [ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION]


def test_an_error_does_not_hold_up_the_others(client: WireClient, filled: str) -> None:
    started = time.monotonic()
    other = unique_topic(client)
    answers = fetch(client, wanted(other, 7), wanted(filled, 4), max_wait_ms=A_WHILE_MS).responses
    codes = {answer.topic: answer.partitions[0].error_code for answer in answers}
    assert codes == {other: ErrorCode.OFFSET_OUT_OF_RANGE, filled: 0}
    assert time.monotonic() - started < A_WHILE_MS / 1000


def test_a_partition_that_is_named_twice_is_read_once(client: WireClient, filled: str) -> None:
    """As the last says."""
    answer = client.send(fetch_request(wanted(filled, 0), wanted(filled, 3)), FETCH_BY_NAME)
    (data,) = [partition for topic in answer.responses for partition in topic.partitions]
    assert offsets(data) == [3]


@pytest.mark.parametrize("isolation_level", [0, 1])
def test_isolation_levels_without_transactions(client: WireClient, filled: str, isolation_level: int) -> None:
    data = fetch_one(client, filled, isolation_level=isolation_level)
    assert offsets(data) == [0, 1, 2, 3]
    assert data.aborted_transactions == ([] if isolation_level else None)


@pytest.mark.parametrize(("epoch", "code"), [(0, 0), (7, ErrorCode.UNKNOWN_LEADER_EPOCH)])
def test_leader_epochs(client: WireClient, filled: str, epoch: int, code: int) -> None:
    asked = wanted(filled)
    asked.partitions[0].current_leader_epoch = epoch
    assert fetch(client, asked).responses[0].partitions[0].error_code == code


# limits


@pytest.mark.parametrize("limit", [0, 1, 68])
def test_the_first_batch_comes_whole(client: WireClient, filled: str, limit: int) -> None:
    (answer,) = fetch(client, wanted(filled, max_bytes=limit)).responses
    assert offsets(answer.partitions[0]) == [0]
    (answer,) = fetch(client, wanted(filled), max_bytes=limit).responses
    assert offsets(answer.partitions[0]) == [0]


def test_the_partitions_limit(client: WireClient, filled: str) -> None:
    sizes = [batch.size for batch in batches_of(fetch_one(client, filled))]
    for limit, expected in ((sizes[0], [0]), (sizes[0] + sizes[1], [0, 1, 2]), (sum(sizes), [0, 1, 2, 3])):
        (answer,) = fetch(client, wanted(filled, max_bytes=limit)).responses
        assert offsets(answer.partitions[0]) == expected
        assert len(bytes(answer.partitions[0].records)) <= limit


def test_the_requests_limit_is_shared(client: WireClient, filled: str) -> None:
    other = unique_topic(client)
    produced(client, other, batch_of(b"x" * 500))
    answers = fetch(client, wanted(filled), wanted(other), max_bytes=1).responses
    found = {answer.topic: offsets(answer.partitions[0]) for answer in answers}
    assert found == {filled: [0], other: []}, "only the first partition gets more than the limit"


def test_a_large_batch_alone(client: WireClient, topic: str) -> None:
    produced(client, topic, batch_of(b"x" * 1_000_000))
    produced(client, topic, batch_of(b"y"))
    (answer,) = fetch(client, wanted(topic, max_bytes=1000)).responses
    (record,) = records_of(answer.partitions[0])
    assert record.value == b"x" * 1_000_000


# waiting


def test_a_produce_wakes_a_fetch(client: WireClient, other_client: WireClient, topic: str) -> None:
    asked = fetch_request(wanted(topic), max_wait_ms=A_WHILE_MS)
    client.post(asked, FETCH_BY_NAME)
    client.expect_silence()
    produced(other_client, topic, batch_of(b"bread"))
    assert offsets(client.receive(asked, FETCH_BY_NAME).responses[0].partitions[0]) == [0]


def test_enough_bytes_wake_a_fetch(client: WireClient, other_client: WireClient, topic: str) -> None:
    asked = fetch_request(wanted(topic), max_wait_ms=A_WHILE_MS, min_bytes=250)
    client.post(asked, FETCH_BY_NAME)
    produced(other_client, topic, batch_of(b"x" * 50))
    client.expect_silence()
    produced(other_client, topic, batch_of(b"x" * 100))
    assert offsets(client.receive(asked, FETCH_BY_NAME).responses[0].partitions[0]) == [0, 1]


def test_time_wakes_a_fetch(client: WireClient, filled: str) -> None:
    started = time.monotonic()
    data = fetch_one(client, filled, 4, max_wait_ms=A_MOMENT_MS)
    assert (data.error_code, bytes(data.records)) == (0, b"")
    data = fetch_one(client, filled, max_wait_ms=A_MOMENT_MS, min_bytes=1 << 20)
    assert offsets(data) == [0, 1, 2, 3], "too little, but the time is up"
    assert time.monotonic() - started >= 2 * (A_MOMENT_MS / 1000 - TIMER_EARLY_SECONDS)


def test_one_of_many_partitions_wakes_a_fetch(client: WireClient, other_client: WireClient) -> None:
    topic = unique_topic(client, 5)
    partitions = [wanted(topic, partition=index).partitions[0] for index in range(5)]
    asked = fetch_request(FetchTopic(topic=topic, partitions=partitions), max_wait_ms=A_WHILE_MS)
    client.post(asked, FETCH_BY_NAME)
    produced(other_client, topic, batch_of(b"bread"), 3)
    (answer,) = client.receive(asked, FETCH_BY_NAME).responses
    assert [offsets(data) for data in answer.partitions] == [[], [], [], [0], []]


def test_a_deletion_wakes_a_fetch(client: WireClient, other_client: WireClient, topic: str) -> None:
    asked = fetch_request(wanted(topic), max_wait_ms=A_WHILE_MS)
    client.post(asked, FETCH_BY_NAME)
    client.expect_silence()
    delete_topic(other_client, topic)
    code = client.receive(asked, FETCH_BY_NAME).responses[0].partitions[0].error_code
    assert code in (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.NOT_LEADER_OR_FOLLOWER)


def test_later_requests_wait_for_a_parked_fetch(
    client: WireClient, other_client: WireClient, topic: str
) -> None:
    asked = fetch_request(wanted(topic), max_wait_ms=A_WHILE_MS)
    first = client.post(asked, FETCH_BY_NAME)
    rest = [client.post(MetadataRequest(topics=[]), 12) for _ in range(3)]
    client.expect_silence()
    produced(other_client, topic, batch_of(b"bread"))
    assert client.receive(asked, FETCH_BY_NAME, first).responses
    for correlation_id in rest:
        assert client.receive(MetadataRequest(), 12, correlation_id).brokers


def test_a_client_that_leaves_a_parked_fetch(server_bootstrap: str, client: WireClient, topic: str) -> None:
    with WireClient(server_bootstrap) as leaving:
        leaving.post(fetch_request(wanted(topic), max_wait_ms=A_WHILE_MS), FETCH_BY_NAME)
        leaving.expect_silence()
    produced(client, topic, batch_of(b"bread"))
    assert metadata(client).brokers


# sessions


def news(response: object) -> dict[str, list[int]]:
    return {
        answer.topic: offsets(answer.partitions[0])
        for answer in response.responses  # type: ignore[attr-defined]
    }


def test_a_session_tells_only_what_is_new(client: WireClient, filled: str) -> None:
    other = unique_topic(client)
    full = fetch(client, wanted(filled), wanted(other), session_epoch=0)
    session = full.session_id
    assert session != 0
    assert news(full) == {filled: [0, 1, 2, 3], other: []}
    moved = fetch(client, wanted(filled, 4), session_id=session, session_epoch=1)
    assert (moved.session_id, news(moved)) == (session, {})
    produced(client, other, batch_of(b"new"))
    assert news(fetch(client, session_id=session, session_epoch=2)) == {other: [0]}
    added = unique_topic(client)
    assert added in news(fetch(client, wanted(other, 1), wanted(added), session_id=session, session_epoch=3))
    assert news(fetch(client, session_id=session, session_epoch=4)) == {}


@only_penstock
def test_a_session_tells_the_high_watermark_again_after_it_told_of_a_divergence(
    client: WireClient, filled: str
) -> None:
    """Who cuts its log takes nothing else from that answer; Apache Kafka tells it no more."""
    session = fetch(client, wanted(filled), session_epoch=0).session_id
    beyond = wanted(filled, 10)
    beyond.partitions[0].last_fetched_epoch = 0
    (answer,) = fetch(client, beyond, session_id=session, session_epoch=1).responses
    assert answer.partitions[0].diverging_epoch is not None
    (answer,) = fetch(client, wanted(filled, 4), session_id=session, session_epoch=2).responses
    assert (answer.partitions[0].high_watermark, offsets(answer.partitions[0])) == (4, [])


def test_a_session_waits_for_all_its_partitions(
    client: WireClient, other_client: WireClient, filled: str
) -> None:
    other = unique_topic(client)
    session = fetch(client, wanted(filled, 4), wanted(other), session_epoch=0).session_id
    asked = fetch_request(session_id=session, session_epoch=1, max_wait_ms=A_WHILE_MS)
    client.post(asked, FETCH_BY_NAME)
    client.expect_silence()
    produced(other_client, other, batch_of(b"new"))
    assert news(client.receive(asked, FETCH_BY_NAME)) == {other: [0]}


def test_forgotten_partitions(client: WireClient, filled: str) -> None:
    other = unique_topic(client)
    session = fetch(client, wanted(filled, 4), wanted(other), session_epoch=0).session_id
    forgotten = [ForgottenTopic(topic=filled, partitions=[0])]
    assert news(fetch(client, session_id=session, session_epoch=1, forgotten=forgotten)) == {}
    produced(client, filled, batch_of(b"unseen"))
    produced(client, other, batch_of(b"seen"))
    assert news(fetch(client, session_id=session, session_epoch=2)) == {other: [0]}


def test_an_error_is_told_again_and_again(client: WireClient) -> None:
    session = fetch(client, wanted("no-such"), session_epoch=0).session_id
    for epoch in (1, 2):
        (answer,) = fetch(client, session_id=session, session_epoch=epoch).responses
        assert answer.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_a_wrong_epoch(client: WireClient, filled: str) -> None:
    session = fetch(client, wanted(filled), session_epoch=0).session_id
    for epoch in (2, 7, -2):
        refused = fetch(client, session_id=session, session_epoch=epoch)
        assert refused.error_code == ErrorCode.INVALID_FETCH_SESSION_EPOCH
        assert (refused.session_id, refused.responses) == (0, [])
    assert fetch(client, session_id=session, session_epoch=1).error_code == 0


@pytest.mark.parametrize("session_id", [0, 12_345_678, -1])
def test_an_unknown_session(client: WireClient, filled: str, session_id: int) -> None:
    refused = fetch(client, wanted(filled), session_id=session_id, session_epoch=1)
    assert refused.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert refused.responses == []


def test_a_session_that_is_closed(client: WireClient, filled: str) -> None:
    session = fetch(client, wanted(filled), session_epoch=0).session_id
    last = fetch(client, wanted(filled), session_id=session, session_epoch=-1)
    assert (last.session_id, news(last)) == (0, {filled: [0, 1, 2, 3]})
    gone = fetch(client, session_id=session, session_epoch=1)
    assert gone.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND


def test_a_session_by_name_is_not_one_by_id(client: WireClient, filled: str) -> None:
    session = fetch(client, wanted(filled), session_epoch=0).session_id
    refused = fetch(client, session_id=session, session_epoch=1, version=13)
    assert refused.error_code == ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR


def test_a_full_fetch_replaces_the_session(client: WireClient, filled: str) -> None:
    first = fetch(client, wanted(filled), session_epoch=0).session_id
    second = fetch(client, wanted(filled), session_id=first, session_epoch=0).session_id
    assert second not in (0, first)
    gone = fetch(client, session_id=first, session_epoch=1)
    assert gone.error_code == ErrorCode.FETCH_SESSION_ID_NOT_FOUND
    assert log_end_offset(client, filled) == 4


@only_penstock
@pytest.mark.parametrize("position", [8, 16], ids=["length", "magic"])
def test_a_damaged_batch_header_is_told_once(
    broker: InProcessBroker, caplog: pytest.LogCaptureFixture, position: int
) -> None:
    """After a clean stop: readers hear CORRUPT_MESSAGE, the log names file and position, the log goes on."""
    with WireClient(broker.bootstrap_servers) as client:
        new_topic(client, "foods", index_interval_bytes="100")
        for number in range(5):
            produced(client, "foods", batch_of(b"%d" % number * 200))
    broker.stop_broker()
    path = broker.log_dirs[0] / "foods-0" / f"{0:020}.log"
    with path.open("r+b") as file:
        file.seek(position)
        file.write(b"\x70\x70\x70\x70")
    broker.start_broker()
    with WireClient(broker.bootstrap_servers) as client:
        for _ in range(3):
            assert fetch_one(client, "foods", 0).error_code == ErrorCode.CORRUPT_MESSAGE
        assert produced(client, "foods", batch_of(b"next")) == 5
        assert [record.value[:1] for record in records_of(fetch_one(client, "foods", 4))] == [b"4", b"n"]
    told = [line for line in caplog.messages if "is damaged; readers are answered" in line]
    assert told == [
        f"{path}: the batch header at position 0 is damaged; readers are answered CORRUPT_MESSAGE there"
    ]
