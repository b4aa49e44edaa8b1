"""What an engine is told when it is made."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from penstock.errors import PenstockError

DEFAULT_MASTER = "local[32]"


class EngineError(PenstockError):
    """Spark can't be started, or can't run what it was asked to."""


@dataclass(frozen=True, slots=True)
class EngineSettings:
    data_dir: Path
    """Holds checkpoints, Spark's scratch files and its log."""
    name: str = "penstock"
    """The application's name in Spark."""
    master: str = DEFAULT_MASTER
    """`local[slots]`, `spark://host:port`, or any other master that Spark knows. Slots that wait are cheap."""
    checkpoint_dir: str | None = None
    """Any path that Hadoop can write; `<data_dir>/checkpoints` if None."""
    client_configs: Mapping[str, str] = field(default_factory=dict)
    """How Kafka is reached to commit positions: bootstrap.servers, and security.* if it needs it."""
    driver_memory_mb: int = 1024
    executor_memory_mb: int = 1024
    with_kafka_jars: bool = True
    """Whether Spark's own Kafka connector is fetched; without it all reads and writes go through librdkafka."""
    jar_repository: str | None = None
    """A Maven repository to fetch them from instead of the central one."""
    python: str | None = None
    """The Python of the executors: that of this process on a local master, `python3` on a cluster, if None."""
    python_path: tuple[str, ...] = ()
    """Folders that the executors import from besides their installed packages."""
    spark_configs: Mapping[str, str] = field(default_factory=dict)
    """Go on top of ours."""
    restart_backoff_ms: int = 1_000
    restart_backoff_max_ms: int = 60_000
    idle_wait_ms: int = 5_000
    """How long a query with nothing to do waits before it asks for a plan again, unless it is woken."""

    @property
    def is_local(self) -> bool:
        return self.master.startswith("local")

    @property
    def checkpoints(self) -> str:
        return self.checkpoint_dir or f"file://{self.data_dir.absolute()}/checkpoints"

    @property
    def spark_dir(self) -> Path:
        return self.data_dir.absolute() / "spark"
