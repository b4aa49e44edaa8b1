"""Starts a driver: a Java process of ours that ends when we do, tuned for many small streaming queries.

The process reads its standard input, a pipe whose other end only we hold: when we die in whatever way, it reads the
end of the file and exits. Its log goes to a file; nothing of it reaches our terminal.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from subprocess import Popen, TimeoutExpired
from threading import Lock
from typing import IO, TYPE_CHECKING

from penstock.log_rotation import rotate
from penstock.pipeline.spark.jars import connector_jars
from penstock.pipeline.spark.java import find_java_home
from penstock.pipeline.spark.reasons import reason_of
from penstock.pipeline.spark.settings import EngineError, EngineSettings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

logger = logging.getLogger(__name__)

CHECKPOINTING = "org.apache.spark.sql.execution.streaming.checkpointing"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
CLUSTER_PYTHON = "python3"
LOG_FILE = "spark.log"
OUTPUT_FILE = "driver.out"
END_TIMEOUT_S = 20
_LOOPBACK = "127.0.0.1"
_ALWAYS = {
    "spark.scheduler.mode": "FAIR",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.python.worker.reuse": "true",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "8",
    "spark.sql.streaming.minBatchesToRetain": "10",
    "spark.sql.streaming.stopTimeout": "20s",
    "spark.sql.streaming.stateStore.providerClass": ROCKSDB,
    "spark.hadoop.fs.file.impl.disable.cache": "true",  # it would give what ticks use to others, see OF_TICKS
}
_ON_LOOPBACK = {
    "spark.driver.host": _LOOPBACK,
    "spark.driver.bindAddress": _LOOPBACK,
}
OF_TICKS = {
    # Spark's own choices start a process for each file that they write: 40 ms, twice a batch.
    "spark.sql.streaming.checkpointFileManagerClass": f"{CHECKPOINTING}.FileSystemBasedCheckpointFileManager",
    "fs.file.impl": "org.apache.hadoop.fs.RawLocalFileSystem",
}
"""For sessions of queries whose checkpoint only counts. State in RocksDB can't be written with them: it takes whatever
is behind `file:` for Hadoop's LocalFileSystem."""
_LOG4J = """rootLogger.level = warn
rootLogger.appenderRef.file.ref = file
appender.file.type = RollingFile
appender.file.name = file
appender.file.fileName = {file}
appender.file.filePattern = {file}.%i
appender.file.layout.type = PatternLayout
appender.file.layout.pattern = %d{{ISO8601}} %p %c{{1}}: %m%n%ex
appender.file.policies.type = Policies
appender.file.policies.size.type = SizeBasedTriggeringPolicy
appender.file.policies.size.size = 10MB
appender.file.strategy.type = DefaultRolloverStrategy
appender.file.strategy.max = 3
logger.native.name = org.apache.hadoop.util.NativeCodeLoader
logger.native.level = error
"""


class Driver:
    """A running driver: its session, and the process behind it."""

    def __init__(self, session: SparkSession, process: Popen[bytes], jars: list[Path]) -> None:
        self.session = session
        self.process = process
        self.jars = jars
        """Of Spark's Kafka connector; empty if Kafka is reached through librdkafka only."""
        self._lock = Lock()
        self._is_stopped = False

    def stop(self) -> None:
        """Can be called twice, and when the process is gone."""
        with self._lock:
            if not self._is_stopped:
                self._is_stopped = True
                self._stop()

    def be_active_in_this_thread(self) -> None:
        """Spark looks up data sources in the session that is active, which is not inherited from thread to thread."""
        jvm = self.session._jvm
        assert jvm is not None
        jvm.org.apache.spark.sql.classic.SparkSession.setActiveSession(self.session._jsparkSession)

    def _stop(self) -> None:
        from pyspark import SparkContext

        gateway = SparkContext._gateway
        try:
            if self.process.poll() is None:
                self.session.stop()
            if gateway is not None:
                gateway.shutdown()
        except Exception as error:
            logger.info("while the driver was stopped: %s", reason_of(error))
        finally:
            _forget_session()
            self._end_process()

    def _end_process(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(END_TIMEOUT_S)
        except TimeoutExpired:
            self.process.kill()
            self.process.wait()


def start_driver(settings: EngineSettings) -> Driver:
    _require_pyspark()
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    if SparkContext._active_spark_context is not None:
        raise EngineError("this process has a Spark driver already; one is enough for all queries")
    logging.getLogger("py4j").setLevel(logging.WARNING)  # it tells of each call
    settings.spark_dir.mkdir(parents=True, exist_ok=True)
    java_home = find_java_home()
    jars = _jars_or_none(java_home, settings)
    conf = SparkConf(loadDefaults=False).setAll(list(configs(settings, jars).items()))
    with _environment(java_home, settings), _driver_output(settings.spark_dir) as output:
        gateway = launch_gateway(conf, {"stdout": output, "stderr": output})  # type: ignore[no-untyped-call]
        process: Popen[bytes] = gateway.proc
        try:
            session = SparkSession(SparkContext(gateway=gateway, conf=conf))
        except BaseException:
            process.kill()
            process.wait()
            _forget_session()
            raise
    return Driver(session, process, jars)


def _require_pyspark() -> None:
    from importlib.util import find_spec

    if find_spec("pyspark") is None:
        raise EngineError("pipelines run on Spark, which is not installed; install penstock[spark]")


def _jars_or_none(java_home: Path, settings: EngineSettings) -> list[Path]:
    if not settings.with_kafka_jars:
        return []
    try:
        return connector_jars(java_home, settings.jar_repository)
    except (EngineError, OSError) as error:
        logger.warning(
            "%s; Kafka is read and written through librdkafka instead, without real-time mode", error
        )
        return []


def configs(settings: EngineSettings, jars: list[Path]) -> dict[str, str]:
    """All of Spark's settings, those of the user last."""
    spark_dir = settings.spark_dir
    found = {
        "spark.app.name": settings.name,
        "spark.master": settings.master,
        "spark.driver.memory": f"{settings.driver_memory_mb}m",
        "spark.executor.memory": f"{settings.executor_memory_mb}m",
        "spark.driver.extraJavaOptions": f"-Dlog4j2.configurationFile=file:{_log4j_file(spark_dir)} -XX:+UseSerialGC",
        "spark.local.dir": str(spark_dir / "scratch"),
        "spark.sql.warehouse.dir": f"file://{spark_dir}/warehouse",
        **_ALWAYS,
        **(_ON_LOOPBACK if _is_on_loopback(settings) else {}),
        **_class_path(jars),
    }
    if settings.python_path:
        found["spark.executorEnv.PYTHONPATH"] = os.pathsep.join(settings.python_path)
    return {**found, **settings.spark_configs}


def _is_on_loopback(settings: EngineSettings) -> bool:
    """Whether nobody on another machine has to reach the driver."""
    return settings.is_local or settings.master.startswith(("spark://127.", "spark://localhost:"))


def _class_path(jars: list[Path]) -> Mapping[str, str]:
    """Real-time mode looks for the connector with the system's class loader, which `spark.jars` does not reach."""
    if not jars:
        return {}
    return {
        "spark.jars": ",".join(path.as_uri() for path in jars),
        "spark.driver.extraClassPath": os.pathsep.join(map(str, jars)),
    }


def _driver_output(spark_dir: Path) -> IO[bytes]:
    """What a driver before said is kept, above all what tasks on one machine log of records that they reject."""
    return (spark_dir / OUTPUT_FILE).open("ab")


def keep_output_small(spark_dir: Path) -> None:
    """A driver runs for months, and a task may log each record."""
    rotate(spark_dir / OUTPUT_FILE)


def _log4j_file(spark_dir: Path) -> Path:
    path = spark_dir / "log4j2.properties"
    path.write_text(_LOG4J.format(file=spark_dir / LOG_FILE))
    return path


@contextmanager
def _environment(java_home: Path, settings: EngineSettings) -> Iterator[None]:
    """What pyspark and its launcher read from the environment, only while they do."""
    python = settings.python or (sys.executable if settings.is_local else CLUSTER_PYTHON)
    wanted = {"JAVA_HOME": str(java_home), "PYSPARK_PYTHON": python}
    if _is_on_loopback(settings):
        wanted["SPARK_LOCAL_IP"] = _LOOPBACK
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


def _forget_session() -> None:
    """pyspark keeps the session, the context and the way to the process in class variables."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    SparkSession._instantiatedSession = None
    SparkContext._active_spark_context = None
    SparkContext._gateway = None
    SparkContext._jvm = None
