"""Time from the start of the process to the first answered Metadata, on a directory that exists.

Penstock's ZooKeeper is running already; the start of everything by `penstock up` is a line of its own.
"""

from __future__ import annotations

import time

from bench.servers import START_TIMEOUT_SECONDS, Platform, Server
from bench.session import Session
from bench.wire import try_metadata
from tests.support.processes import Process


def run(session: Session) -> None:
    servers = [session.fresh(name) for name in session.names]
    try:
        for server in servers:
            server.start()  # not counted: the first start fills the page cache and the directory
            server.stop_broker()
        for _ in range(session.sizes.rounds):
            for server in servers:
                measure(session, server)
            if "penstock" in session.names:
                measure_platform(session)
    finally:
        for server in servers:
            server.close()


def measure(session: Session, server: Server) -> None:
    process = server.launch()
    session.record("start_seconds", server.name, seconds_to_metadata(process, server.port))
    session.record("start_cpu", server.name, server.cpu_seconds())
    session.say_last(server.name, "start_seconds", "start_cpu")
    server.stop_broker()


def measure_platform(session: Session) -> None:
    platform = Platform(session.directory("platform"))
    process = platform.launch()
    try:
        session.record("platform_start_seconds", "penstock", seconds_to_metadata(process, platform.port))
        session.say_last("penstock", "platform_start_seconds")
    finally:
        process.stop()


def seconds_to_metadata(process: Process, port: int) -> float:
    process.wait_until(lambda: try_metadata(port), START_TIMEOUT_SECONDS, "an answer to Metadata")
    return time.monotonic() - process.started_at
