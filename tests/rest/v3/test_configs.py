"""Configs of topics, brokers and all brokers, read and changed under `/v3`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy
from tests.support.cluster_fixture import only_one_broker
from tests.support.processes import wait_for


@pytest.fixture
def topic(proxy: Proxy, broker: InProcessBroker) -> Iterator[str]:
    broker.create_topic("configured", 1)
    yield f"{proxy.cluster}/topics/configured/configs"
    broker.delete_topic("configured")


def test_a_config_of_a_topic_is_set_and_reset(proxy: Proxy, topic: str) -> None:
    before = proxy.get(f"{topic}/cleanup.policy").json
    assert before == {
        "kind": "KafkaTopicConfig",
        "metadata": {
            "self": f"http://127.0.0.1:{proxy.port}{topic}/cleanup.policy",
            "resource_name": f"crn:///kafka={proxy.cluster_id}/topic=configured/config=cleanup.policy",
        },
        "cluster_id": proxy.cluster_id,
        "topic_name": "configured",
        "name": "cleanup.policy",
        "value": "delete",
        "is_default": True,
        "is_read_only": False,
        "is_sensitive": False,
        "source": "DEFAULT_CONFIG",
        "synonyms": [{"name": "log.cleanup.policy", "value": "delete", "source": "DEFAULT_CONFIG"}],
    }
    assert proxy.ask("PUT", f"{topic}/cleanup.policy", {"value": "compact"}).status == 204
    after = proxy.get(f"{topic}/cleanup.policy").json
    assert (after["value"], after["is_default"], after["source"]) == (
        "compact",
        False,
        "DYNAMIC_TOPIC_CONFIG",
    )
    assert [each["source"] for each in after["synonyms"]] == ["DYNAMIC_TOPIC_CONFIG", "DEFAULT_CONFIG"]
    listed = proxy.get(topic).json
    assert listed["kind"] == "KafkaTopicConfigList"
    assert after in listed["data"]
    assert proxy.ask("DELETE", f"{topic}/cleanup.policy").status == 204
    assert proxy.get(f"{topic}/cleanup.policy").json == before


def test_several_configs_are_altered_at_once_or_not_at_all(proxy: Proxy, topic: str) -> None:
    def value(name: str) -> str:
        found: str = proxy.get(f"{topic}/{name}").json["value"]
        return found

    changes: list[dict[str, Any]] = [
        {"name": "retention.ms", "value": "1000"},
        {"name": "cleanup.policy", "value": "compact", "operation": "append"},
    ]
    dry = {"data": changes, "validate_only": True}
    assert proxy.ask("POST", f"{topic}:alter", dry).status == 204
    assert value("retention.ms") == "604800000"
    assert proxy.ask("POST", f"{topic}:alter", {"data": changes}).status == 204
    assert (value("retention.ms"), value("cleanup.policy")) == ("1000", "delete,compact")
    bad = [{"name": "retention.ms", "operation": "DELETE"}, {"name": "segment.bytes", "value": "many"}]
    refused = proxy.ask("POST", f"{topic}:alter", {"data": bad})
    assert (refused.status, refused.json["error_code"]) == (400, 40002)
    assert value("retention.ms") == "1000"


def test_the_configs_of_all_topics(proxy: Proxy, topic: str) -> None:
    listed = proxy.get(f"{proxy.cluster}/topics/-/configs").json
    assert listed["data"][0]["kind"] == "KafkaTopicConfig"
    assert "retention.ms" in [each["name"] for each in listed["data"] if each["topic_name"] == "configured"]


@pytest.mark.parametrize(
    ("method", "name", "body", "status", "message"),
    [
        ("GET", "/nonsense", None, 404, "Config nonsense cannot be found for TOPIC configured in cluster"),
        ("PUT", "/nonsense", {"value": "1"}, 404, "Config nonsense cannot be found"),
        ("DELETE", "/nonsense", None, 404, "Config nonsense cannot be found"),
        ("PUT", "/retention.ms", {"value": 5}, 400, "value: got 5, takes a string"),
        ("PUT", "/retention.ms", {"value": "soon"}, 400, "retention.ms: got 'soon'"),
        ("POST", ":alter", {}, 422, "data: is missing"),
        ("POST", ":alter", {"data": [{}]}, 422, "data[0].name: is missing"),
        (
            "POST",
            ":alter",
            {"data": [{"name": "a", "operation": "MERGE"}]},
            400,
            "data[0].operation: got 'MERGE', takes one of SET, DELETE, APPEND, SUBTRACT",
        ),
    ],
)
def test_a_bad_change_says_what_is_wrong(
    proxy: Proxy, topic: str, method: str, name: str, body: Any, status: int, message: str
) -> None:
    answer = proxy.ask(method, topic + name, body)
    assert answer.status == status
    assert answer.json["message"].startswith(message)


def test_configs_of_a_topic_that_is_not_there(proxy: Proxy) -> None:
    for path in ("configs", "configs/retention.ms"):
        assert proxy.get(f"{proxy.cluster}/topics/nowhere/{path}").json["error_code"] == 40403


@only_one_broker
def test_a_config_of_one_broker_and_of_all(proxy: Proxy) -> None:
    one = f"{proxy.cluster}/brokers/0/configs"
    every = f"{proxy.cluster}/broker-configs"
    name = "log.cleaner.threads"
    before = proxy.get(f"{one}/{name}").json
    assert (before["kind"], before["broker_id"], before["value"]) == ("KafkaBrokerConfig", 0, "1")
    assert proxy.get(f"{every}/{name}").status == 404
    assert proxy.ask("PUT", f"{every}/{name}", {"value": "2"}).status == 204
    found = wait_for(lambda: proxy.get(f"{every}/{name}").json, what="the default to be there")
    assert found["config_type"] == "BROKER"
    assert (found["value"], found["source"]) == ("2", "DYNAMIC_DEFAULT_BROKER_CONFIG")
    assert found["metadata"]["resource_name"].endswith(f"/broker-config={name}")
    assert name in [each["name"] for each in proxy.get(every).json["data"]]
    wait_for(lambda: proxy.get(f"{one}/{name}").json["value"] == "2", what="the broker to take it")
    changes = {"data": [{"name": name, "value": "3"}]}
    assert proxy.ask("POST", f"{one}:alter", changes).status == 204
    wait_for(lambda: proxy.get(f"{one}/{name}").json["value"] == "3", what="the broker to take its own")
    assert proxy.get(f"{one}/{name}").json["source"] == "DYNAMIC_BROKER_CONFIG"
    assert proxy.ask("DELETE", f"{one}/{name}").status == 204
    assert proxy.ask("DELETE", f"{every}/{name}").status == 204
    wait_for(lambda: proxy.get(f"{one}/{name}").json == before, what="the default to be back")
    [first, *_] = proxy.get(f"{proxy.cluster}/brokers/-/configs").json["data"]
    assert first["kind"] == "KafkaBrokerConfig"
    assert proxy.get(f"{proxy.cluster}/brokers/5/configs").status == 404
