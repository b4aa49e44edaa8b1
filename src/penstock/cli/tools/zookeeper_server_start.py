"""`zookeeper-server-start [-daemon] [zookeeper.properties] [--override name=value ...]`: the embedded ZooKeeper."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

import uvloop

from penstock.cli.tools.servers.start import Server, start
from penstock.errors import ConfigError, exit_code_of
from penstock.settings.properties import read_properties
from penstock.zookeeper.config import ZooKeeperConfig, config_from_properties
from penstock.zookeeper.server import ZooKeeperServer

# What Kafka's own zookeeper.properties says.
SHIPPED_PROPERTIES = {"dataDir": "/tmp/zookeeper", "clientPort": "2181", "maxClientCnxns": "0"}


def read_config(file: Path | None, overrides: Mapping[str, str]) -> ZooKeeperConfig:
    """The settings of a file, or those that Kafka ships if there is none, with the overrides on top."""
    properties = dict(SHIPPED_PROPERTIES)
    if file is not None:
        properties = read_properties(file)
        properties.setdefault("dataDir", SHIPPED_PROPERTIES["dataDir"])
    return config_from_properties({**properties, **overrides})


def _reason(error: OSError) -> str:
    return os.strerror(error.errno) if error.errno else str(error)


async def run_server(config: ZooKeeperConfig) -> int:
    """Serves until a signal or a failing disk. Returns the exit code."""
    server = ZooKeeperServer(config)
    loop, stopped = asyncio.get_running_loop(), asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopped.set)
    try:
        await server.start()
    except OSError as error:
        address = f"{config.client_port_address}:{config.client_port}"
        raise ConfigError(f"clientPort: can't listen on {address}: {_reason(error)}") from None
    with suppress(OSError):  # the log may lie on a disk that is full
        print(f"ZooKeeper is ready on {config.client_port_address}:{server.port}", flush=True)
    server.failure.add_done_callback(lambda _: stopped.set())
    await stopped.wait()
    await server.stop()
    return exit_code_of(server.failure.result()) if server.failure.done() else 0


def _run(config: ZooKeeperConfig) -> int:
    return uvloop.run(run_server(config))


SERVER = Server("zookeeper-server-start", "zookeeper.properties", "zookeeper.out", read_config, _run)


def main(arguments: list[str] | None = None) -> int:
    return start(SERVER, arguments)


if __name__ == "__main__":
    sys.exit(main())
