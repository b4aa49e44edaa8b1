"""The wall time of console tools, Kafka's own and Penstock's, from their start to their end on the same server.

Kafka's run with what its start scripts pass to the JVM. The list of topics is next to nothing but the start of the
tool; the console consumer reads many small records into a file.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bench import topics
from bench.client import run_client
from bench.servers import Server
from bench.session import Session
from bench.start_scripts import JVM_FLAGS
from tests.support.apache_kafka import TOOLS, java_command

LIST_HEAP, CONSUMER_HEAP = "-Xmx256M", "-Xmx512M"
RECORD_BYTES = 100
TOPIC = "console-tools"
OTHER_TOPICS = 20
TIMEOUT_SECONDS = 300
STARTS_PER_ROUND = 3

Command = Sequence[str | Path]


def run(session: Session) -> None:
    with session.fresh(session.names[-1]) as server:
        server.start()
        topics.create(server, {TOPIC: 1, **{f"other-{number}": 1 for number in range(OTHER_TOPICS)}})
        fill(session, server)
        for name in session.names:
            measure(session, name, server, counts=False)
        for _ in range(session.sizes.rounds):
            for name in session.names:
                measure(session, name, server)


def fill(session: Session, server: Server) -> None:
    job = {
        "topic": TOPIC,
        "partitions": 1,
        "records": session.sizes.tool_records,
        "record_bytes": RECORD_BYTES,
    }
    run_client("produce", bootstrap=server.bootstrap, acks="all", **job)


def measure(session: Session, name: str, server: Server, *, counts: bool = True) -> None:
    output = session.root / "output"
    where = ("--bootstrap-server", server.bootstrap)
    command_of = COMMANDS[name]
    starts = [
        seconds_of(command_of("kafka-topics", LIST_HEAP, *where, "--list"), output)
        for _ in range(STARTS_PER_ROUND)
    ]
    check(output.read_bytes().count(b"\n") > OTHER_TOPICS, f"{name}: not all topics were listed")
    records = session.sizes.tool_records
    what = ("--topic", TOPIC, "--from-beginning", "--max-messages", str(records))
    consumed = seconds_of(command_of("kafka-console-consumer", CONSUMER_HEAP, *where, *what), output)
    check(output.stat().st_size == records * (RECORD_BYTES + 1), f"{name}: not all records were written")
    output.unlink()
    if counts:
        session.record("tool_start_seconds", name, min(starts))
        session.record("console_consumer_seconds", name, consumed)
        session.say_last(name, "tool_start_seconds", "console_consumer_seconds")


def seconds_of(command: Command, output: Path) -> float:
    with output.open("wb") as file:
        started = time.perf_counter()
        done = subprocess.run(
            command, stdout=file, stderr=subprocess.PIPE, timeout=TIMEOUT_SECONDS, check=False
        )
        elapsed = time.perf_counter() - started
    check(done.returncode == 0, f"{command[0]} ended with {done.returncode}: {done.stderr.decode()}")
    return elapsed


def check(is_so: bool, else_say: str) -> None:
    if not is_so:
        raise RuntimeError(else_say)


def command_of_kafka(tool: str, heap: str, *arguments: str) -> Command:
    return java_command(TOOLS[tool], *arguments, jvm_flags=(heap, *JVM_FLAGS))


def command_of_penstock(tool: str, heap: str, *arguments: str) -> Command:
    return [sys.executable, "-m", f"penstock.cli.tools.{tool.replace('-', '_')}", *arguments]


COMMANDS: dict[str, Callable[..., Command]] = {"kafka": command_of_kafka, "penstock": command_of_penstock}
