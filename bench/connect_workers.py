"""Connect workers, each a process of its own: Penstock's on Spark, and Apache's as its start script runs it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path

from bench.pipeline_loads import PipelineLoad
from bench.process_tree import ProcessTree
from bench.servers import SCRIPTS, Server
from bench.start_scripts import CONNECT_HEAP, JVM_FLAGS
from penstock import KafkaAdmin
from tests.support.apache_connect import JARS
from tests.support.connect_workers import ConnectClient, worker_settings
from tests.support.processes import Process, free_port

STRING = "org.apache.kafka.connect.storage.StringConverter"
JSON = "org.apache.kafka.connect.json.JsonConverter"
START_SECONDS = 120.0
WORK_SECONDS = 900.0
POLL_SECONDS = 0.05
LOOK_AT_STATUS_SECONDS = 2.0

Command = list[str | Path]
_numbers = count()


class Worker:
    def __init__(self, name: str, process: Process, client: ConnectClient) -> None:
        self.name = name
        self.process = process
        self.tree = ProcessTree(process.pid)
        self._client = client

    @contextmanager
    def connector(self, name: str, config: Mapping[str, str]) -> Iterator[None]:
        self._send("PUT", f"/connectors/{name}/config", dict(config))
        try:
            yield
        finally:
            self._send("DELETE", f"/connectors/{name}")

    def run_sink(self, server: Server, config: Mapping[str, str], records: int) -> PipelineLoad:
        """From the connector's creation until its group has committed so many records."""
        name = f"sink-{next(_numbers)}"
        load = PipelineLoad(self.tree, server)
        with KafkaAdmin(bootstrap_servers=server.bootstrap) as admin, self.connector(name, config):
            self.wait_until(name, lambda: _committed(admin, f"connect-{name}") >= records)
            load.end()
        return load

    def wait_until(self, connector: str, condition: Callable[[], bool]) -> None:
        """A connector that fails meanwhile is reported at once."""
        deadline, look_at = time.monotonic() + WORK_SECONDS, 0.0
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"{connector} is not done after {WORK_SECONDS:g} s")
            if time.monotonic() > look_at:
                self._require_running(connector)
                look_at = time.monotonic() + LOOK_AT_STATUS_SECONDS
            time.sleep(POLL_SECONDS)

    def _require_running(self, connector: str) -> None:
        self.process.require_alive()
        status = self._client.send("GET", f"/connectors/{connector}/status").body or {}
        for task in status.get("tasks", []):
            if task["state"] == "FAILED":
                raise RuntimeError(f"{connector}: task {task['id']} failed: {task.get('trace')}")

    def _send(self, method: str, path: str, body: object = None) -> None:
        said = self._client.send(method, path, body)
        if said.status >= 300:
            raise RuntimeError(f"{self.name}: {method} {path}: {said.status} {said.body}")


def _committed(admin: KafkaAdmin, group: str) -> int:
    return sum(each.offset for each in admin.committed_offsets(group).values() if each is not None)


@contextmanager
def running_worker(name: str, directory: Path, bootstrap: str) -> Iterator[Worker]:
    """`name` is penstock or kafka; what a worker says goes to a log in `directory`."""
    port = free_port()
    settings = {**worker_settings(bootstrap, name, port), "data.dir": str(directory / "data")}
    del settings["offset.flush.interval.ms"]
    properties = directory / f"{name}.properties"
    properties.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
    client = ConnectClient(f"http://127.0.0.1:{port}")
    with Process(COMMANDS[name](properties), directory / f"{name}.log") as process:
        process.wait_until(client.is_ready, START_SECONDS, f"the Connect worker of {name}")
        yield Worker(name, process, client)


def command_of_penstock(properties: Path) -> Command:
    return [SCRIPTS / "connect-distributed", properties]


def command_of_kafka(properties: Path) -> Command:
    main = "org.apache.kafka.connect.cli.ConnectDistributed"
    return ["java", *CONNECT_HEAP, *JVM_FLAGS, JARS.log4j_flag, "-cp", JARS.classpath(), main, properties]


COMMANDS: dict[str, Callable[[Path], Command]] = {
    "penstock": command_of_penstock,
    "kafka": command_of_kafka,
}
