"""A Kafka that cannot be reached, or does not answer: every request ends, most with 503."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Answer, Proxy, running
from tests.rest.v2.consumers.conftest import QUICK
from tests.rest.v2.consumers.instance import Instance, partitions_of, produce
from tests.support.processes import free_port, wait_for


@contextmanager
def silent_kafka() -> Iterator[str]:
    """Takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


@contextmanager
def missing_kafka() -> Iterator[str]:
    yield f"127.0.0.1:{free_port()}"


@pytest.fixture(scope="module", params=[silent_kafka, missing_kafka])
def lonely(request: pytest.FixtureRequest) -> Iterator[Proxy]:
    with request.param() as bootstrap, running(bootstrap, client_timeout_ms="400") as proxy:
        yield proxy


def assert_unavailable(said: Answer) -> None:
    assert said.status == 503, said.text
    assert said.headers["retry-after"] == "5"
    assert said.json["error_code"] in (50302, 50003)


@pytest.mark.parametrize("how", ["subscribed", "assigned"])
def test_a_read_ends_by_its_own_time(lonely: Proxy, group: str, how: str) -> None:
    instance = Instance(lonely, group, consumer_request_timeout_ms=300)
    if how == "subscribed":
        instance.subscribe("t")
        assert instance.get("subscription").json == {"topics": ["t"]}
    else:
        instance.assign("t", 0)
    assert_unavailable(instance.records())
    assert_unavailable(instance.records("?timeout=100"))
    assert instance.delete().status == 204


def test_whatever_needs_kafka_is_unavailable(lonely: Proxy, group: str) -> None:
    instance = Instance(lonely, group)
    instance.assign("t", 0)
    offsets = {"offsets": [{"topic": "t", "partition": 0, "offset": 1}]}
    assert_unavailable(instance.post("offsets", offsets))
    assert_unavailable(instance.get("offsets", partitions_of("t", 0)))
    assert_unavailable(instance.post("positions/end", partitions_of("t", 0)))
    assert instance.post("positions", offsets).status == 204  # which needs none
    member = Instance(lonely, group)
    member.subscribe("t")
    assert_unavailable(member.post("offsets", offsets))


def test_a_kafka_that_goes_away_is_told_and_one_that_comes_back_is_read_on(group: str) -> None:
    with InProcessBroker() as own, running(own.bootstrap_servers, **QUICK, client_timeout_ms="700") as proxy:
        own.create_topic("t", 1)
        produce(own.bootstrap_servers, "t", 1)
        instance = Instance(proxy, group, "json", consumer_request_timeout_ms=500)
        instance.subscribe("t")
        wait_for(lambda: instance.assignments() and [each["value"] for each in instance.read()] == [1])
        own.stop_broker()
        assert_unavailable(instance.records())
        own.start_broker()
        produce(own.bootstrap_servers, "t", 2)
        found: list[int] = []

        def came() -> bool:
            said = instance.records()
            found.extend(each["value"] for each in said.json if said.status == 200)
            return 2 in found

        wait_for(came, 60, "the record to come")
        own.stop_broker()  # and the proxy ends without it
