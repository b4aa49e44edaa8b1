"""The small files: indexes, checkpoints, snapshots, metadata; byte by byte where Kafka reads them."""

from pathlib import Path
from uuid import UUID

import pytest
from crc32c import crc32c
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import StorageError
from penstock.log.checkpoint import CheckpointError, read_checkpoint, write_checkpoint
from penstock.log.fs import RealFileSystem
from penstock.log.index import OffsetIndex, TimeIndex
from penstock.log.log_dir import LogDirectory, MetaProperties, parse_partition
from penstock.log.partition_metadata import decode_topic_id, encode_topic_id, read_partition_metadata
from penstock.log.producer_snapshot import decode_snapshot, encode_snapshot
from penstock.log.producer_state import BatchMetadata, ProducerEntry
from penstock.log.retention import SegmentFacts, decide_deletable
from penstock.log.transaction_index import AbortedTransaction, TransactionIndex
from penstock.types import TopicPartition
from tests.log.support import topic

FS = RealFileSystem()


# Indexes


def test_offset_index_bytes() -> None:
    index = OffsetIndex(100, bytearray())
    index.append(107, 4096)
    assert index.entries.hex() == "00000007" + "00001000"


def test_time_index_bytes() -> None:
    index = TimeIndex(100, bytearray())
    index.maybe_append(1_700_000_000_000, 107)
    index.maybe_append(1_700_000_000_000, 108)  # not newer: no entry
    assert index.entries.hex() == "0000018bcfe56800" + "00000007"


@given(
    steps=st.lists(st.tuples(st.integers(1, 50), st.integers(1, 5000)), max_size=40),
    probe=st.integers(0, 2100),
)
def test_offset_lookup_is_the_last_entry_not_above(steps: list[tuple[int, int]], probe: int) -> None:
    index = OffsetIndex(1000, bytearray())
    entries, offset, position = [(1000, 0)], 1000, 0
    for more_offset, more_position in steps:
        offset, position = offset + more_offset, position + more_position
        index.append(offset, position)
        entries.append((offset, position))
    target = 1000 + probe
    assert index.lookup(target) == max(p for o, p in entries if o <= target)
    index.truncate_to(target)
    assert len(index) == len([o for o, _ in entries[1:] if o < target])


@given(timestamps=st.lists(st.integers(0, 100), max_size=30), probe=st.integers(0, 110))
def test_time_lookup_skips_only_what_is_older(timestamps: list[int], probe: int) -> None:
    index = TimeIndex(0, bytearray())
    newest = -1
    for offset, timestamp in enumerate(timestamps):
        newest = max(newest, timestamp)
        index.maybe_append(timestamp, offset)
    start = index.lookup(probe)
    assert all(timestamp < probe for timestamp in timestamps[:start])
    assert index.last_entry()[0] == newest


# Checkpoints

OFFSETS = {TopicPartition("a-topic", 0): 5, TopicPartition("a-topic", 11): 2**40, TopicPartition("b", 3): 0}


def test_checkpoints_are_kafkas_text(tmp_path: Path) -> None:
    path = str(tmp_path / "checkpoint")
    write_checkpoint(FS, path, OFFSETS)
    assert Path(path).read_text() == "0\n3\na-topic 0 5\na-topic 11 1099511627776\nb 3 0\n"
    assert read_checkpoint(FS, path) == OFFSETS
    assert read_checkpoint(FS, str(tmp_path / "none")) == {}


@pytest.mark.parametrize(
    "text", ["", "1\n0\n", "0\n", "0\nx\n", "0\n2\na 0 1\n", "0\n1\na 0\n", "0\n1\na x 1\n", "0\n1\na 0 1"]
)
def test_damaged_checkpoints_are_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "checkpoint"
    path.write_text(text)
    with pytest.raises(CheckpointError, match=str(path)):
        read_checkpoint(FS, str(path))


# Producer snapshots


def entries() -> list[ProducerEntry]:
    first = ProducerEntry(1000, 3, 7, 1_700_000_000_000, 42)
    first.batches.append(BatchMetadata(9, 55, 4, 1_700_000_000_000))
    return [first, ProducerEntry(1001, 0, -1, 5)]


def test_snapshot_bytes() -> None:
    body = (
        "00000002"
        "00000000000003e8" "0003" "00000009" "0000000000000037" "00000004" "0000018bcfe56800" "00000007"
        "000000000000002a"
        "00000000000003e9" "0000" "ffffffff" "ffffffffffffffff" "00000000" "0000000000000005" "ffffffff"
        "ffffffffffffffff"
    )  # fmt: skip
    crc = crc32c(bytes.fromhex(body)).to_bytes(4, "big").hex()
    assert encode_snapshot(entries()).hex() == "0001" + crc + body


def test_snapshots_come_back() -> None:
    decoded = decode_snapshot(encode_snapshot(entries()))
    assert decoded is not None
    assert [(e.producer_id, e.producer_epoch, e.last_sequence, e.last_data_offset) for e in decoded] == [
        (1000, 3, 9, 55),
        (1001, 0, -1, -1),
    ]
    assert decoded[0].current_transaction_first_offset == 42


@given(damage=st.integers(0, 2**16), cut=st.integers(0, 200))
def test_damaged_snapshots_are_noticed(damage: int, cut: int) -> None:
    data = bytearray(encode_snapshot(entries()))
    data[damage % len(data)] ^= 1 + damage % 255
    assert decode_snapshot(bytes(data)) is None
    assert decode_snapshot(encode_snapshot(entries())[:-1][:cut]) is None


# The transaction index


def test_transaction_index_bytes(tmp_path: Path) -> None:
    path = tmp_path / "0.txnindex"
    index = TransactionIndex(FS, str(path))
    assert index.collect(0, 100) == ([], False)
    assert not path.exists()
    index.append(AbortedTransaction(1, 2, 3, 4))
    assert path.read_bytes().hex() == "0000" + "".join(f"{n:016x}" for n in (1, 2, 3, 4))
    index.append(AbortedTransaction(5, 6, 9, 10))
    again = TransactionIndex(FS, str(path))
    assert again.entries == index.entries
    again.truncate_to(9)
    assert TransactionIndex(FS, str(path)).entries == [AbortedTransaction(1, 2, 3, 4)]
    again.truncate_to(0)
    assert not path.exists()


# Retention

SEGMENTS = [SegmentFacts(n * 10, n * 10 + 10, 100, 1_000 + n) for n in range(5)]


@pytest.mark.parametrize(
    ("overrides", "high_watermark", "log_start", "now", "count"),
    [
        ({"retention_ms": -1}, 50, 0, 9_999, 0),
        ({"retention_ms": 100}, 50, 0, 1_100, 0),
        ({"retention_ms": 100}, 50, 0, 1_102, 2),
        ({"retention_ms": 100}, 10, 0, 9_999, 1),
        ({"retention_ms": 100}, 50, 0, 9_999, 5),
        ({"retention_ms": -1, "retention_bytes": 500}, 50, 0, 0, 0),
        ({"retention_ms": -1, "retention_bytes": 250}, 50, 0, 0, 2),
        ({"retention_ms": -1, "retention_bytes": 0}, 50, 0, 0, 5),
        ({"retention_ms": -1}, 50, 25, 0, 2),
        ({"retention_ms": 0, "cleanup_policy": ("compact",)}, 50, 10, 9_999, 1),
        ({"retention_ms": 0, "cleanup_policy": ("compact", "delete")}, 50, 0, 9_999, 5),
        ({"retention_ms": 0, "cleanup_policy": ()}, 50, 0, 9_999, 0),
    ],
)
def test_what_retention_deletes(
    overrides: dict[str, object], high_watermark: int, log_start: int, now: int, count: int
) -> None:
    decided = decide_deletable(
        SEGMENTS, topic(**overrides), log_start_offset=log_start, high_watermark=high_watermark, now_ms=now
    )
    assert decided == count


# Names and identities


def test_topic_ids_in_kafkas_text() -> None:
    topic_id = UUID(bytes=bytes(range(16)))
    assert encode_topic_id(topic_id) == "AAECAwQFBgcICQoLDA0ODw"
    assert decode_topic_id("AAECAwQFBgcICQoLDA0ODw") == topic_id


@pytest.mark.parametrize(
    ("text", "is_error"),
    [
        ("", False),
        ("\0" * 30, False),
        ("vers", False),
        ("version: 0\ntopic_id: EjRWeBI0", False),
        ("version: 1\ntopic_id: x", True),
        ("junk", True),
    ],
)
def test_bad_partition_metadata(tmp_path: Path, text: str, is_error: bool) -> None:
    (tmp_path / "partition.metadata").write_text(text)
    if is_error:
        with pytest.raises(StorageError):
            read_partition_metadata(FS, str(tmp_path))
    else:
        assert read_partition_metadata(FS, str(tmp_path)) is None


@pytest.mark.parametrize(
    ("name", "partition"),
    [
        ("topic-0", TopicPartition("topic", 0)),
        ("a-b.c_d-12", TopicPartition("a-b.c_d", 12)),
        ("topic", None),
        ("-1", None),
        ("topic-0.abc-delete", None),
        ("topic-0.abc-future", None),
        ("cleaner-offset-checkpoint", None),
    ],
)
def test_directory_names(name: str, partition: TopicPartition | None) -> None:
    assert parse_partition(name) == partition


def test_a_log_directory(tmp_path: Path) -> None:
    directory = LogDirectory.open(FS, str(tmp_path / "logs"))
    assert not directory.was_clean
    assert directory.read_meta() is None
    with pytest.raises(StorageError, match="another broker"):
        LogDirectory.open(FS, directory.path)
    directory.write_meta(MetaProperties(7, "cluster"))
    directory.write_recovery_points(OFFSETS)
    directory.write_log_start_offsets({})
    directory.write_high_watermarks(OFFSETS)
    directory.write_cleaner_offsets(OFFSETS)
    partition = TopicPartition("t" * 249, 3)
    (Path(directory.path) / str(partition)).mkdir()
    directory.mark_clean()
    directory.close()

    again = LogDirectory.open(FS, directory.path)
    assert again.was_clean
    again.mark_in_use()
    assert again.read_meta() == MetaProperties(7, "cluster")
    assert again.read_recovery_points() == OFFSETS
    assert again.read_log_start_offsets() == {}
    assert again.read_high_watermarks() == OFFSETS
    assert again.read_cleaner_offsets() == OFFSETS
    assert list(again.partitions()) == [partition]
    retired = again.retire_partition(partition, "0123456789abcdef0123456789abcdef")
    assert again.partitions() == {}
    assert again.deleted_partitions() == [retired]
    assert len(Path(retired).name) == 255
    again.close()

    (tmp_path / "logs" / "recovery-point-offset-checkpoint").write_text("junk")
    third = LogDirectory.open(FS, directory.path)
    assert not third.was_clean
    assert third.read_recovery_points() == {}
    third.close()


@pytest.mark.parametrize(
    "text", ["", "version=1\nbroker.id=1\ncluster.id=x", "version=0\nbroker.id=x\ncluster.id=y", "version=0"]
)
def test_bad_meta_properties(tmp_path: Path, text: str) -> None:
    directory = LogDirectory.open(FS, str(tmp_path))
    (tmp_path / "meta.properties").write_text(text)
    with pytest.raises(StorageError, match=r"meta\.properties"):
        directory.read_meta()
    directory.close()
