"""kafka-dump-log beside Kafka's own, on files that Penstock and Apache Kafka have written, whole and damaged."""

from __future__ import annotations

import re
import shutil
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.tools.both_tools import BothTools, run_our_tool
from tests.cli.tools.dumped_files import SERVERS, written_by
from tests.cli.tools.masks import mask
from tests.foreign_clients.samples import BASE_TIMESTAMP
from tests.support.cluster_fixture import KafkaServer
from tools.suite.processes import starts_processes

with warnings.catch_warnings():  # its own use of importlib.resources is out of date
    warnings.simplefilter("ignore", DeprecationWarning)
    from kafka.record.legacy_records import LegacyRecordBatchBuilder

pytestmark = pytest.mark.processes

TOOL = "kafka-dump-log"
FIRST = "00000000000000000000"
REASON = mask(r"(?<=, skipping\. ).*$", "<reason>")


@pytest.fixture(scope="module")
@starts_processes
def penstock(tmp_path_factory: pytest.TempPathFactory) -> KafkaServer:
    return written_by("penstock", tmp_path_factory.mktemp("penstock"))


@pytest.fixture(scope="module")
@starts_processes
def apache(tmp_path_factory: pytest.TempPathFactory) -> KafkaServer:
    return written_by("apache", tmp_path_factory.mktemp("apache"))


@pytest.fixture(params=list(SERVERS))
def server(request: pytest.FixtureRequest) -> KafkaServer:
    written: KafkaServer = request.getfixturevalue(request.param)
    return written


@pytest.fixture
def dumped(server: KafkaServer, request: pytest.FixtureRequest) -> BothTools:
    return BothTools(server, request.node.name)


@pytest.fixture
def both(penstock: KafkaServer, request: pytest.FixtureRequest) -> BothTools:
    return BothTools(penstock, request.node.name)


def files(server: KafkaServer, pattern: str) -> str:
    found = sorted(str(path) for path in server.log_dir.glob(pattern))
    assert found, pattern
    return ",".join(found)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--deep-iteration",),
        ("--print-data-log",),
        ("--print-data-log", "--skip-record-metadata"),
        ("--deep-iteration", "--skip-record-metadata"),
        ("--max-bytes", "70000", "--deep-iteration"),
        ("--max-bytes", "0"),
    ],
    ids=" ".join,
)
def test_segments(dumped: BothTools, words: tuple[str, ...]) -> None:
    done = dumped(TOOL, *words, "--files", files(dumped.server, "[a-z]*-0/*.log"))
    assert done.returncode == 0
    assert "--max-bytes" in words or re.search(r"^baseOffset: 0 .* isvalid: true$", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("words", [(), ("--verify-index-only",), ("--index-sanity-check",)], ids=" ".join)
def test_indexes(dumped: BothTools, words: tuple[str, ...]) -> None:
    done = dumped(TOOL, *words, "--files", files(dumped.server, "[a-z]*-0/*index"))
    assert done.returncode == 0


def test_transactions_and_producers(dumped: BothTools) -> None:
    aborted = dumped(TOOL, "--files", files(dumped.server, "work-0/*.txnindex")).stdout
    assert aborted.count("version: 0 producerId:") == 2
    producers = dumped(TOOL, "--files", files(dumped.server, "*-0/*.snapshot")).stdout
    assert "firstSequence: 0 lastSequence: 99" in producers


def test_files_of_controllers(apache: KafkaServer, request: pytest.FixtureRequest) -> None:
    both = BothTools(apache, request.node.name)
    log = both(TOOL, "--deep-iteration", "--files", files(apache, "__cluster_metadata-0/*.log"))
    assert ' LeaderChange: {"version":' in log.stdout
    snapshots = both(TOOL, "--deep-iteration", "--files", files(apache, "**/*.checkpoint"))
    assert "SnapshotFooter" in snapshots.stdout


@pytest.mark.parametrize(
    ("topic", "decoder", "says"),
    [
        ("__consumer_offsets", "--offsets-decoder", '"group":"classic-group"'),
        ("__consumer_offsets", "--offsets-decoder", '"groupId":"deleted-streams-group"'),
        ("__transaction_state", "--transaction-log-decoder", '"transactionalId":"transactional-id"'),
        ("__share_group_state", "--share-group-state-decoder", '"groupId":"share-group"'),
    ],
)
def test_records_of_coordinators(dumped: BothTools, topic: str, decoder: str, says: str) -> None:
    done = dumped(TOOL, decoder, "--files", files(dumped.server, f"{topic}-0/*.log"))
    assert says in done.stdout
    assert "skipping" not in done.stdout


def test_the_wrong_decoder(both: BothTools) -> None:
    """Records that are none of the coordinators', or another coordinator's; the reasons are in our own words."""
    for topic, decoder in (
        ("__consumer_offsets", "--share-group-state-decoder"),
        ("work", "--offsets-decoder"),
    ):
        file = files(both.server, f"{topic}-0/*.log")
        done = both(TOOL, decoder, "--files", file, masks=[REASON], stderr="ignore")
        assert "skipping" in done.stdout


def test_records_without_keys_are_refused(both: BothTools) -> None:
    done = both(
        TOOL, "--transaction-log-decoder", "--files", files(both.server, "codecs-0/*.log"), stderr="ignore"
    )
    assert done.returncode == 1
    assert "using the specified decoder (message had a missing key)" in done.stderr


@pytest.mark.parametrize("decoder", ["StringDecoder", "IntegerDecoder", "LongDecoder"])
def test_decoder_classes(both: BothTools, decoder: str) -> None:
    name = f"org.apache.kafka.tools.api.{decoder}"
    file = files(both.server, "work-0/*.log")
    both(TOOL, "--files", file, "--max-bytes", "70", "--key-decoder-class", name, stderr="ignore")
    both(TOOL, "--files", file, "--value-decoder-class")


def test_decoders_in_python(penstock: KafkaServer) -> None:
    words = ("--files", files(penstock, "work-0/*.log"), "--value-decoder-class", "builtins:len")
    assert " key: 0 payload: 20\n" in run_our_tool(TOOL, *words).stdout
    refused = run_our_tool(TOOL, *words[:-1], "nowhere:decode")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "--value-decoder-class: got 'nowhere:decode'" in refused.stderr


@pytest.mark.parametrize("decoder", ["--cluster-metadata-decoder", "--remote-log-metadata-decoder"])
def test_logs_that_are_not_there(penstock: KafkaServer, decoder: str) -> None:
    refused = run_our_tool(TOOL, decoder, "--files", files(penstock, "work-0/*.log"))
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert refused.stderr.startswith(f"{decoder}: ")


# --- damage

Damage = Callable[[bytearray], object]


def _flip(position: int) -> Damage:
    def damage(data: bytearray) -> None:
        data[position] ^= 0xFF

    return damage


def _cut(count: int) -> Damage:
    def damage(data: bytearray) -> None:
        del data[-count:]

    return damage


def _overwrite(position: int, value: bytes) -> Damage:
    def damage(data: bytearray) -> None:
        data[position : position + len(value)] = value

    return damage


def _append(value: bytes) -> Damage:
    return lambda data: data.extend(value)


DAMAGED_LOGS: dict[str, Damage] = {
    "torn": _cut(5),
    "torn in a header": lambda data: data.__delitem__(slice(30, None)),
    "a few bytes": lambda data: data.__delitem__(slice(15, None)),
    "empty": lambda data: data.clear(),
    "trailing zeros": _append(bytes(9)),
    "many trailing zeros": _append(bytes(100)),
    "a wrong byte": _flip(100),
    "length of nothing": _overwrite(8, (0).to_bytes(4, "big")),
    "a length that is too large": _overwrite(8, (2**31 - 1).to_bytes(4, "big")),
    "a short length": _overwrite(8, (30).to_bytes(4, "big")),
    "an unknown codec": _overwrite(21, b"\0\7"),
    "a codec that is not used": _overwrite(21, b"\0\1"),
    "no records": _overwrite(57, bytes(4)),
    "fewer records": _overwrite(57, (3).to_bytes(4, "big")),
    "more records": _overwrite(57, (9).to_bytes(4, "big")),
    "a negative number of records": _overwrite(57, (-3).to_bytes(4, "big", signed=True)),
    "other offsets": _overwrite(0, (7).to_bytes(8, "big")),
    "a later magic": _overwrite(16, b"\5"),
    "an earlier magic": _overwrite(16, b"\0"),
    "a negative magic": _overwrite(16, b"\x90"),
    "negative sequences": _overwrite(53, b"\xff\xff\xff\0"),
    "a control batch": _overwrite(21, b"\0\x20"),
    "a delete horizon": _overwrite(21, b"\0\x40"),
}


def damaged(both: BothTools, source: Path, directory: Path, damage: Damage) -> str:
    """A copy for each tool (Kafka's repairs what it can) of all files of a segment, one of which is damaged."""
    for name in (both.kafka_name, both.our_name):
        (directory / name).mkdir()
        for path in source.parent.glob(f"{source.stem}.*"):
            shutil.copy(path, directory / name)
        data = bytearray(source.read_bytes())
        damage(data)
        (directory / name / source.name).write_bytes(data)
    return str(directory / "{name}" / source.name)


@pytest.mark.parametrize("damage", list(DAMAGED_LOGS))
@pytest.mark.parametrize("words", [(), ("--print-data-log",)], ids=["shallow", "deep"])
def test_damaged_segments(both: BothTools, tmp_path: Path, words: tuple[str, ...], damage: str) -> None:
    source = both.server.partition_dir("work") / f"{FIRST}.log"
    file = damaged(both, source, tmp_path, DAMAGED_LOGS[damage])
    done = both(TOOL, *words, "--files", file, stderr="ignore", mutating=True)
    assert done.returncode == 0 or done.stderr.count("\n") == 1, done.stderr


DAMAGED_INDEXES: dict[str, Damage] = {
    "half an entry": _append(b"\0\0\0"),
    "zeros": _append(bytes(48)),
    "empty": lambda data: data.clear(),
    "a wrong offset": _overwrite(3, b"\x63"),
    "a wrong position": _overwrite(4, (10**6).to_bytes(4, "big")),
    "a negative offset": lambda data: _overwrite(len(data) - 8, b"\xff\xff\xff\xf0")(data),
    "beyond the end": lambda data: _overwrite(len(data) - 4, (2**31 - 1).to_bytes(4, "big"))(data),
}


@pytest.mark.parametrize("damage", list(DAMAGED_INDEXES))
@pytest.mark.parametrize("words", [(), ("--index-sanity-check",)], ids=["dump", "sanity"])
def test_damaged_indexes(both: BothTools, tmp_path: Path, words: tuple[str, ...], damage: str) -> None:
    source = both.server.partition_dir("rolled") / f"{FIRST}.index"
    file = damaged(both, source, tmp_path, DAMAGED_INDEXES[damage])
    _same_findings(both, *words, "--files", file)


DAMAGED_TIME_INDEXES: dict[str, Damage] = {
    "half an entry": _append(b"\0\0\0"),
    "zeros": _append(bytes(48)),
    "empty": lambda data: data.clear(),
    "a wrong timestamp": _flip(7),
    "a wrong offset": _flip(11),
    "a negative offset": lambda data: _overwrite(len(data) - 4, b"\xff\xff\xff\xf0")(data),
    "out of order": lambda data: data.extend(data[:12]),
}


@pytest.mark.parametrize("damage", list(DAMAGED_TIME_INDEXES))
@pytest.mark.parametrize("words", [(), ("--index-sanity-check",)], ids=["dump", "sanity"])
def test_damaged_time_indexes(both: BothTools, tmp_path: Path, words: tuple[str, ...], damage: str) -> None:
    source = both.server.partition_dir("rolled") / f"{FIRST}.timeindex"
    file = damaged(both, source, tmp_path, DAMAGED_TIME_INDEXES[damage])
    _same_findings(both, *words, "--files", file)


def _same_findings(both: BothTools, *words: str) -> None:
    """Findings at the end are the same; what ends the tool is a stack trace there and one line here."""
    mutating = any("{name}" in word for word in words)
    done = both(TOOL, *words, stderr="ignore", mutating=mutating)
    if done.returncode == 0:
        both(TOOL, *words, mutating=mutating)
    else:
        assert done.stderr.count("\n") == 1, done.stderr


@pytest.mark.parametrize(
    "damage",
    [
        _flip(20),
        _cut(4),
        _overwrite(0, b"\0\x09"),
        lambda data: data.clear(),
        lambda data: data.__delitem__(slice(5, None)),
        _overwrite(6, (-1).to_bytes(4, "big", signed=True)),
        _overwrite(6, (10**6).to_bytes(4, "big")),
    ],
    ids=["byte", "cut", "version", "empty", "head", "null", "count"],
)
def test_damaged_snapshots(both: BothTools, tmp_path: Path, damage: Damage) -> None:
    source = max(both.server.partition_dir("work").glob("*.snapshot"))
    assert both(TOOL, "--files", damaged(both, source, tmp_path, damage), mutating=True).returncode == 0


@pytest.mark.parametrize(
    "damage", [_cut(4), _overwrite(0, b"\x09\0"), _overwrite(0, b"\0\x09")], ids=["cut", "version", "low"]
)
def test_damaged_transaction_indexes(both: BothTools, tmp_path: Path, damage: Damage) -> None:
    source = max(both.server.partition_dir("work").glob("*.txnindex"))
    _same_findings(both, "--files", damaged(both, source, tmp_path, damage))


# --- formats before v2


@pytest.mark.parametrize(
    ("magic", "codec", "last_offset"),
    # not lz4 in v0, which kafka-python frames as later formats do
    [(0, 0, 0), (0, 1, 12), (0, 2, 0), (1, 0, 0), (1, 1, 0), (1, 1, 12), (1, 2, 12), (1, 3, 12)],
)
def test_messages_of_older_formats(
    both: BothTools, tmp_path: Path, magic: int, codec: int, last_offset: int
) -> None:
    builder = LegacyRecordBatchBuilder(magic, codec, 1 << 20)
    for number in range(3):
        key, value = (b"key", None) if number == 1 else (None, b"value %d" % number)
        assert builder.append(number, BASE_TIMESTAMP + number, key, value) is not None
    data = builder.build()
    if codec:
        data[:8] = last_offset.to_bytes(8, "big")
    file = tmp_path / f"{FIRST}.log"
    file.write_bytes(data)
    for words in ((), ("--print-data-log",), ("--deep-iteration", "--skip-record-metadata")):
        assert both(TOOL, *words, "--files", str(file)).returncode == 0


# --- words


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--help",),
        ("--version",),
        ("--deep-iteration",),
        ("--files",),
        ("--file", "x"),
        ("--files", "a.log", "--files", "b.log"),
        ("--max-message-size", "large", "--files", "x.index"),
        ("--max-bytes", "many", "--files", f"{FIRST}.log"),
    ],
)
def test_wrong_words(both: BothTools, words: tuple[str, ...]) -> None:
    both(TOOL, *words, stderr="ignore" if any(word.startswith("--file") for word in words) else "same")


@pytest.mark.parametrize(
    "names",
    ["no-such-file", f"{FIRST}.log", f"{FIRST}.index", "x.log", "a.txt,,/tmp//b.c/,", ",", "", "00.txnindex"],
)
def test_files_that_are_none(
    both: BothTools, names: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = both(TOOL, "--files", names, stderr="ignore")
    assert "Traceback" not in done.stderr


def test_names_of_other_files(both: BothTools) -> None:
    directory = both.server.partition_dir("work")
    both(TOOL, "--files", f"{directory}/leader-epoch-checkpoint,{directory}/partition.metadata")


def test_max_message_size(both: BothTools) -> None:
    file = files(both.server, f"rolled-0/{FIRST}.index")
    _same_findings(both, "--files", file, "--max-message-size", "100")
