"""ZooKeeper, broker, registry, REST proxy and Connect together, with clients."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from urllib.request import urlopen

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from penstock.stack.health import broker_answers
from penstock.stack.ports import describe_holder
from tests.stack.platform import PATIENCE_S, Up, eventually, is_running, penstock, status

pytestmark = pytest.mark.processes

StartUp = Callable[..., Up]


def produce(address: str, value: bytes) -> None:
    errors: list[object] = []
    producer = Producer({"bootstrap.servers": address, "acks": "all"})
    producer.produce("foods", value, partition=0, on_delivery=lambda error, _: errors.append(error))
    assert producer.flush(PATIENCE_S) == 0
    assert errors == [None]


def consume(address: str, count: int, topic: str = "foods") -> list[bytes]:
    consumer = Consumer({"bootstrap.servers": address, "group.id": "unused"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    try:
        messages = consumer.consume(count, PATIENCE_S)
        return [value for message in messages if (value := message.value()) is not None]
    finally:
        consumer.close()


def register(address: str, schema: str) -> int | None:
    """The id; None if there is none now."""
    connection = http.client.HTTPConnection(address, timeout=PATIENCE_S)
    body = json.dumps({"schema": schema})
    try:
        connection.request("POST", f"/subjects/{schema[1:-1]}/versions", body)
        said = json.loads(connection.getresponse().read())
        return int(said["id"]) if "id" in said else None
    finally:
        connection.close()


def topics_by_rest(address: str) -> set[str]:
    with urlopen(f"http://{address}/v3/clusters", timeout=PATIENCE_S) as clusters:
        (cluster,) = json.load(clusters)["data"]
    with urlopen(cluster["topics"]["related"], timeout=PATIENCE_S) as topics:
        return {topic["topic_name"] for topic in json.load(topics)["data"]}


def test_records_survive_a_killed_broker_and_a_restarted_platform(
    start_up: StartUp, data_dir: Path, offset: str
) -> None:
    words = ["--data-dir", str(data_dir), "--port-offset", offset]
    up = start_up(*words)
    up.wait_for("Penstock is ready\n")
    zookeeper, broker, registry, rest, connect = status(data_dir)
    address = f"127.0.0.1:{9092 + int(offset)}"
    assert (zookeeper["name"], zookeeper["healthy"]) == ("zookeeper", True)
    assert broker == {
        "name": "broker-1",
        "kind": "broker",
        "address": address,
        "pid": broker["pid"],
        "healthy": True,
        "reason": None,
    }
    assert (registry["name"], registry["healthy"]) == ("registry", True)
    assert register(registry["address"], '"string"') == 1
    assert (rest["name"], rest["healthy"]) == ("rest", True)
    assert rest["address"] == f"127.0.0.1:{8082 + int(offset)}"
    assert (connect["name"], connect["healthy"]) == ("connect", True)
    with urlopen(f"http://127.0.0.1:{8083 + int(offset)}/connectors", timeout=PATIENCE_S) as connectors:
        assert json.load(connectors) == []
    produce(address, b"apple")
    assert {"_schemas", "foods"} <= topics_by_rest(rest["address"])
    os.kill(broker["pid"], signal.SIGKILL)
    up.wait_for("broker-1 answers again")
    produce(address, b"pear")
    eventually(lambda: register(registry["address"], '"int"') == 2)
    assert up.stop() == 0
    assert not any(is_running(each["pid"]) for each in (zookeeper, broker, registry, rest, connect))
    again = start_up(*words)
    again.wait_for("Penstock is ready\n")
    assert consume(address, 2) == [b"apple", b"pear"]
    assert register(registry["address"], '"string"') == 1


def test_settings_reach_the_broker(start_up: StartUp, offset: str) -> None:
    up = start_up("--ephemeral", "--port-offset", offset, "--override", "broker.id=7")
    up.wait_for("Penstock is ready\n")
    log = re.search(r"/\S+/logs/broker-1\.log", up.output)
    assert log is not None
    assert "Kafka broker 7 is ready on " in Path(log[0]).read_text()


def test_a_broker_in_the_background(
    start_up: StartUp, data_dir: Path, offset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start_up("--data-dir", str(data_dir), "--port-offset", offset, "--only", "zookeeper").wait_for(
        "is ready\n"
    )
    port = 9092 + int(offset)
    file = tmp_path / "server.properties"
    file.write_text(
        f"broker.id=3\nlisteners=PLAINTEXT://127.0.0.1:{port}\nlog.dirs={tmp_path / 'broker'}\n"
        f"zookeeper.connect=127.0.0.1:{2181 + int(offset)}\n"
    )
    monkeypatch.setenv("LOG_DIR", str(tmp_path))
    command = [sys.executable, "-m", "penstock.cli.tools.kafka_server_start", "-daemon", str(file)]
    subprocess.run(command, check=True, timeout=PATIENCE_S)
    eventually(lambda: broker_answers("127.0.0.1", port))
    holder = re.match(r"pid (\d+): ", describe_holder(port))
    assert holder is not None
    pid = int(holder[1])
    os.kill(pid, signal.SIGTERM)
    eventually(lambda: not is_running(pid))
    assert f"Kafka broker 3 is ready on 127.0.0.1:{port}" in (tmp_path / "kafkaServer.out").read_text()


def test_status_without_a_platform(tmp_path: Path) -> None:
    shown = penstock("status", "--data-dir", str(tmp_path))
    assert (shown.returncode, shown.stdout) == (1, f"Penstock does not run on {tmp_path}\n")
    assert status(tmp_path) == []
