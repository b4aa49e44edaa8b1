"""Records read over HTTP: some of a partition, and a topic as a stream of server-sent events."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

import pytest

from penstock.client import KafkaAdmin, KafkaProducer, TopicPartition
from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy, running
from tests.support.processes import wait_for


@pytest.fixture(scope="module")
def records(proxy: Proxy, broker: InProcessBroker) -> str:
    """Ten records, one per day from 2021-01-01 on, of which the last is no JSON."""
    broker.create_topic("read", 2, {"retention.ms": "-1"})  # they are years old
    path = f"{proxy.cluster}/topics/read"
    for number in range(10):
        value = {"type": "JSON", "data": {"n": number}} if number < 9 else {"type": "STRING", "data": "nine"}
        body = {
            "partition_id": 0,
            "key": {"type": "STRING", "data": f"key {number}"},
            "value": value,
            "headers": [{"name": "h", "value": "aGk="}],
            "timestamp": f"2021-01-{number + 1:02}T00:00:00Z",
        }
        assert proxy.ask("POST", f"{path}/records", body).json["error_code"] == 200
    return path


def test_some_records_from_an_offset_on(proxy: Proxy, records: str) -> None:
    path = f"{records}/partitions/0/records?offset=3&max_records=2&key_type=STRING&value_type=json"
    answer = proxy.get(path)
    assert (answer.status, answer.json["kind"]) == (200, "KafkaRecordList")
    assert answer.json["data"][0] == {
        "partition_id": 0,
        "offset": 3,
        "timestamp": "2021-01-04T00:00:00Z",
        "headers": [{"name": "h", "value": "aGk="}],
        "key": {"type": "STRING", "data": "key 3"},
        "value": {"type": "JSON", "data": {"n": 3}},
    }
    assert (answer.json["next_offset"], answer.json["end_offset"]) == (5, 10)
    following = proxy.follow(answer.json["metadata"]["next"]).json
    assert [each["value"]["data"]["n"] for each in following["data"]] == [5, 6]


def test_bytes_unless_said_otherwise_and_for_what_is_no_json(proxy: Proxy, records: str) -> None:
    [plain] = proxy.get(f"{records}/partitions/0/records?offset=9").json["data"]
    [no_json] = proxy.get(f"{records}/partitions/0/records?offset=9&value_type=JSON").json["data"]
    expected = {"type": "BINARY", "data": base64.b64encode(b"nine").decode()}
    assert plain["value"] == no_json["value"] == expected


@pytest.mark.parametrize(
    ("place", "offsets"),
    [
        ("earliest", list(range(10))),
        ("latest", []),
        ("10", []),
        ("2021-01-08T00:00:00Z", [7, 8, 9]),
        ("2021-01-08T00:00:01+00:00", [8, 9]),
        ("2031-01-01T00:00:00Z", []),
    ],
)
def test_where_to_begin(proxy: Proxy, records: str, place: str, offsets: list[int]) -> None:
    answer = proxy.get(f"{records}/partitions/0/records?timeout=1&offset={quote(place)}").json
    assert [each["offset"] for each in answer["data"]] == offsets
    assert answer["next_offset"] == 10


def test_bytes_are_limited_but_one_record_always_comes(proxy: Proxy, records: str) -> None:
    answer = proxy.get(f"{records}/partitions/0/records?max_bytes=1").json
    assert [each["offset"] for each in answer["data"]] == [0]
    assert answer["next_offset"] == 1


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ("0/records?offset=11", 400, "offset: got 11, takes an offset from 0 to 10"),
        ("0/records?offset=-1", 400, "offset: got '-1', takes earliest, latest, an offset, or a time"),
        ("0/records?offset=2021-01-32T00:00:00Z", 400, "offset: got '2021-01-32T00:00:00Z', takes a time"),
        ("0/records?max_records=0", 400, "max_records: got '0', takes an integer of at least 1"),
        ("0/records?max_bytes=x", 400, "max_bytes: got 'x', takes an integer of at least 1"),
        ("0/records?timeout=999999999", 400, "timeout: got '999999999', takes an integer of at least 0"),
        ("0/records?value_type=XML", 400, "value_type: got 'XML', takes one of BINARY, JSON, STRING, AVRO"),
        ("0/records?value_type=AVRO", 422, "Error deserializing message. Schema Registry not defined"),
        ("7/records", 404, "Partition not found."),
        ("x/records", 400, "partition_id: got 'x', takes"),
    ],
)
def test_a_bad_question_is_told_what_is_wrong(
    proxy: Proxy, records: str, query: str, status: int, message: str
) -> None:
    answer = proxy.get(f"{records}/partitions/{query}")
    assert answer.status == status
    assert answer.json["message"].startswith(message)


def test_a_question_waits_for_the_first_record(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("awaited", 1)
    path = f"{proxy.cluster}/topics/awaited"
    connection = proxy.connection()
    connection.request("GET", f"{path}/partitions/0/records?timeout=50000&value_type=STRING")
    proxy.ask("POST", f"{path}/records", {"value": {"type": "STRING", "data": "at last"}})
    [record] = json.load(connection.getresponse())["data"]
    connection.close()
    assert record["value"]["data"] == "at last"


def test_only_what_is_committed_is_read(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("committed", 1)
    config = {"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "rest-test"}
    with KafkaProducer(config) as producer:
        for value, end in ((b"kept", "commit"), (b"dropped", "abort"), (b"kept too", "commit")):
            producer.begin_transaction()
            producer.send("committed", value).result(30)
            getattr(producer, f"{end}_transaction")()
    path = f"{proxy.cluster}/topics/committed/partitions/0/records?value_type=STRING"
    found = wait_for(lambda: len(data := proxy.get(path).json["data"]) == 2 and data)
    assert [each["value"]["data"] for each in found] == ["kept", "kept too"]


# --- events


class Events:
    def __init__(self, response: Any) -> None:
        self._response = response

    def next(self) -> dict[str, str]:
        """The fields of the next event."""
        fields: dict[str, str] = {}
        while line := self._response.readline().decode().strip():
            name, _, value = line.partition(": ")
            fields[name] = value
        return fields if "data" in fields else self.next()

    def record(self) -> tuple[str, Any]:
        event = self.next()
        return event["id"], json.loads(event["data"])


@contextmanager
def events(proxy: Proxy, path: str, last_event_id: str | None = None) -> Iterator[Events]:
    headers = {"Accept": "text/event-stream"}
    connection = proxy.connection()
    connection.request(
        "GET", path, headers=headers | ({"Last-Event-ID": last_event_id} if last_event_id else {})
    )
    response = connection.getresponse()
    assert (response.status, response.headers["content-type"]) == (200, "text/event-stream")
    assert response.readline() == b"retry: 1000\n"
    try:
        yield Events(response)
    finally:
        connection.close()


def test_records_come_as_events_and_a_stream_goes_on_where_it_was(
    proxy: Proxy, broker: InProcessBroker
) -> None:
    broker.create_topic("evented", 2)
    path = f"{proxy.cluster}/topics/evented/records"

    def produce(partition: int, data: str) -> None:
        body = {"partition_id": partition, "value": {"type": "STRING", "data": data}}
        assert proxy.ask("POST", path, body).json["error_code"] == 200

    produce(0, "a")
    with events(proxy, f"{path}?from=earliest&value_type=STRING") as stream:
        place, record = stream.record()
        assert (place, record["value"]["data"], record["partition_id"]) == ("0:1,1:0", "a", 0)
        produce(1, "b")
        place, record = stream.record()
        assert (place, record["value"]["data"], record["partition_id"]) == ("0:1,1:1", "b", 1)
        for data in "cde":
            produce(0, data)
        place, record = stream.record()
        assert (place, record["value"]["data"]) == ("0:2,1:1", "c")
    produce(1, "f")
    with events(proxy, f"{path}?value_type=STRING", place) as stream:
        rest = [stream.record() for _ in range(3)]
    assert sorted(record["value"]["data"] for _, record in rest) == ["d", "e", "f"]
    assert rest[-1][0] == "0:4,1:2"


def test_partitions_that_are_added_are_streamed_too(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("growing", 1)
    path = f"{proxy.cluster}/topics/growing/records?value_type=STRING"

    def produce(partition: int, data: bytes) -> None:
        with KafkaProducer(bootstrap_servers=broker.bootstrap_servers) as producer:
            producer.send("growing", data, partition=partition).result(30)

    with events(proxy, path) as stream:
        produce(0, b"a")
        before, _ = stream.record()
        with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
            admin.add_partitions("growing", 3)
        produce(2, b"b")
        place, record = stream.record()
        assert (place, record["value"]["data"], record["partition_id"]) == ("0:1,1:0,2:1", "b", 2)
    assert before == "0:1"
    with events(proxy, path, before) as stream:
        assert stream.record()[1]["value"]["data"] == "b"


def test_events_of_one_partition_from_an_offset(proxy: Proxy, records: str) -> None:
    with events(proxy, f"{records}/records?partitions=0&from=8&value_type=JSON") as stream:
        assert stream.record()[1]["value"]["data"] == {"n": 8}
    with events(proxy, f"{records}/records?partitions=0&from=2021-01-10T00:00:00Z") as stream:
        assert stream.record()[1]["offset"] == 9


def test_a_stream_that_resumes_before_the_first_record_begins_with_it(
    proxy: Proxy, broker: InProcessBroker
) -> None:
    broker.create_topic("trimmed", 1)
    proxy.ask("POST", f"{proxy.cluster}/topics/trimmed/records", b"{}" * 5)
    with KafkaAdmin(bootstrap_servers=broker.bootstrap_servers) as admin:
        admin.delete_records({TopicPartition("trimmed", 0): 3})
    with events(proxy, f"{proxy.cluster}/topics/trimmed/records", "0:1") as stream:
        assert stream.record()[1]["offset"] == 3


def test_a_stream_ends_when_its_topic_does(proxy: Proxy, broker: InProcessBroker) -> None:
    broker.create_topic("doomed", 1)
    proxy.ask("POST", f"{proxy.cluster}/topics/doomed/records", b"{}")
    with events(proxy, f"{proxy.cluster}/topics/doomed/records?from=earliest") as stream:
        stream.record()
        broker.delete_topic("doomed")
        event = stream.next()
    assert event["event"] == "error"
    assert json.loads(event["data"])["error_code"] == 40403


@pytest.mark.parametrize(
    ("query", "headers", "status", "message"),
    [
        ("?from=5", {}, 400, "from: got '5', takes an offset only together with one partition"),
        ("?from=soon", {}, 400, "from: got 'soon', takes earliest, latest"),
        ("?partitions=0,x", {}, 400, "partitions: got 'x', takes an integer"),
        ("?partitions=0,9", {}, 404, "Partition not found."),
        ("", {"Last-Event-ID": "a:b"}, 400, "Last-Event-ID: got 'a:b', takes the id of an event"),
        ("", {"Accept": "application/json"}, 406, "HTTP 406"),
    ],
)
def test_a_bad_stream_is_refused(
    proxy: Proxy, records: str, query: str, headers: dict[str, str], status: int, message: str
) -> None:
    answer = proxy.get(f"{records}/records{query}", headers)
    assert answer.status == status
    assert answer.json["message"].startswith(message)


def test_streams_have_a_limit_and_end_with_the_proxy(broker: InProcessBroker) -> None:
    broker.create_topic("busy", 1)
    with running(broker.bootstrap_servers, consumer_event_streams_max="1") as proxy:
        path = f"{proxy.cluster}/topics/busy/records"
        with events(proxy, path):
            refused = proxy.get(path)
            assert (refused.status, refused.json["error_code"]) == (429, 429)
        connection = proxy.connection()

        def opened() -> bool:
            connection.request("GET", path)
            return (response := connection.getresponse()).status == 200 or not response.read()

        wait_for(opened, what="the first stream to be let go of")
    connection.close()
