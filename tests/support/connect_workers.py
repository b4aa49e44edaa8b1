"""Connect workers to send requests to: Apache's own from Maven, as a process beside ours."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.apache_connect import JARS
from tests.support.apache_kafka import SHORT_LIVED_JVM_FLAGS, require_java
from tests.support.cluster_fixture import REPLICAS
from tests.support.processes import Process, free_port

START_SECONDS = 120.0
REQUEST_SECONDS = 100.0


class Said(NamedTuple):
    status: int
    body: Any
    headers: Mapping[str, str]


class ConnectClient:
    """Plain HTTP to a worker."""

    def __init__(self, url: str) -> None:
        self.url = url

    def send(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> Said:
        """`body` is made JSON unless it is bytes; the answer's is parsed where it is JSON."""
        connection = http.client.HTTPConnection(self.url.removeprefix("http://"), timeout=REQUEST_SECONDS)
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        given = {"content-type": "application/json"} if data is not None else {}
        try:
            connection.request(method, path, data, {**given, **(headers or {})})
            answer = connection.getresponse()
            text = answer.read().decode()
            said = {name.lower(): value for name, value in answer.getheaders()}
            is_json = said.get("content-type", "").startswith("application/json")
            return Said(answer.status, json.loads(text) if text and is_json else text or None, said)
        finally:
            connection.close()

    def is_ready(self) -> bool:
        try:
            return self.send("GET", "/health").status == 200
        except OSError:
            return False


def worker_settings(bootstrap: str, group: str, port: int) -> dict[str, str]:
    """The same for both kinds of workers."""
    return {
        "bootstrap.servers": bootstrap,
        "group.id": group,
        "listeners": f"http://127.0.0.1:{port}",
        "rest.advertised.host.name": "127.0.0.1",
        "config.storage.topic": f"{group}-configs",
        "offset.storage.topic": f"{group}-offsets",
        "status.storage.topic": f"{group}-status",
        "config.storage.replication.factor": REPLICAS,
        "offset.storage.replication.factor": REPLICAS,
        "offset.storage.partitions": "1",
        "status.storage.replication.factor": REPLICAS,
        "status.storage.partitions": "1",
        "key.converter": "org.apache.kafka.connect.storage.StringConverter",
        "value.converter": "org.apache.kafka.connect.storage.StringConverter",
        "offset.flush.interval.ms": "500",
    }


@contextmanager
def running_apache_connect(
    directory: Path, bootstrap: str, group: str = "apache-connect", settings: Mapping[str, str] | None = None
) -> Iterator[ConnectClient]:
    """A distributed worker of Apache Kafka Connect with its file connectors."""
    require_java()
    port = free_port()
    properties = directory / f"{group}.properties"
    given = {
        **worker_settings(bootstrap, group, port),
        "scheduled.rebalance.max.delay.ms": "0",
        **(settings or {}),
    }
    properties.write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    command = [
        *("java", *SHORT_LIVED_JVM_FLAGS, JARS.log4j_flag, "-cp", JARS.classpath()),
        *("org.apache.kafka.connect.cli.ConnectDistributed", str(properties)),
    ]
    client = ConnectClient(f"http://127.0.0.1:{port}")
    with Process(command, directory / f"{group}.log") as process:
        process.wait_until(client.is_ready, START_SECONDS, "Apache Kafka Connect to answer")
        yield client
