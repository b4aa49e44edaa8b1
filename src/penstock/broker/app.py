"""The broker as a process: starts, serves until it is told to stop, stops cleanly."""

import asyncio
import ctypes
import gc
import logging
import os
import signal
import sys
from contextlib import suppress

import uvloop

from penstock.broker.broker import Broker
from penstock.broker.coordination import CoordinationError
from penstock.errors import ConfigError, StorageError, exit_code_of
from penstock.settings.broker import BrokerSettings

log = logging.getLogger("penstock.broker")

SWITCH_INTERVAL_SECONDS = 0.0005
"""How long a thread that compacts may keep the event loop from running."""
YOUNG_THRESHOLD = 10_000
"""A collection of that many young objects takes about a millisecond."""
MALLOPT_TRIM_THRESHOLD, MALLOPT_MMAP_THRESHOLD = -1, -3
REUSED_BYTES = 8 * 1024 * 1024
"""Larger pieces of memory go back to the system as soon as they are free."""
KEPT_BYTES = 16 * 1024 * 1024
"""So much free memory at most is kept at the end of the heap."""
GENERATION_2_THRESHOLD = 1000
"""Full garbage collections are rare: what a request allocates is freed by its reference count."""


def run(settings: BrokerSettings) -> int:
    """Runs a broker until SIGTERM or SIGINT; the exit code."""
    try:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_serve(settings))
    except (ConfigError, CoordinationError, StorageError) as error:
        with suppress(OSError):  # the log may lie on the same full disk
            print(f"kafka-server-start: {error}", file=sys.stderr)
        return exit_code_of(error)
    return 0


async def _serve(settings: BrokerSettings) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stopping.set)
    sys.setswitchinterval(SWITCH_INTERVAL_SECONDS)
    _reuse_large_memory()
    broker = Broker(settings)
    await broker.start()
    _calm_garbage_collection()
    addresses = ", ".join(f"{host}:{port}" for host, port in broker.addresses.values())
    with suppress(OSError):
        print(f"Kafka broker {broker.broker_id} is ready on {addresses}", flush=True)
    halting = loop.create_task(_halt_without_disk(broker))
    await stopping.wait()
    halting.cancel()
    log.info("stopping")
    await broker.stop()


async def _halt_without_disk(broker: Broker) -> None:
    """Ends the process, as Kafka halts, when the last log directory is offline: nothing could be written on the way
    out, and what was acknowledged is in files that the next start recovers."""
    await broker.directories.all_offline.wait()
    try:
        broker.directories.refuse_if_all_offline()
    except StorageError as error:
        log.critical("the broker ends: %s", error)
        os._exit(exit_code_of(error))


def _reuse_large_memory() -> None:
    """Has glibc keep some of what large buffers leave, as fetched records: else each has its pages mapped anew, which
    took a third of what replication costs. Other systems do as they do."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return
    mallopt(MALLOPT_MMAP_THRESHOLD, REUSED_BYTES)
    mallopt(MALLOPT_TRIM_THRESHOLD, KEPT_BYTES)


def _calm_garbage_collection() -> None:
    """Keeps what lives as long as the process out of every collection, and the tail of the latency short."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_THRESHOLD, 20, GENERATION_2_THRESHOLD)
