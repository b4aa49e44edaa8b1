"""`zookeeper-server-start [zookeeper.properties] [--override key=value ...]`: the embedded ZooKeeper by itself."""

import argparse
import asyncio
import logging
import os
import signal
import sys
from pathlib import Path

import uvloop

from penstock.errors import ConfigError, PenstockError
from penstock.settings.properties import read_properties
from penstock.zookeeper.config import ZooKeeperConfig, config_from_properties
from penstock.zookeeper.server import ZooKeeperServer

# What Kafka's own zookeeper.properties says.
SHIPPED_PROPERTIES = {"dataDir": "/tmp/zookeeper", "clientPort": "2181", "maxClientCnxns": "0"}


def _arguments(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser("zookeeper-server-start", description="Start the embedded ZooKeeper.")
    parser.add_argument("properties", nargs="?", type=Path, help="a file of settings, zookeeper.properties")
    parser.add_argument(
        "--override",
        action="append",
        default=[],
        metavar="key=value",
        help="a setting that wins over the file",
    )
    return parser.parse_args(arguments)


def _overrides(texts: list[str]) -> dict[str, str]:
    for text in texts:
        if "=" not in text:
            raise ConfigError(f"--override: got {text!r}; takes key=value")
    return {key.strip(): value.strip() for key, _, value in (text.partition("=") for text in texts)}


def read_config(file: Path | None, overrides: list[str]) -> ZooKeeperConfig:
    """The settings of a file, or those that Kafka ships if there is none, with the overrides on top."""
    properties = dict(SHIPPED_PROPERTIES)
    if file is not None:
        properties = read_properties(file)
        properties.setdefault("dataDir", SHIPPED_PROPERTIES["dataDir"])
    return config_from_properties({**properties, **_overrides(overrides)})


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
    print(f"ZooKeeper is ready on {config.client_port_address}:{server.port}", flush=True)
    server.failure.add_done_callback(lambda _: stopped.set())
    await stopped.wait()
    await server.stop()
    return 1 if server.failure.done() else 0


def main(arguments: list[str] | None = None) -> int:
    parsed = _arguments(arguments)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    try:
        config = read_config(parsed.properties, parsed.override)
        return uvloop.run(run_server(config))
    except (PenstockError, OSError) as error:
        print(f"zookeeper-server-start: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
