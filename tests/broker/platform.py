"""ZooKeeper and a broker as processes of their own, which a test kills and starts again at the same place."""

from __future__ import annotations

import socket
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from tests.support.apache_kafka import answers_metadata
from tests.support.cluster_fixture import ONE_BROKER
from tests.support.processes import Process, free_port

SCRIPTS = Path(sys.executable).parent
PATIENCE_SECONDS = 60.0


def overrides(settings: Mapping[str, str]) -> list[str]:
    return [part for key, value in settings.items() for part in ("--override", f"{key}={value}")]


def accepts(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1.0).close()
    except OSError:
        return False
    return True


class Platform:
    def __init__(self, directory: Path, settings: Mapping[str, str] | None = None) -> None:
        self.directory = directory
        self.zookeeper_port, self.port = free_port(), free_port()
        self.bootstrap = f"127.0.0.1:{self.port}"
        self.log_dir = directory / "kafka-logs"
        self.zookeeper_settings = {
            "clientPort": str(self.zookeeper_port),
            "dataDir": str(directory / "zookeeper"),
            "tickTime": "500",
        }
        self.broker_settings = {
            "broker.id": "0",
            "listeners": f"PLAINTEXT://{self.bootstrap}",
            "log.dirs": str(self.log_dir),
            "zookeeper.connect": f"127.0.0.1:{self.zookeeper_port}",
            "zookeeper.session.timeout.ms": "4000",
            **ONE_BROKER,
            **(settings or {}),
        }
        self.zookeeper: Process
        self.broker: Process

    # ZooKeeper

    def start_zookeeper(self) -> None:
        command = [SCRIPTS / "zookeeper-server-start", *overrides(self.zookeeper_settings)]
        self.zookeeper = Process(command, self.directory / "zookeeper.log")
        self.zookeeper.wait_until(
            lambda: accepts(self.zookeeper_port), PATIENCE_SECONDS, "ZooKeeper to listen"
        )

    # the broker

    def launch_broker(self) -> Process:
        """Starts the broker and does not wait for it."""
        command = [SCRIPTS / "kafka-server-start", *overrides(self.broker_settings)]
        self.broker = Process(command, self.directory / "broker.log")
        return self.broker

    def start_broker(self) -> None:
        self.launch_broker().wait_until(
            lambda: answers_metadata(self.port), PATIENCE_SECONDS, "the broker to answer"
        )

    def restart_broker(self, *, kill: bool) -> None:
        if kill:
            self.broker.kill()
        else:
            assert self.broker.stop() == 0, self.broker.log_tail()
        self.start_broker()

    # both

    def start(self) -> None:
        self.directory.mkdir(parents=True, exist_ok=True)
        self.start_zookeeper()
        self.start_broker()

    def stop(self) -> None:
        for name in ("broker", "zookeeper"):
            process: Process | None = getattr(self, name, None)
            if process is not None:
                process.stop()

    def __enter__(self) -> Platform:
        try:
            self.start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.stop()
