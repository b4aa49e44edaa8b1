"""`.txnindex`: aborted transactions; `.snapshot`: the state of producers."""

from pathlib import Path
from struct import Struct

from crc32c import crc32c

from penstock.cli.tool import err
from penstock.cli.tools.dump_log.errors import DumpError
from penstock.cli.tools.dump_log.indexes import base_offset_of
from penstock.cli.tools.dump_log.log_file import read_whole
from penstock.cli.tools.dump_log.records import optional_long
from penstock.records.batch import decrement_sequence

_ABORTED = Struct(">bxqqqq")  # a version of two bytes, of which Kafka shows the first
ABORTED_VERSION = 0

_VERSION = Struct(">h")
_SNAPSHOT_HEAD = Struct(">Ii")
_PRODUCER = Struct(">qhiqiqiq")
SNAPSHOT_VERSION = 1
CRC_COVERS_FROM = 6


def dump_transaction_index(path: Path) -> None:
    base_offset_of(path)
    if not path.exists():
        return
    data = read_whole(path)
    entries = list(_ABORTED.iter_unpack(data[: len(data) - len(data) % _ABORTED.size]))
    for version, *_ in entries:
        if version > ABORTED_VERSION:
            raise DumpError(
                f"Unexpected aborted transaction version {version} in transaction index {path.absolute()}, "
                f"current version is {ABORTED_VERSION}"
            )
    for version, producer_id, first_offset, last_offset, last_stable_offset in entries:
        print(
            f"version: {version} producerId: {producer_id} firstOffset: {first_offset} "
            f"lastOffset: {last_offset} lastStableOffset: {last_stable_offset}"
        )


class _SnapshotDamaged(Exception):
    pass


def dump_producer_snapshot(path: Path) -> None:
    """A damaged snapshot is said so, and ends nothing: the next file follows."""
    try:
        producers = _read_snapshot(bytes(read_whole(path)))
    except _SnapshotDamaged as damage:
        err(str(damage))
        return
    for producer in producers:
        print(_producer_text(*producer))


def _read_snapshot(data: bytes) -> list[tuple[int, ...]]:
    head_end = _VERSION.size + _SNAPSHOT_HEAD.size
    version = _VERSION.unpack_from(data)[0] if len(data) >= _VERSION.size else None
    if version not in (None, SNAPSHOT_VERSION):
        raise _invalid(f"Snapshot contained an unknown file version {version}")
    if len(data) < head_end:
        raise _invalid("null")
    crc, count = _SNAPSHOT_HEAD.unpack_from(data, _VERSION.size)
    left = len(data) - head_end
    if count < 0:
        raise _invalid("non-nullable field producerEntries was serialized as null")
    if count > left:
        raise _invalid(
            f"Tried to allocate a collection of size {count}, but there are only {left} bytes remaining."
        )
    if count * _PRODUCER.size > left:
        raise _invalid("null")
    computed = crc32c(data[CRC_COVERS_FROM:])
    if crc != computed:
        raise _SnapshotDamaged(
            f"Snapshot is corrupt (CRC is no longer valid). Stored crc: {crc}. Computed crc: {computed}"
        )
    return list(_PRODUCER.iter_unpack(data[head_end : head_end + count * _PRODUCER.size]))


def _invalid(reason: str) -> _SnapshotDamaged:
    return _SnapshotDamaged(f"Snapshot failed schema validation: {reason}")


def _producer_text(
    producer_id: int,
    producer_epoch: int,
    last_sequence: int,
    last_offset: int,
    offset_delta: int,
    timestamp: int,
    coordinator_epoch: int,
    transaction_first_offset: int,
) -> str:
    text = (
        f"producerId: {producer_id} producerEpoch: {producer_epoch} coordinatorEpoch: {coordinator_epoch} "
        f"currentTxnFirstOffset: {optional_long(transaction_first_offset if transaction_first_offset >= 0 else None)} "
        f"lastTimestamp: {timestamp}"
    )
    if last_offset < 0:
        return text
    return (
        f"{text} firstSequence: {decrement_sequence(last_sequence, offset_delta)} lastSequence: {last_sequence} "
        f"lastOffset: {last_offset} offsetDelta: {offset_delta} timestamp: {timestamp}"
    )
