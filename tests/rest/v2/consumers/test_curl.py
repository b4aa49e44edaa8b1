"""What Confluent's documentation does with curl, with curl."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import Any

import pytest

from penstock.testing.in_process import InProcessBroker
from tests.rest.proxy import Proxy
from tests.rest.v2.consumers.instance import media_type, unique

pytestmark = pytest.mark.processes

CONTENT = "Content-Type: application/vnd.kafka.v2+json"


def curl(command: str, **values: str) -> tuple[int, Any]:
    """The status and the JSON that came, if any."""
    words = shlex.split(command.format(**values), comments=False)
    ended = subprocess.run(
        ["curl", "-sS", "-w", "\n%{http_code}", *words],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    text, _, status = ended.stdout.rpartition("\n")
    return int(status), json.loads(text) if text else None


@pytest.mark.parametrize(
    ("name", "request_body", "records"),
    [
        ("json", {"records": [{"value": {"foo": "bar"}}]}, [(None, {"foo": "bar"})]),
        ("binary", {"records": [{"key": "a2V5", "value": "S2Fma2E="}]}, [("a2V5", "S2Fma2E=")]),
        (
            "avro",
            {
                "value_schema": '{"type": "record", "name": "User", "fields": [{"name": "name", "type": '
                '"string"}]}',
                "records": [{"value": {"name": "testUser"}}],
            },
            [(None, {"name": "testUser"})],
        ),
        (
            "jsonschema",
            {
                "value_schema": '{"type":"object","properties":{"f1":{"type":"string"}}}',
                "records": [{"value": {"f1": "foo"}}],
            },
            [(None, {"f1": "foo"})],
        ),
        (
            "protobuf",
            {
                "value_schema": 'syntax="proto3"; message foo { string f1 = 1; }',
                "records": [{"value": {"f1": "foo"}}],
            },
            [(None, {"f1": "foo"})],
        ),
    ],
)
def test_produce_and_consume(
    schema_proxy: Proxy,
    broker: InProcessBroker,
    name: str,
    request_body: dict[str, Any],
    records: list[tuple[Any, Any]],
) -> None:
    topic, group = unique(f"{name}test"), unique(f"my_{name}_consumer")
    broker.create_topic(topic, 1)
    url = f"http://localhost:{schema_proxy.port}"
    status, made = curl(
        "-X POST -H 'Content-Type: {media_type}' -H 'Accept: application/vnd.kafka.v2+json' "
        "--data {body} {url}/topics/{topic}",
        media_type=media_type(name),
        body=shlex.quote(json.dumps(request_body)),
        url=url,
        topic=topic,
    )
    assert (status, made["offsets"][0]["offset"]) == (200, 0)
    body = {"name": "my_consumer_instance", "format": name, "auto.offset.reset": "earliest"}
    status, made = curl(
        "-X POST -H {content} --data {body} {url}/consumers/{group}",
        content=shlex.quote(CONTENT),
        body=shlex.quote(json.dumps(body)),
        url=url,
        group=group,
    )
    base = f"{url}/consumers/{group}/instances/my_consumer_instance"
    assert (status, made) == (200, {"instance_id": "my_consumer_instance", "base_uri": base})
    status, _ = curl(
        "-X POST -H {content} --data {body} {base}/subscription",
        content=shlex.quote(CONTENT),
        body=shlex.quote(json.dumps({"topics": [topic]})),
        base=base,
    )
    assert status == 204
    read = "-X GET -H 'Accept: {media_type}' {base}/records"
    found: list[Any] = []
    while not found:
        status, found = curl(read, media_type=media_type(name), base=base)
        assert status == 200, found
    assert found == [
        {"topic": topic, "key": key, "value": value, "partition": 0, "offset": offset}
        for offset, (key, value) in enumerate(records)
    ]
    status, _ = curl("-X DELETE -H {content} {base}", content=shlex.quote(CONTENT), base=base)
    assert status == 204


def test_offsets_positions_and_assignments(proxy: Proxy, broker: InProcessBroker) -> None:
    topic, group = unique("offsets"), unique("testgroup")
    broker.create_topic(topic, 2)
    url = f"http://localhost:{proxy.port}"
    content = shlex.quote(CONTENT)
    post = "-X POST -H {content} --data {body} {address}"

    def send(address: str, body: Any, command: str = post) -> tuple[int, Any]:
        return curl(command, content=content, body=shlex.quote(json.dumps(body)), address=address)

    _, made = send(f"{url}/consumers/{group}/", {"name": "my_consumer", "format": "binary"})
    base = made["base_uri"]
    partitions = {"partitions": [{"topic": topic, "partition": number} for number in (0, 1)]}
    offsets = {
        "offsets": [
            {"topic": topic, "partition": 0, "offset": 20},
            {"topic": topic, "partition": 1, "offset": 30},
        ]
    }
    assert send(f"{base}/assignments", partitions) == (204, None)
    assert curl("{base}/assignments", base=base) == (200, partitions)
    assert send(f"{base}/offsets", offsets) == (200, [])
    status, committed = send(f"{base}/offsets", partitions, "-X GET -H {content} --data {body} {address}")
    assert (status, [each["offset"] for each in committed["offsets"]]) == (200, [21, 31])
    assert send(f"{base}/positions", offsets) == (204, None)
    assert send(f"{base}/positions/beginning", partitions) == (204, None)
    assert send(f"{base}/positions/end", partitions) == (204, None)
    assert curl("-X DELETE {base}/subscription", base=base) == (204, None)
