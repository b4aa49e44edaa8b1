"""Servers for tests: one in a thread of this process, one in a process of its own, and clients of them."""

import asyncio
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kazoo.client import KazooClient
from kazoo.retry import KazooRetry

from penstock.zookeeper import ZooKeeperConfig, ZooKeeperServer
from tests.support.processes import dying_with_us

WAIT_SECONDS = 60
LAST_TURNS = 20
"""Of the loop: clients that come while the server stops are accepted, greeted and cut off, each step in a turn."""


class ServerThread:
    """A real server on a loop of its own, so that blocking clients can talk to it."""

    def __init__(
        self,
        config: ZooKeeperConfig,
        new_loop: Callable[[], asyncio.AbstractEventLoop] = asyncio.new_event_loop,
    ) -> None:
        self._loop = new_loop()
        self._thread = threading.Thread(target=self._run, name="zookeeper-server", daemon=True)
        self._thread.start()
        self.server = ZooKeeperServer(config)
        try:
            self.call(self.server.start())
        except BaseException:
            self._end_loop()
            raise

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()
        for _ in range(LAST_TURNS):
            self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def call(self, coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(WAIT_SECONDS)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server.port}"

    def _end_loop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(WAIT_SECONDS)

    def stop(self) -> None:
        if self._thread.is_alive():
            self.call(self.server.stop())
            self._end_loop()


class ServerProcess:
    """`zookeeper-server-start` as a user runs it."""

    def __init__(self, data_dir: Path, port: int = 0, **overrides: object) -> None:
        settings = {"dataDir": data_dir, "clientPort": port, **overrides}
        arguments = [f"--override={key}={value}" for key, value in settings.items()]
        command = [sys.executable, "-m", "penstock.cli.tools.zookeeper_server_start", *arguments]
        self.process = subprocess.Popen(
            dying_with_us(command),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self.process.stdout is not None
        self.first_line = self.process.stdout.readline()
        assert self.first_line, f"the server did not start: {self.end(signal.SIGKILL)}"
        self.address = self.first_line.split()[-1]
        self.port = int(self.address.rpartition(":")[2])

    def end(self, number: int = signal.SIGTERM) -> tuple[str, str]:
        """Ends the process with a signal; what it said since its first line."""
        if self.process.poll() is None:
            os.kill(self.process.pid, number)
        return self.process.communicate(timeout=WAIT_SECONDS)


@contextmanager
def kazoo_client(address: str, timeout: float = 10.0, **options: Any) -> Iterator[KazooClient]:
    retry = KazooRetry(max_tries=-1, delay=0.02, max_delay=0.2)
    client = KazooClient(address, timeout=timeout, connection_retry=retry, **options)
    client.start(timeout=WAIT_SECONDS)
    try:
        yield client
    finally:
        client.stop()
        client.close()
