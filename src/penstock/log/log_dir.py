"""One log directory: who owns it, which partitions it holds, its checkpoints, and whether it was left in order.

.lock                  held while a broker uses the directory
meta.properties        which broker of which cluster it belongs to
.kafka_cleanshutdown   written by a clean stop, removed at start: without it, logs are recovered
.whole-since           since which life of the broker nothing that was written is lost, and the boot of the machine
                       during which that was so
<topic>-<partition>/   a partition; with `.<unique>-delete` at the end of its name, one that is being deleted, and
                       with `.<unique>-future` a copy that is to replace the partition in another directory
*-checkpoint           offsets per partition
"""

import json
import logging
from collections.abc import Mapping
from typing import NamedTuple

from penstock.errors import StorageError
from penstock.log import checkpoint, names
from penstock.log.checkpoint import CheckpointError, read_checkpoint, write_checkpoint
from penstock.log.fs import File, FileSystem
from penstock.types import FIRST_LIFE, TopicPartition

logger = logging.getLogger(__name__)

LOCK = ".lock"
META_PROPERTIES = "meta.properties"
CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
WHOLE_SINCE = ".whole-since"
META_VERSION = 0
MAX_NAME_BYTES = 255


class Future(NamedTuple):
    """A copy of a partition that is to replace it. `unique` tells it from other copies."""

    partition: TopicPartition
    unique: str


class MetaProperties(NamedTuple):
    broker_id: int
    cluster_id: str


class LogDirectory:
    def __init__(self, fs: FileSystem, path: str) -> None:
        self._fs = fs
        self.path = path
        self._lock: File | None = None
        self.was_clean = False
        self.whole_since: int | None = None
        """The first life of the broker, by its epoch, of which all is there; None if not even the last one's is."""
        self._marked_since: int | None = None

    @classmethod
    def open(cls, fs: FileSystem, path: str) -> "LogDirectory":
        """Create it if need be, lock it, and see how it was left."""
        directory = cls(fs, path)
        fs.make_directory(path)
        directory._lock = fs.lock(f"{path}/{LOCK}")
        directory.was_clean = fs.exists(f"{path}/{CLEAN_SHUTDOWN}")
        directory.whole_since = directory._read_whole_since()
        return directory

    def close(self) -> None:
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    # Clean or not

    def mark_in_use(self) -> None:
        """From the first write on, a stop is unclean until `mark_clean`."""
        self._fs.remove(f"{self.path}/{CLEAN_SHUTDOWN}")
        self._fs.sync_directory(self.path)

    def mark_clean(self) -> None:
        """All logs are closed and checkpointed."""
        self._fs.write_file(f"{self.path}/{CLEAN_SHUTDOWN}", b'{"version":0}', sync=True)

    # Whole or not

    def _read_whole_since(self) -> int | None:
        """What was written is there after a clean stop, and as long as the machine was not started anew."""
        path = f"{self.path}/{WHOLE_SINCE}"
        if not self._fs.exists(path):
            return FIRST_LIFE if self.was_clean else None
        try:
            mark = json.loads(self._fs.read_file(path))
            since, boot_id = int(mark["since"]), str(mark["boot_id"])
        except (ValueError, KeyError, TypeError) as error:
            logger.warning("%s: malformed: %s; what was written last may be lost", path, error)
            return None
        return since if self.was_clean or boot_id == self._fs.boot_id() else None

    def mark_whole_since(self, epoch: int) -> None:
        if self._marked_since == epoch:
            return
        mark = {"version": 0, "since": epoch, "boot_id": self._fs.boot_id()}
        self._fs.write_file(f"{self.path}/{WHOLE_SINCE}", json.dumps(mark).encode(), sync=True)
        self._marked_since = epoch

    # Identity

    def read_meta(self) -> MetaProperties | None:
        path = f"{self.path}/{META_PROPERTIES}"
        if not self._fs.exists(path):
            return None
        fields = _read_properties(self._fs.read_file(path))
        try:
            version = int(fields["version"])
            if version != META_VERSION:
                raise StorageError(f"{path}: version is {version}; only {META_VERSION} is known")
            return MetaProperties(int(fields["broker.id"]), fields["cluster.id"])
        except (KeyError, ValueError) as error:
            raise StorageError(f"{path}: malformed or missing: {error}") from None

    def write_meta(self, meta: MetaProperties) -> None:
        text = f"#\nbroker.id={meta.broker_id}\ncluster.id={meta.cluster_id}\nversion={META_VERSION}\n"
        self._fs.write_file(f"{self.path}/{META_PROPERTIES}", text.encode(), sync=True)

    # Partitions

    def partition_path(self, partition: TopicPartition) -> str:
        return f"{self.path}/{partition}"

    def partitions(self) -> dict[TopicPartition, str]:
        """The partitions here, with their directories."""
        found: dict[TopicPartition, str] = {}
        for name in self._fs.list_directory(self.path):
            partition = parse_partition(name)
            if partition is not None and self._fs.is_directory(f"{self.path}/{name}"):
                found[partition] = f"{self.path}/{name}"
        return found

    def deleted_partitions(self) -> list[str]:
        """Directories of partitions whose deletion was not finished."""
        listing = self._fs.list_directory(self.path)
        return [f"{self.path}/{name}" for name in listing if names.DELETED_DIRECTORY.match(name)]

    def retire_partition(self, partition: TopicPartition, unique: str) -> str:
        """Rename a partition's directory for deletion; `unique` tells it from earlier ones. Returns the new path."""
        return self._rename(self.partition_path(partition), self._retired_path(partition, unique))

    def _retired_path(self, partition: TopicPartition, unique: str) -> str:
        suffix = f"-{partition.partition}.{unique}-delete"
        return f"{self.path}/{partition.topic[: MAX_NAME_BYTES - len(suffix)]}{suffix}"

    def _rename(self, source: str, target: str) -> str:
        self._fs.rename(source, target)
        self._fs.sync_directory(self.path)
        return target

    # Partitions on their way from one directory to another

    def futures(self) -> list[Future]:
        listing = self._fs.list_directory(self.path)
        return [future for name in listing if (future := _parse_future(name)) is not None]

    def future_path(self, future: Future) -> str:
        return f"{self.path}/{_future_name(*future)}"

    def promote(self, future: Future) -> str:
        """The copy is the partition from now on; its path."""
        return self._rename(self.future_path(future), self.partition_path(future.partition))

    def restore(self, retired: str, partition: TopicPartition) -> None:
        """What was retired is the partition again."""
        self._rename(retired, self.partition_path(partition))

    def retire_future(self, future: Future, unique: str) -> str:
        return self._rename(self.future_path(future), self._retired_path(future.partition, unique))

    def has_been_replaced_by(self, future: Future) -> bool:
        """Whether the partition was here, and was retired for this copy."""
        return self._fs.is_directory(self._retired_path(*future))

    # Checkpoints

    def read_recovery_points(self) -> dict[TopicPartition, int]:
        return self._read(checkpoint.RECOVERY_POINT)

    def write_recovery_points(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._write(checkpoint.RECOVERY_POINT, offsets)

    def read_log_start_offsets(self) -> dict[TopicPartition, int]:
        return self._read(checkpoint.LOG_START_OFFSET)

    def write_log_start_offsets(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._write(checkpoint.LOG_START_OFFSET, offsets)

    def read_high_watermarks(self) -> dict[TopicPartition, int]:
        return self._read(checkpoint.HIGH_WATERMARK)

    def write_high_watermarks(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._write(checkpoint.HIGH_WATERMARK, offsets)

    def read_cleaner_offsets(self) -> dict[TopicPartition, int]:
        return self._read(checkpoint.CLEANER_OFFSET)

    def write_cleaner_offsets(self, offsets: Mapping[TopicPartition, int]) -> None:
        self._write(checkpoint.CLEANER_OFFSET, offsets)

    def _read(self, name: str) -> dict[TopicPartition, int]:
        """A damaged file counts as none: recovery then reads more than it would have to."""
        try:
            return read_checkpoint(self._fs, f"{self.path}/{name}")
        except CheckpointError as error:
            logger.warning("%s; starting without it", error)
            return {}

    def _write(self, name: str, offsets: Mapping[TopicPartition, int]) -> None:
        write_checkpoint(self._fs, f"{self.path}/{name}", offsets)


def parse_partition(name: str) -> TopicPartition | None:
    """`topic-7` is partition 7 of `topic`; names of other things are None."""
    topic, dash, partition = name.rpartition("-")
    if not topic or not dash or not partition.isascii() or not partition.isdigit():
        return None
    return TopicPartition(topic, int(partition))


def _future_name(partition: TopicPartition, unique: str) -> str:
    return f"{partition}.{unique}-future"


def can_be_copied(partition: TopicPartition) -> bool:
    """Whether the name of a copy's directory is not too long."""
    return len(_future_name(partition, 32 * "0")) <= MAX_NAME_BYTES


def _parse_future(name: str) -> Future | None:
    if not names.FUTURE_DIRECTORY.match(name):
        return None
    of_partition, _, end = name.rpartition(".")
    partition = parse_partition(of_partition)
    return None if partition is None else Future(partition, end.removesuffix("-future"))


def _read_properties(data: bytes) -> dict[str, str]:
    lines = (line.strip() for line in data.decode(errors="replace").splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}
