"""Spark's own cluster, from the pip package: a master, and workers that start executors for the drivers that come.

Each is a Java process that we start in the foreground and stop with us. The folder of this Python comes first in the
workers' PATH: the executors' `python3` is then this one, which can import what is installed beside us.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penstock.child_processes import dying_with_us, end
from penstock.pipeline.spark.jars import spark_home
from penstock.pipeline.spark.java import find_java_home
from penstock.pipeline.spark.settings import EngineError

MASTER_PORT = 7077
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 20.0
_MASTER_CLASS = "org.apache.spark.deploy.master.Master"
_WORKER_CLASS = "org.apache.spark.deploy.worker.Worker"
_LOG4J = """rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %p %c{1}: %m%n%ex
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
"""


@dataclass(frozen=True, slots=True)
class MasterOptions:
    data_dir: Path
    host: str = "127.0.0.1"
    port: int = MASTER_PORT
    ui_port: int | None = None

    @property
    def address(self) -> str:
        return f"spark://{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class WorkerOptions:
    data_dir: Path
    master: str
    port: int
    host: str = "127.0.0.1"
    cores: int | None = None
    memory: str | None = None
    """As Spark takes it: 512m, 4g; all of the machine's but one gigabyte if None."""
    ui_port: int | None = None


def start_master(options: MasterOptions) -> subprocess.Popen[bytes]:
    words = ["--host", options.host, "--port", str(options.port)]
    return _start(_MASTER_CLASS, words, options.host, options.port, options.ui_port, options.data_dir)


def start_worker(options: WorkerOptions) -> subprocess.Popen[bytes]:
    work_dir = options.data_dir / f"worker-{options.port}"
    work_dir.mkdir(parents=True, exist_ok=True)
    words = ["--host", options.host, "--port", str(options.port), "--work-dir", str(work_dir)]
    if options.cores is not None:
        words += ["--cores", str(options.cores)]
    if options.memory is not None:
        words += ["--memory", options.memory]
    words.append(options.master)
    return _start(_WORKER_CLASS, words, options.host, options.port, options.ui_port, options.data_dir)


def _start(
    main_class: str, words: Sequence[str], host: str, port: int, ui_port: int | None, data_dir: Path
) -> subprocess.Popen[bytes]:
    data_dir.mkdir(parents=True, exist_ok=True)
    command = [
        str(spark_home() / "bin" / "spark-class"),
        main_class,
        "--webui-port",
        str(ui_port or 0),
        *words,
    ]
    process = subprocess.Popen(
        dying_with_us(command),
        env=_environment(host, data_dir),
        stdin=subprocess.DEVNULL,
    )
    try:
        _wait_until_it_listens(process, host, port)
    except BaseException:
        stop(process)
        raise
    return process


def _environment(host: str, data_dir: Path) -> dict[str, str]:
    log4j = data_dir / "log4j2.properties"
    log4j.write_text(_LOG4J)
    return {
        **os.environ,
        "JAVA_HOME": str(find_java_home()),
        "SPARK_HOME": str(spark_home()),
        "SPARK_LOCAL_IP": host,
        "SPARK_LOCAL_DIRS": str(data_dir / "scratch"),
        "SPARK_DAEMON_MEMORY": "512m",
        "SPARK_DAEMON_JAVA_OPTS": f"-Dlog4j2.configurationFile=file:{log4j} -XX:+UseSerialGC",
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    }


def _wait_until_it_listens(process: subprocess.Popen[bytes], host: str, port: int) -> None:
    deadline = time.monotonic() + START_TIMEOUT_S
    while not _accepts(host, port):
        if process.poll() is not None:
            raise EngineError(f"Spark ended with {process.returncode} before it listened on {host}:{port}")
        if time.monotonic() > deadline:
            raise EngineError(f"Spark does not listen on {host}:{port} after {START_TIMEOUT_S:g} s")
        time.sleep(0.1)


def _accepts(host: str, port: int) -> bool:
    try:
        socket.create_connection((host, port), 1.0).close()
    except OSError:
        return False
    return True


def stop(process: subprocess.Popen[bytes]) -> None:
    end(process, STOP_TIMEOUT_S)
