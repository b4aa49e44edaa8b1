"""The checkpoint files of a log directory, in Kafka's text format: version, count, one line per entry."""

from collections.abc import Mapping

from penstock.errors import StorageError
from penstock.log.fs import FileSystem
from penstock.types import TopicPartition

VERSION = 0

RECOVERY_POINT = "recovery-point-offset-checkpoint"
LOG_START_OFFSET = "log-start-offset-checkpoint"
HIGH_WATERMARK = "replication-offset-checkpoint"
CLEANER_OFFSET = "cleaner-offset-checkpoint"


class CheckpointError(StorageError):
    """A checkpoint file makes no sense."""


def encode_lines(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in [str(VERSION), str(len(lines)), *lines]).encode()


def decode_lines(data: bytes, path: str) -> list[str]:
    lines = data.decode(errors="replace").split("\n")
    if len(lines) < 2 or lines[0].strip() != str(VERSION) or not lines[1].strip().isdigit():
        raise CheckpointError(f"{path}: not a checkpoint file of version {VERSION}: {data[:40]!r}")
    count = int(lines[1])
    entries = [line for line in lines[2:] if line.strip()]
    if len(entries) != count or not data.endswith(b"\n"):
        raise CheckpointError(f"{path}: {len(entries)} entries where {count} are announced")
    return entries


def write_checkpoint(fs: FileSystem, path: str, offsets: Mapping[TopicPartition, int]) -> None:
    """Replace the file at once, synced: after a crash it is the old one or the new one."""
    lines = [f"{partition.topic} {partition.partition} {offset}" for partition, offset in offsets.items()]
    fs.write_file(path, encode_lines(lines), sync=True)


def read_checkpoint(fs: FileSystem, path: str) -> dict[TopicPartition, int]:
    """The offsets in the file; empty if there is none. A damaged file is a `CheckpointError`."""
    if not fs.exists(path):
        return {}
    return dict(_decode_entry(line, path) for line in decode_lines(fs.read_file(path), path))


def _decode_entry(line: str, path: str) -> tuple[TopicPartition, int]:
    try:
        topic, partition, offset = line.split()
        return TopicPartition(topic, int(partition)), int(offset)
    except ValueError:
        raise CheckpointError(f"{path}: malformed line {line!r}") from None
