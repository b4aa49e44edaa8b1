"""Rules on a broker, seen from a socket: what each does to the request and to the connection."""

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from penstock.records.builder import build_batch
from penstock.records.reader import Record
from penstock.testing import InProcessBroker, Interceptor
from penstock.wire.messages.api_versions import ApiVersionsRequest
from penstock.wire.messages.fetch import FetchPartition, FetchRequest, FetchTopic
from penstock.wire.messages.heartbeat import HeartbeatRequest, HeartbeatResponse
from penstock.wire.messages.list_offsets import ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from penstock.wire.messages.metadata import MetadataRequest, MetadataRequestTopic
from penstock.wire.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from tests.support.wire_client import WireClient

RECORDS = bytes(build_batch([Record(0, 1, None, b"bread")]).view)


@pytest.fixture(scope="module")
def broker() -> Iterator[InProcessBroker]:
    with InProcessBroker() as broker:
        broker.create_topic("foods")
        broker.create_topic("drinks", partitions=2)
        yield broker


@pytest.fixture
def intercept(broker: InProcessBroker) -> Iterator[Interceptor]:
    with broker.interceptor.recording() as interceptor:
        yield interceptor


@pytest.fixture
def client(broker: InProcessBroker) -> Iterator[WireClient]:
    with WireClient(broker.bootstrap_servers) as client:
        yield client


def end_offset(client: WireClient, topic: str = "foods") -> int:
    asked = ListOffsetsRequest(topics=[ListOffsetsTopic(topic, [ListOffsetsPartition(0, timestamp=-1)])])
    offset: int = client.send(asked, 7).topics[0].partitions[0].offset
    return offset


def produce_request(topic: str = "foods", acks: int = -1) -> ProduceRequest:
    return ProduceRequest(
        acks=acks,
        timeout_ms=1000,
        topic_data=[TopicProduceData(topic, partition_data=[PartitionProduceData(0, RECORDS)])],
    )


def produce(client: WireClient, topic: str = "foods") -> int:
    code: int = client.send(produce_request(topic), 9).responses[0].partition_responses[0].error_code
    return code


def test_an_error_is_answered_and_nothing_is_done(intercept: Interceptor, client: WireClient) -> None:
    before = end_offset(client)
    rule = intercept.answer("Produce", "NOT_ENOUGH_REPLICAS", times=2)
    assert [produce(client) for _ in range(3)] == [19, 19, 0]
    assert end_offset(client) == before + 1
    rule.assert_matched(2)


def test_a_repeated_produce_does_not_slip_through_its_memo(
    intercept: Interceptor, client: WireClient
) -> None:
    intercept.clear()
    assert produce(client) == produce(client) == 0
    intercept.answer("produce", 6, nth=2)
    assert [produce(client) for _ in range(3)] == [0, 6, 0]


def test_without_acks_an_error_closes_the_connection(intercept: Interceptor, client: WireClient) -> None:
    intercept.answer("Produce", "MESSAGE_TOO_LARGE")
    client.post(produce_request(acks=0), 9)
    client.expect_closed()


def test_a_message_goes_along(intercept: Interceptor, client: WireClient) -> None:
    intercept.answer("Produce", "POLICY_VIOLATION", message="not on Sundays")
    answer = client.send(produce_request(), 9).responses[0].partition_responses[0]
    assert (answer.error_code, answer.error_message) == (44, "not on Sundays")


def fetch(client: WireClient, session_id: int, epoch: int, *topics: FetchTopic) -> Any:
    asked = FetchRequest(max_wait_ms=0, topics=topics, session_id=session_id, session_epoch=epoch)
    return client.send(asked, 12)


def test_an_incremental_fetch_fails_for_the_partitions_of_its_session(
    intercept: Interceptor, client: WireClient
) -> None:
    wanted = FetchTopic("drinks", partitions=[FetchPartition(0, partition_max_bytes=1000), FetchPartition(1)])
    session = fetch(client, 0, 0, wanted).session_id
    with intercept.answer("Fetch", "NOT_LEADER_OR_FOLLOWER", topic="drinks") as rule:
        answer = fetch(client, session, 1)
    rule.assert_matched(1)
    assert answer.error_code == 0
    assert answer.session_id == session
    assert [(one.partition_index, one.error_code) for one in answer.responses[0].partitions] == [
        (0, 6),
        (1, 6),
    ]
    assert [one.error_code for one in fetch(client, session, 2).responses[0].partitions] == [0, 0]


def test_an_error_of_the_fetch_session_stands_beside_the_whole_answer(
    intercept: Interceptor, client: WireClient
) -> None:
    intercept.answer("Fetch", "FETCH_SESSION_ID_NOT_FOUND")
    answer = fetch(client, 0, 0, FetchTopic("foods", partitions=[FetchPartition(0)]))
    assert (answer.error_code, list(answer.responses)) == (70, [])


def test_metadata_fails_for_each_topic_but_names_the_brokers(
    intercept: Interceptor, client: WireClient, broker: InProcessBroker
) -> None:
    intercept.answer("Metadata", "LEADER_NOT_AVAILABLE")
    for asked in ([MetadataRequestTopic(name="foods"), MetadataRequestTopic(name="drinks")], None):
        answer = client.send(MetadataRequest(topics=asked))
        assert {(topic.name, topic.error_code) for topic in answer.topics} == {("foods", 5), ("drinks", 5)}
        assert [node.port for node in answer.brokers] == [broker.port]


def test_drop_closes_before_anything_is_done(
    intercept: Interceptor, client: WireClient, broker: InProcessBroker
) -> None:
    before = end_offset(client)
    intercept.drop("Produce", times=1)
    client.post(produce_request(), 9)
    client.expect_closed()
    with WireClient(broker.bootstrap_servers) as another:
        assert end_offset(another) == before


def test_drop_loses_only_the_answer(
    intercept: Interceptor, client: WireClient, broker: InProcessBroker
) -> None:
    before = end_offset(client)
    intercept.drop("Produce", handled=True)
    client.post(produce_request(), 9)
    client.expect_closed()
    with WireClient(broker.bootstrap_servers) as another:
        assert end_offset(another) == before + 1


def test_a_silent_drop_holds_the_connection_until_the_rule_goes(
    intercept: Interceptor, client: WireClient
) -> None:
    rule = intercept.drop("Metadata", silent=True)
    client.post(MetadataRequest(topics=None))
    rule.wait()
    client.expect_silence()
    rule.remove()
    client.expect_closed()


def test_a_delay_ends_with_its_rule(intercept: Interceptor, client: WireClient) -> None:
    rule = intercept.delay("Produce", seconds=3600)
    client.post(produce_request(), 9)
    rule.wait()
    client.expect_silence(0.05)
    rule.remove()
    assert client.receive(produce_request(), 9).responses[0].partition_responses[0].error_code == 0


def test_a_delayed_fetch_waits_for_records_as_ever(intercept: Interceptor, broker: InProcessBroker) -> None:
    with WireClient(broker.bootstrap_servers) as reader, WireClient(broker.bootstrap_servers) as writer:
        offset = end_offset(writer)
        intercept.delay("Fetch", seconds=0.01)
        partition = FetchPartition(0, fetch_offset=offset, partition_max_bytes=1000)
        asked = FetchRequest(
            max_wait_ms=30_000, min_bytes=1, topics=[FetchTopic("foods", partitions=[partition])]
        )
        reader.post(asked, 12)
        intercept.wait_for("Fetch")
        produce(writer)
        assert reader.receive(asked, 12).responses[0].partitions[0].records


def test_a_client_that_leaves_during_a_delay_leaves_nothing(
    intercept: Interceptor, broker: InProcessBroker
) -> None:
    rule = intercept.delay("Fetch", seconds=3600)
    with WireClient(broker.bootstrap_servers) as client:
        client.post(FetchRequest(max_wait_ms=1, topics=[]), 12)
        rule.wait()
    rule.remove()
    with WireClient(broker.bootstrap_servers) as another:
        assert end_offset(another) >= 0


def test_answers_of_ones_own(intercept: Interceptor, client: WireClient) -> None:
    intercept.answer("Heartbeat", response=lambda request: HeartbeatResponse(error_code=request.version))
    assert client.send(HeartbeatRequest("g", 1, "m"), 3).error_code == 3

    def hide_brokers(request: Any, answer: Any) -> None:
        answer.brokers = []

    intercept.change("Metadata", hide_brokers)
    answer = client.send(MetadataRequest(topics=[MetadataRequestTopic(name="foods")]))
    assert [topic.name for topic in answer.topics] == ["foods"]
    assert list(answer.brokers) == []


def test_a_function_that_fails_fails_the_test(broker: InProcessBroker) -> None:
    def broken(request: Any) -> None:
        raise RuntimeError("a bug in the test")

    broker.interceptor.answer("Heartbeat", response=broken)
    with WireClient(broker.bootstrap_servers) as client:
        client.post(HeartbeatRequest("g", 1, "m"))
        client.expect_closed()
    with pytest.raises(RuntimeError, match="a bug in the test"):
        broker.interceptor.clear()


def test_conditions(intercept: Interceptor, client: WireClient) -> None:
    intercept.answer("Produce", "INVALID_RECORD", topic="drinks")
    assert (produce(client, "foods"), produce(client, "drinks")) == (0, 87)
    intercept.answer("Produce", "CORRUPT_MESSAGE", client_id="somebody else")
    intercept.answer("Produce", "KAFKA_STORAGE_ERROR", client_id="test", after=1)
    assert [produce(client), produce(client)] == [0, 56]
    intercept.clear()
    intercept.answer(
        "Heartbeat", "REBALANCE_IN_PROGRESS", where=lambda request: request.message.group_id == "g"
    )
    codes = [client.send(HeartbeatRequest(group, 1, "m")).error_code for group in ("f", "g")]
    assert [code == 27 for code in codes] == [False, True]


def test_probability_is_the_same_in_every_run(intercept: Interceptor, client: WireClient) -> None:
    def outcomes(seed: int) -> list[int]:
        with intercept.answer("Produce", "NOT_ENOUGH_REPLICAS", probability=0.5, seed=seed):
            return [produce(client) for _ in range(20)]

    first = outcomes(1)
    assert set(first) == {0, 19}
    assert outcomes(1) == first
    assert outcomes(2) != first


def test_any_api(intercept: Interceptor, client: WireClient) -> None:
    with intercept.drop("*", nth=2) as rule:
        client.send(ApiVersionsRequest("test", "1"), 3)
        client.post(MetadataRequest(topics=None))
        client.expect_closed()
    rule.assert_matched()


def test_what_came_is_listed(intercept: Interceptor, client: WireClient) -> None:
    rule = intercept.answer("Produce", "INVALID_RECORD", topic="drinks")
    produce(client, "foods")
    produce(client, "drinks")
    end_offset(client, "drinks")
    seen = intercept.seen("Produce")
    assert [(one.topics, one.rule) for one in seen] == [({"foods"}, None), ({"drinks"}, rule)]
    assert seen[0].message.topic_data[0].partition_data[0].records == RECORDS
    assert [one.api.name for one in intercept.seen(topic="drinks")] == ["PRODUCE", "LIST_OFFSETS"]
    assert {one.client_id for one in intercept.seen()} == {"test"}


def test_waiting_for_requests(intercept: Interceptor, client: WireClient) -> None:
    threading.Timer(0.05, lambda: produce(client)).start()
    assert intercept.wait_for("Produce", "foods")[0].version == 9
    with pytest.raises(TimeoutError, match=r"waited 0.01 s for 2 Produce requests; 1 came"):
        intercept.wait_for("Produce", count=2, timeout_seconds=0.01)


def test_a_rule_that_never_matched_can_be_told(intercept: Interceptor, client: WireClient) -> None:
    rule = intercept.answer("Produce", "INVALID_RECORD", topic="drinks", times=2)
    with pytest.raises(
        AssertionError, match=r"answer\('Produce', 'INVALID_RECORD', topic='drinks', times=2\)"
    ):
        rule.assert_matched()
    with pytest.raises(AssertionError, match="at least one request; it took 0"):
        intercept.assert_all_matched()
    produce(client, "drinks")
    intercept.assert_all_matched()
    with pytest.raises(AssertionError, match="2 requests; it took 1"):
        rule.assert_matched(times=2)


def test_rules_outlive_a_restart(broker: InProcessBroker, intercept: Interceptor) -> None:
    intercept.answer("Produce", "NOT_ENOUGH_REPLICAS")
    broker.restart()
    with WireClient(broker.bootstrap_servers) as client:
        assert produce(client) == 19


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda i: i.answer("Prduce", "NONE"), r"'Prduce'; takes an API of Kafka.*is PRODUCE meant"),
        (lambda i: i.answer(99, "NONE"), "got 99; takes an API"),
        (lambda i: i.answer("Produce", "NOT_LEADER"), "is NOT_LEADER_OR_FOLLOWER meant"),
        (lambda i: i.answer("Produce"), "either an error or a response"),
        (lambda i: i.drop("Produce", nth=1, times=1), "nth: can't be combined"),
        (lambda i: i.drop("Produce", nth=0), "nth: got 0; takes a number from 1"),
        (lambda i: i.drop("Produce", probability=2), "probability: got 2; takes a number from 0 to 1"),
        (lambda i: i.delay("Produce", -1), "seconds: got -1"),
        (lambda i: i.drop("Produce", topics="a"), "a rule takes topic, client_id"),
    ],
)
def test_bad_rules_are_refused(wrong: Any, says: str) -> None:
    with pytest.raises((ValueError, TypeError), match=says):
        wrong(Interceptor())
