"""What runs the programs: Penstock on Spark, Java's Kafka Streams and Quix Streams, each as a command.

Quix Streams is fetched into an environment of its own, once, beside the other toolchains.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import venv
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.servers import SCRIPTS
from bench.streams.in_process import program_file
from tests.support import toolchains
from tests.support.kafka_streams import JARS

QUIX_VERSION = "3.28.1"
QUIX_HOME = toolchains.HOME / f"quixstreams-{QUIX_VERSION}"
FETCH_SECONDS = 900.0
THREADS = 2
STATE = "state"
"""In the folder of a run, where a system keeps what it could make again out of topics."""
JVM_FLAGS = ("-Xmx1G",)


@dataclass(frozen=True)
class Run:
    """One program, for one run."""

    program: str
    application_id: str
    output: str
    bootstrap: str
    folder: Path


@dataclass(frozen=True)
class System:
    name: str
    command: Callable[[Run], list[str]]
    says_it_runs: str = ""
    """In its log."""
    is_exact: bool = True


def penstock(run: Run) -> list[str]:
    file = program_file(run.program, run.application_id, run.output, run.folder)
    settings = {"replication.factor": "1", "state.dir": str(run.folder / "spark")}
    given = [part for name, value in settings.items() for part in ("--set", f"{name}={value}")]
    where = ["--bootstrap-server", run.bootstrap]
    return [str(SCRIPTS / "penstock"), "streams", "run", file.path, *where, *given]


def kafka_streams(run: Run, cache_bytes: int | None) -> list[str]:
    settings = {
        "application.id": run.application_id,
        "bootstrap.servers": run.bootstrap,
        "processing.guarantee": "exactly_once_v2",
        "num.stream.threads": THREADS,
        "replication.factor": 1,
        "state.dir": run.folder / STATE,
        **({} if cache_bytes is None else {"statestore.cache.max.bytes": cache_bytes}),
    }
    source = Path(__file__).parent / "java"
    command = toolchains.java_program("java-streams-bench", source, "StreamsBench", JVM_FLAGS, JARS)
    return [*command, run.program, run.output, *(f"{name}={value}" for name, value in settings.items())]


def quix(run: Run, guarantee: str) -> list[str]:
    job = {
        "program": run.program,
        "application_id": run.application_id,
        "output": run.output,
        "bootstrap": run.bootstrap,
        "folder": str(run.folder / STATE),
        "guarantee": guarantee,
    }
    return [quix_python(), str(Path(__file__).parent / "quix_program.py"), json.dumps(job)]


def quix_python() -> str:
    """The interpreter that has Quix Streams; the first call on a machine fetches it."""
    QUIX_HOME.parent.mkdir(parents=True, exist_ok=True)
    with (QUIX_HOME.parent / f"{QUIX_HOME.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        python = QUIX_HOME / "bin" / "python"
        if not (QUIX_HOME / "complete").exists():
            venv.create(QUIX_HOME, with_pip=True, clear=True)
            fetch = [str(python), "-m", "pip", "install", "--quiet", f"quixstreams=={QUIX_VERSION}"]
            done = subprocess.run(
                fetch,
                capture_output=True,
                text=True,
                timeout=FETCH_SECONDS,
                check=False,
                stdin=subprocess.DEVNULL,
            )
            if done.returncode:
                raise RuntimeError(f"pip could not fetch Quix Streams:\n{done.stdout}{done.stderr}")
            (QUIX_HOME / "complete").touch()
    return str(python)


SLOW_PEERS_SHARE = 0.1
"""Of the records, for those who would take minutes for all."""
PENSTOCK = System("penstock", penstock, " is running")
KAFKA_STREAMS = System("kafka_streams", lambda run: kafka_streams(run, 0), "state RUNNING")
KAFKA_STREAMS_CACHED = System("kafka_streams_cached", lambda run: kafka_streams(run, None), "state RUNNING")
STREAMS = (KAFKA_STREAMS, KAFKA_STREAMS_CACHED)
QUIX = (
    System("quix", lambda run: quix(run, "at-least-once"), is_exact=False),
    System("quix_exactly_once", lambda run: quix(run, "exactly-once")),
)
