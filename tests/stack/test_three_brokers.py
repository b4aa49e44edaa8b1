"""`penstock up --brokers 3`: what one broker less costs, and how a platform grows."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.stack.platform import PATIENCE_S, Up, eventually, penstock, status
from tests.stack.test_whole_platform import consume, produce
from tests.support.our_tools import our_tools
from tests.support.processes import wait_for
from tests.support.spark import require_java

pytestmark = pytest.mark.processes

StartUp = Callable[..., Up]
BROKERS = ("broker-1", "broker-2", "broker-3")
LEAST_BETWEEN_KILLS = 5
LINES = 500
CONNECTORS_PATIENCE_S = 240.0


def ask(url: str, body: object = None) -> Any:
    kind = "application/vnd.kafka.json.v2+json" if "/topics/" in url else "application/json"
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(Request(url, data, {"content-type": kind}), timeout=PATIENCE_S) as answer:
            return json.load(answer)
    except HTTPError as error:
        raise AssertionError(f"{url}: {error.code} {error.read().decode()}") from None


class Clients:
    """One that produces by the REST proxy, and one that registers schemas; none of their requests may fail."""

    def __init__(self, rest: str, registry: str) -> None:
        self.rest, self.registry = rest, registry
        self.offsets: dict[tuple[int, int], int] = {}
        self.ids: dict[int, int] = {}
        self.failure: BaseException | None = None
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=self._repeat, args=(step,)) for step in (self._produce, self._register)
        ]

    def _repeat(self, step: Callable[[int], None]) -> None:
        number = 0
        try:
            while not self._ended.is_set():
                step(number)
                number += 1
        except BaseException as error:
            self.failure = error

    def _produce(self, number: int) -> None:
        (said,) = ask(f"http://{self.rest}/topics/foods", {"records": [{"value": number}]})["offsets"]
        assert said.get("error_code") is None, said
        self.offsets[said["partition"], said["offset"]] = number

    def _register(self, number: int) -> None:
        schema = json.dumps({"type": "fixed", "name": f"f{number}", "size": number + 1})
        self.ids[number] = ask(f"http://{self.registry}/subjects/s{number}/versions", {"schema": schema})[
            "id"
        ]

    def wait_for_progress(self) -> None:
        produced, registered = len(self.offsets), len(self.ids)

        def is_enough() -> bool:
            assert self.failure is None, self.failure
            least = LEAST_BETWEEN_KILLS
            return len(self.offsets) >= produced + least and len(self.ids) >= registered + least

        eventually(is_enough)

    def __enter__(self) -> Clients:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()


def values_of(bootstrap: str, topic: str) -> dict[tuple[int, int], int]:
    consumer = Consumer(
        {"bootstrap.servers": bootstrap, "group.id": "unused", "auto.offset.reset": "earliest"}
    )
    (partition,) = consumer.list_topics(topic, PATIENCE_S).topics[topic].partitions
    consumer.assign([TopicPartition(topic, partition, 0)])
    _, end = consumer.get_watermark_offsets(TopicPartition(topic, partition), PATIENCE_S)
    messages = consumer.consume(end, PATIENCE_S)
    consumer.close()
    return {(partition, message.offset() or 0): int(message.value() or b"") for message in messages}


def lines_in(file: Path) -> list[str]:
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.faults
@pytest.mark.timeout(600)
@pytest.mark.long_run("PENSTOCK_FAULT_CONNECT_ROUNDS" in os.environ)
def test_connectors_work_on_while_brokers_die(
    start_up: StartUp, data_dir: Path, offset: str, tmp_path: Path
) -> None:
    """Lines go from a file to a topic, each once, and on to another file, each at least once."""
    require_java()
    up = start_up("--data-dir", str(data_dir), "--port-offset", offset, "--brokers", "3")
    up.wait_for("Penstock is ready\n")
    addresses = {each["name"]: each["address"] for each in status(data_dir)}
    bootstrap = ",".join(addresses[name] for name in BROKERS)
    source, sink, written = tmp_path / "source.txt", tmp_path / "sink.txt", []
    text = {"value.converter": "org.apache.kafka.connect.storage.StringConverter"}
    connectors = f"http://{addresses['connect']}/connectors"
    for name, config in (
        ("reads", {"connector.class": "FileStreamSource", "file": str(source), "topic": "lines"}),
        ("writes", {"connector.class": "FileStreamSink", "file": str(sink), "topics": "lines"}),
    ):
        ask(connectors, {"name": name, "config": {**text, **config}})
    for name in (None, *BROKERS):
        if name is not None:
            os.kill(pid_of(data_dir, name), signal.SIGKILL)
        lines = [f"{name} {number}" for number in range(LINES)]
        with source.open("a") as file:
            file.write("".join(f"{line}\n" for line in lines))
        written += lines
        wait_for(
            lambda: set(lines_in(sink)) == set(written),  # noqa: B023
            CONNECTORS_PATIENCE_S,
            lambda: f"{len(written)} lines, of which {len(set(lines_in(sink)))} are there, after {name}",  # noqa: B023
        )
        if name is not None:
            up.wait_for(f"{name} answers again")
            wait_until_in_sync(bootstrap)
    assert [value.decode() for value in consume(bootstrap, len(written), "lines")] == written
    assert up.stop() == 0


def pid_of(data_dir: Path, name: str) -> int:
    return next(int(each["pid"]) for each in status(data_dir) if each["name"] == name)


def test_a_platform_of_three_brokers_loses_each_of_them(
    start_up: StartUp, data_dir: Path, offset: str
) -> None:
    """One after the other, by `kill -9`: requests go on, and all that was answered is there."""
    only = ["--only", "zookeeper,broker,registry,rest"]
    up = start_up("--data-dir", str(data_dir), "--port-offset", offset, "--brokers", "3", *only)
    up.wait_for("Penstock is ready\n")
    _, *brokers, registry, rest = status(data_dir)
    assert tuple(broker["name"] for broker in brokers) == BROKERS
    bootstrap = ",".join(broker["address"] for broker in brokers)
    with Clients(rest["address"], registry["address"]) as clients:
        clients.wait_for_progress()
        for name in BROKERS:
            os.kill(pid_of(data_dir, name), signal.SIGKILL)
            clients.wait_for_progress()
            up.wait_for(f"{name} answers again")
            clients.wait_for_progress()
            wait_until_in_sync(bootstrap)
    assert clients.failure is None, clients.failure
    stored = values_of(bootstrap, "foods")
    assert clients.offsets.items() <= stored.items()
    assert sorted(stored.values()) == list(range(len(stored)))
    for number, schema_id in clients.ids.items():
        assert ask(f"http://{registry['address']}/subjects/s{number}/versions/1")["id"] == schema_id
    assert up.stop() == 0


def replicas_of(bootstrap: str) -> dict[str, list[tuple[int, int]]]:
    """How many each partition has, and how many of them are in sync."""
    found = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0}).list_topics(timeout=PATIENCE_S)
    return {
        name: [(len(each.replicas), len(each.isrs)) for each in topic.partitions.values()]
        for name, topic in found.topics.items()
    }


def wait_until_in_sync(bootstrap: str, *, replicas: int = 3) -> None:
    eventually(
        lambda: all(
            counts == (replicas, replicas) for each in replicas_of(bootstrap).values() for counts in each
        )
    )


def test_a_platform_grows_and_does_not_shrink_by_accident(data_dir: Path, offset: str) -> None:
    where = ("--data-dir", str(data_dir))
    start = ("up", "--detach", "--port-offset", offset, "--only", "zookeeper,broker", *where)
    assert penstock(*start).returncode == 0
    address = f"127.0.0.1:{9092 + int(offset)}"
    produce(address, b"apple")
    assert penstock("down", *where).returncode == 0
    grown = penstock(*start, "--brokers", "3")
    assert grown.returncode == 0, grown.stderr
    assert (
        "penstock: 1 topics have fewer than 3 replicas, and are away with their brokers: foods."
        in grown.stderr
    )
    command = re.search(r"kafka-reassign-partitions .*", grown.stderr)
    assert command is not None
    tool, *words = shlex.split(command[0])
    done = our_tools().run("penstock.cli.tools." + tool.replace("-", "_"), words)
    assert done.returncode == 0, done.stdout + done.stderr
    wait_until_in_sync(address)
    check_that_brokers_restart_in_turn(data_dir, where)
    assert consume(address, 1) == [b"apple"]
    assert penstock("down", *where).returncode == 0
    refused = penstock(*start, "--brokers", "1")
    assert refused.returncode == 1
    assert "--brokers: got 1; " in refused.stderr
    assert re.search(
        r"the partitions of broker-2 \(\d+\) and broker-3 \(\d+\) would be missing", refused.stderr
    )


def check_that_brokers_restart_in_turn(data_dir: Path, where: tuple[str, ...]) -> None:
    before = {pid_of(data_dir, name) for name in BROKERS}
    restarted = penstock("restart", "broker", *where)
    assert restarted.returncode == 0, restarted.stderr
    assert re.findall(r"^(broker-\d) \(pid \d+\) was stopped", restarted.stdout, re.MULTILINE) == list(
        BROKERS
    )
    assert not {pid_of(data_dir, name) for name in BROKERS} & before
    shown = penstock("logs", "broker", *where).stdout
    assert set(re.findall(r"^(\S+) +\|", shown, re.MULTILINE)) == set(BROKERS)
    assert "Kafka broker 2 is ready" in penstock("logs", "broker-2", *where).stdout
