"""Kafka's own kafka-dump-log reads what only the log can make by itself: transactions, compaction, all codecs."""

import re
from pathlib import Path

import pytest

from penstock.log.cleaner import apply_cleaning, plan_cleaning
from penstock.log.fs import RealFileSystem
from penstock.log.producer_state import AppendOrigin
from penstock.records.builder import build_end_transaction_marker
from penstock.records.compression import Codec
from tests.log.support import NOW, append, open_log, topic
from tests.support.java_tools import run_java_tool

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("dump-log")]

FS = RealFileSystem()
COMPLAINTS = re.compile(
    r"Found \w+|[Mm]ismatch|not found in|out of order|[Cc]orrupt|Exception|isvalid: false|Error|Could not"
)
KINDS = (".log", ".index", ".timeindex", ".txnindex", ".snapshot")


def write_transactions(directory: Path) -> None:
    log = open_log(FS, str(directory))
    for number in range(4):
        append(
            log, b"a", b"b", producer_id=5, producer_epoch=0, base_sequence=2 * number, is_transactional=True
        )
        marker = build_end_transaction_marker(
            is_commit=number % 2 == 0, producer_id=5, producer_epoch=0, coordinator_epoch=1, timestamp=NOW
        )
        log.append_as_leader([marker], leader_epoch=0, now_ms=NOW, origin=AppendOrigin.COORDINATOR)
    log.close()


def write_compacted(directory: Path) -> None:
    settings = topic(
        cleanup_policy=("compact",),
        internal_segment_bytes=5_000,
        index_interval_bytes=300,
        min_cleanable_dirty_ratio=0.0,
    )
    log = open_log(FS, str(directory), settings=settings)
    for number in range(300):
        tombstone = None if number % 17 == 0 else b"w"
        producer = {"producer_id": 9, "producer_epoch": 0, "base_sequence": number // 25}
        append(
            log,
            b"v%d" % number * 5,
            tombstone,
            keys=[b"k%d" % (number % 10), b"t%d" % (number % 7)],
            timestamp=NOW + number * (7 if number % 3 else 1),
            codec=list(Codec)[number % 5],
            **(producer if number % 50 == 0 else {}),
        )
    end = log.log_end_offset
    job = plan_cleaning(log, first_dirty_offset=0, high_watermark=end, now_ms=NOW + 5_000)
    assert job is not None
    job.run()
    for path in apply_cleaning(log, job) or []:
        FS.remove(path)
    log.close()


def test_kafka_dump_log_reads_transactions_and_compacted_segments(tmp_path: Path) -> None:
    write_transactions(tmp_path / "transactions-0")
    write_compacted(tmp_path / "compacted-0")
    files = sorted(str(path) for path in tmp_path.rglob("*") if path.suffix in KINDS)
    done = run_java_tool("kafka-dump-log", "--deep-iteration", "--files", ",".join(files), timeout=120)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    assert not COMPLAINTS.findall(said), said[-3000:]
    assert "version: 0 producerId: 5 firstOffset: 3 lastOffset: 5 lastStableOffset: 6" in said
    assert "producerId: 9 producerEpoch: 0" in said
    assert set(re.findall(r"compresscodec: (\w+)", said)) == {"none", "gzip", "snappy", "lz4", "zstd"}
