"""`kafka-dump-log`: the files of a log directory as text, for looking into what seems to be wrong with them."""

import os
import re
import sys
from pathlib import Path

from penstock.cli.options.command_line import command_parser, parse_command_line
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tool import err, run
from penstock.cli.tools.dump_log.decoders import STRING_DECODER, plain_decoder
from penstock.cli.tools.dump_log.errors import DumpError
from penstock.cli.tools.dump_log.indexes import (
    Findings,
    base_offset_of,
    dump_offset_index,
    dump_time_index,
)
from penstock.cli.tools.dump_log.log_file import LogFile
from penstock.cli.tools.dump_log.other_files import dump_producer_snapshot, dump_transaction_index
from penstock.cli.tools.dump_log.records import Decoder, RecordView, dump_log
from penstock.log import names

TOOL = "kafka-dump-log"
ABOUT = (
    "This tool helps to parse a log file and dump its contents to the console, useful for debugging a seemingly "
    "corrupt log segment."
)
CUSTOM_DECODER = (
    "This class should implement org.apache.kafka.tools.api.Decoder trait. Custom jar should be available in "
    "kafka/libs directory."
)
LARGEST_INT = 2**31 - 1
METADATA_SNAPSHOT = ".checkpoint"
BOOTSTRAP_SNAPSHOT = "bootstrap.checkpoint"

COORDINATOR_DECODERS = {
    "offsets-decoder": "offsets_decoder",
    "transaction-log-decoder": "transaction_log_decoder",
    "share-group-state-decoder": "share_group_state_decoder",
}
NOT_HERE = {
    "cluster-metadata-decoder": "the metadata of the cluster is in ZooKeeper (zookeeper-shell), and in no log",
    "remote-log-metadata-decoder": "tiered storage is not there, and so no log of its metadata",
}
DECODERS_IN_ORDER = (
    *("offsets-decoder", "transaction-log-decoder", "cluster-metadata-decoder"),
    *("remote-log-metadata-decoder", "share-group-state-decoder"),
)
PRINTS_DATA = ("print-data-log", *DECODERS_IN_ORDER, "value-decoder-class", "key-decoder-class")


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, dump, arguments)


def _parser() -> OptionParser:
    parser = command_parser()
    parser.accepts(
        "print-data-log",
        "If set, printing the messages content when dumping data logs. Automatically set if any decoder option is "
        "specified.",
    )
    parser.accepts("verify-index-only", "If set, just verify the index log without printing its content.")
    parser.accepts(
        "index-sanity-check",
        "If set, just checks the index sanity without printing its content. This is the same check that is executed "
        "on broker startup to determine if an index needs rebuilding or not.",
    )
    parser.accepts(
        "files",
        "REQUIRED: The comma separated list of data and index log files to be dumped.",
        argument="file1, file2, ...",
    )
    parser.accepts(
        "max-message-size", "Size of largest message.", argument="size", kind=int, default=5 * 1024 * 1024
    )
    parser.accepts(
        "max-bytes",
        "Limit the amount of total batches read in bytes avoiding reading the whole .log file(s).",
        argument="size",
        kind=int,
        default=LARGEST_INT,
    )
    parser.accepts(
        "deep-iteration",
        "If set, uses deep instead of shallow iteration. Automatically set if print-data-log is enabled.",
    )
    _accept_decoders(parser)
    parser.accepts(
        "skip-record-metadata", "Skip metadata when printing records. This flag also skips control records."
    )
    return parser


def _accept_decoders(parser: OptionParser) -> None:
    for name, what in (("value", "messages"), ("key", "keys")):
        parser.accepts(
            f"{name}-decoder-class",
            f"If set, used to deserialize the {what}. {CUSTOM_DECODER}",
            argument="",
            optional_argument=True,
            default=STRING_DECODER,
        )
    parser.accepts(
        "offsets-decoder", "If set, log data will be parsed as offset data from the __consumer_offsets topic."
    )
    parser.accepts(
        "transaction-log-decoder",
        "If set, log data will be parsed as transaction metadata from the __transaction_state topic.",
    )
    parser.accepts("cluster-metadata-decoder", "If set, log data will be parsed as cluster metadata records.")
    parser.accepts(
        "remote-log-metadata-decoder",
        "If set, log data will be parsed as TopicBasedRemoteLogMetadataManager (RLMM) metadata records. Instead, the "
        "value-decoder-class option can be used if a custom RLMM implementation is configured.",
    )
    parser.accepts(
        "share-group-state-decoder",
        "If set, log data will be parsed as share group state data from the __share_group_state topic.",
    )


def dump(words: list[str]) -> None:
    parser = _parser()
    options = parse_command_line(parser, words, ABOUT, "files")
    findings = Findings()
    for name in _split_like_java(options.value("files")):
        print(f"Dumping {name}")
        _dump_file(name, options, findings)
    sys.stdout.flush()
    findings.report()


def _split_like_java(text: str) -> list[str]:
    """Parts between commas, without empty ones at the end; paths as java.io.File writes them."""
    parts = text.split(",")
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    if text and parts == [""]:
        return []
    return [re.sub("/+", "/", part).removesuffix("/") or part[:1] for part in parts]


def _dump_file(shown: str, options: OptionSet, findings: Findings) -> None:
    path = Path(shown)
    name = os.path.basename(shown)
    match name[name.rfind(".") :] if "." in name else "":
        case names.LOG | ".checkpoint":
            _dump_log(path, options, findings)
        case names.OFFSET_INDEX:
            dump_offset_index(
                path,
                shown,
                sanity_only=options.has("index-sanity-check"),
                verify_only=options.has("verify-index-only"),
                max_message_size=options.value("max-message-size"),
                findings=findings,
            )
        case names.TIME_INDEX:
            dump_time_index(
                path,
                shown,
                sanity_only=options.has("index-sanity-check"),
                verify_only=options.has("verify-index-only"),
                findings=findings,
            )
        case names.PRODUCER_SNAPSHOT:
            dump_producer_snapshot(path)
        case names.TRANSACTION_INDEX:
            dump_transaction_index(path)
        case _:
            sys.stdout.flush()
            err(f"Ignoring unknown file {shown}")


def _dump_log(path: Path, options: OptionSet, findings: Findings) -> None:
    prints_data = any(options.has(name) for name in PRINTS_DATA)
    decoder = _decoder(options)
    view = RecordView(
        deep=prints_data or options.has("deep-iteration"),
        decode=decoder if prints_data else None,
        skip_metadata=options.has("skip-record-metadata"),
    )
    max_bytes = options.value("max-bytes")
    print(_title(path))
    gaps = dump_log(LogFile(path), max_bytes, view)
    if gaps:
        findings.gaps[str(path.absolute())] = gaps


def _title(path: Path) -> str:
    if path.suffix == names.LOG:
        return f"Log starting offset: {base_offset_of(path)}"
    if path.name == BOOTSTRAP_SNAPSHOT:
        return "KRaft bootstrap snapshot"
    found = re.fullmatch(rf"(\d{{20}})-(\d{{10}}){re.escape(METADATA_SNAPSHOT)}", path.name)
    if found is None:
        raise DumpError(f"{path}: is not named as a snapshot of KRaft, by its end offset and epoch")
    return f"Snapshot end offset: {int(found[1])}, epoch: {int(found[2])}"


def _decoder(options: OptionSet) -> Decoder:
    for name in DECODERS_IN_ORDER:
        if options.has(name):
            return _internal_decoder(name)
    return plain_decoder(options.value("key-decoder-class"), options.value("value-decoder-class"))


def _internal_decoder(name: str) -> Decoder:
    if name in NOT_HERE:
        raise DumpError(
            f"--{name}: {NOT_HERE[name]}; use Kafka's own kafka-dump-log for logs of Apache Kafka"
        )
    from penstock.cli.tools.dump_log import coordinator_records

    decoder: Decoder = getattr(coordinator_records, COORDINATOR_DECODERS[name])()
    return decoder


if __name__ == "__main__":
    sys.exit(main())
