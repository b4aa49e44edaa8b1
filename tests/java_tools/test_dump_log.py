"""kafka-dump-log reads every file of a log directory, and finds nothing to complain about.

The server is stopped first: a running one keeps its last index preallocated, which the tool takes for entries.
A clean stop trims it, and leaves a snapshot of the producers behind.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.foreign_clients.drivers.confluent import ConfluentClient
from tests.foreign_clients.drivers.model import CODECS
from tests.foreign_clients.samples import KEEP_FOR_EVER, numbered_records, varied_records
from tests.support.cluster_fixture import running_kafka
from tests.support.java_tools import run_java_tool
from tools.suite.processes import starts_processes

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("dump-log")]

COMPLAINTS = re.compile(
    r"Found \w+|[Mm]ismatch|not found in|out of order|[Cc]orrupt|Exception|isvalid: false|Error|Could not"
)
ROUNDS, RECORDS_PER_ROUND = 25, 80  # each round is one batch, eight fill a segment


def _fill(client: ConfluentClient) -> None:
    client.create_topic("codecs", configs=KEEP_FOR_EVER)
    for codec in CODECS:
        client.produce("codecs", varied_records(salt=codec), codec=codec, idempotent=True)
    client.create_topic("rolled", configs={"segment.bytes": "1048576", **KEEP_FOR_EVER})
    records = numbered_records(ROUNDS * RECORDS_PER_ROUND, size=1_500)
    for number in range(ROUNDS):
        batch = records[number * RECORDS_PER_ROUND : (number + 1) * RECORDS_PER_ROUND]
        client.produce("rolled", batch, idempotent=number % 5 == 0)


@pytest.fixture(scope="module")
@starts_processes
def log_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with running_kafka(tmp_path_factory.mktemp("dumped")) as server:
        client = ConfluentClient(server.bootstrap)
        _fill(client)
        client.close()
    return server.log_dir


def dump(*arguments: str, files: list[Path]) -> str:
    assert files
    names = ",".join(str(file) for file in sorted(files))
    done = run_java_tool("kafka-dump-log", *arguments, "--files", names, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not COMPLAINTS.findall(done.stdout + done.stderr), done.stdout[-3000:] + done.stderr
    return done.stdout


def test_segments_of_every_codec(log_dir: Path) -> None:
    said = dump("--deep-iteration", "--print-data-log", files=list((log_dir / "codecs-0").glob("*.log")))
    batches = re.findall(
        r"^baseOffset: (\d+) .* magic: 2 compresscodec: (\w+) crc: \d+ isvalid: true", said, re.MULTILINE
    )
    assert {codec for _, codec in batches} == set(CODECS)
    offsets = [int(each) for each in re.findall(r"^\| offset: (\d+) ", said, re.MULTILINE)]
    assert offsets == list(range(len(CODECS) * len(varied_records())))


def test_rolled_segments(log_dir: Path) -> None:
    segments = list((log_dir / "rolled-0").glob("*.log"))
    assert len(segments) >= 3
    said = dump("--deep-iteration", files=segments)
    assert len(re.findall(r"^\| offset: ", said, re.MULTILINE)) == ROUNDS * RECORDS_PER_ROUND


@pytest.mark.parametrize("suffix", ["index", "timeindex"])
@pytest.mark.parametrize("topic", ["codecs", "rolled"])
def test_indexes(log_dir: Path, topic: str, suffix: str) -> None:
    indexes = list((log_dir / f"{topic}-0").glob(f"*.{suffix}"))
    said = dump("--deep-iteration", files=indexes)
    if topic == "rolled":
        assert len(re.findall(r"^(?:timestamp: \d+ )?offset: \d+", said, re.MULTILINE)) >= 3


def test_index_sanity(log_dir: Path) -> None:
    indexes = [*(log_dir / "rolled-0").glob("*.index"), *(log_dir / "rolled-0").glob("*.timeindex")]
    said = dump("--index-sanity-check", files=indexes)
    assert said.count("passed sanity check.") + said.count("is empty.") == len(indexes)
    assert said.count("passed sanity check.") >= 3


def test_producer_snapshots(log_dir: Path) -> None:
    snapshots = [
        file for topic in ("codecs", "rolled") for file in (log_dir / f"{topic}-0").glob("*.snapshot")
    ]
    said = dump(files=snapshots)
    producers = re.findall(
        r"^producerId: \d+ producerEpoch: 0 coordinatorEpoch: -1 currentTxnFirstOffset: \S+ "
        r"lastTimestamp: \d+ firstSequence: \d+ lastSequence: (\d+) lastOffset: \d+ offsetDelta: \d+ timestamp: \d+",
        said,
        re.MULTILINE,
    )
    assert str(RECORDS_PER_ROUND - 1) in producers
    newest = max((log_dir / "codecs-0").glob("*.snapshot"))
    assert newest.stem == f"{len(CODECS) * len(varied_records()):020}"


def test_checkpoints(log_dir: Path) -> None:
    """Kafka's own start reads these: two header lines, then one line for each partition."""
    for name in ("recovery-point-offset-checkpoint", "replication-offset-checkpoint"):
        version, count, *entries = (log_dir / name).read_text().splitlines()
        assert version == "0"
        assert int(count) == len(entries)
        found = {(topic, partition): offset for topic, partition, offset in map(str.split, entries)}
        assert found["codecs", "0"] == str(len(CODECS) * len(varied_records()))
        assert found["rolled", "0"] == str(ROUNDS * RECORDS_PER_ROUND)
    epochs = (log_dir / "codecs-0" / "leader-epoch-checkpoint").read_text().splitlines()
    assert epochs == ["0", "1", "0 0"]
    metadata = (log_dir / "codecs-0" / "partition.metadata").read_text()
    assert re.fullmatch(r"version: 0\ntopic_id: [\w-]{22}\n?", metadata)
    assert (log_dir / ".kafka_cleanshutdown").is_file()
