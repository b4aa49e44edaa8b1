"""kafka-delete-records: deletes the records of partitions that lie before the offsets which a JSON file names."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from penstock.cli.options.command_line import (
    check_required_args,
    command_parser,
    maybe_print_help_or_version,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.tool import err, run
from penstock.cli.tools.common.admin_client import admin_client, command_config
from penstock.cli.tools.common.failures import CommandFailure, as_java_says, failing
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.client.admin.records import delete_records
from penstock.client.cluster import now
from penstock.client.errors import KafkaError
from penstock.types import TopicPartition

TOOL = "kafka-delete-records"
USAGE = "This tool helps to delete records of the given partitions down to the specified offset."
FORMAT = '{"partitions":\n  [{"topic": "foo", "partition": 1, "offset": 1}],\n "version":1\n}'
ONLY_VERSION = 1


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, delete, arguments)


def delete(words: list[str]) -> int:
    try:
        options = _parsed(words)
        configs = {**command_config(options), "bootstrap.servers": options.value("bootstrap-server")}
        with failing(as_java_says), admin_client(configs) as cluster:
            before = _offsets(_read(options.value("offset-json-file")))
            print("Executing records delete operation")
            results = now(delete_records(cluster, before))
    except CommandFailure as error:
        err(str(error))
        return 1
    print("Records delete operation completed:")
    for partition, result in results.items():
        _print_result(partition, result)
    return 0


def _parser() -> OptionParser:
    parser = command_parser()
    parser.accepts(
        "bootstrap-server",
        "REQUIRED: The server to connect to.",
        argument="server(s) to use for bootstrapping",
    )
    parser.accepts(
        "offset-json-file",
        f"REQUIRED: The JSON file with offset per partition. The format to use is:\n{FORMAT}",
        argument="Offset json file path",
    )
    parser.accepts(
        "command-config",
        "A property file containing configs to be passed to Admin Client.",
        argument="command config property file path",
    )
    return parser


def _parsed(words: list[str]) -> OptionSet:
    parser = _parser()
    options = parser.parse(words)
    maybe_print_help_or_version(parser, options, words, USAGE)
    check_required_args(parser, options, "bootstrap-server", "offset-json-file")
    return options


def _print_result(partition: TopicPartition, result: int | KafkaError) -> None:
    if isinstance(result, KafkaError):
        print(f"partition: {partition}\terror: {as_java_says(result)}")
    else:
        print(f"partition: {partition}\tlow_watermark: {result}")


# --- the file


def _read(path: str) -> Any:
    """The first value in the file, whatever follows."""
    try:
        return json.JSONDecoder().raw_decode(Path(path).read_text("utf-8", errors="replace").lstrip())[0]
    except OSError as error:
        raise CommandFailure(f"Unable to read file {path}: {error.strerror}") from None
    except ValueError:
        raise CommandFailure("The input string is not a valid JSON") from None


def _offsets(given: Any) -> dict[TopicPartition, int]:
    """The offset of each partition, none of them twice."""
    fields = _of_kind(given, dict, "Expected JSON object, received")
    version = _integer(fields.get("version", ONLY_VERSION), "Integer")
    if version != ONLY_VERSION:
        raise CommandFailure(f"Not supported version field value {version}")
    if "partitions" not in fields:
        raise CommandFailure("Missing partitions field")
    offsets: dict[TopicPartition, int] = {}
    duplicates = []
    for each in _of_kind(fields["partitions"], list, "Expected JSON array, received"):
        partition, offset = _partition_and_offset(each)
        if partition in offsets:
            duplicates.append(partition)
        offsets.setdefault(partition, offset)
    if duplicates:
        listed = ",".join(map(str, in_hash_order(duplicates)))
        raise CommandFailure(f"Offset json file contains duplicate topic partitions: {listed}")
    return offsets


def _partition_and_offset(given: Any) -> tuple[TopicPartition, int]:
    fields = _of_kind(given, dict, "Expected JSON object, received")
    topic = _of_kind(_field(fields, "topic"), str, "Expected `String` value, received")
    partition = _integer(_field(fields, "partition"), "Integer")
    return TopicPartition(topic, partition), _integer(_field(fields, "offset"), "Long")


def _field(fields: dict[str, Any], name: str) -> Any:
    if name not in fields:
        raise CommandFailure(f"No such field exists: `{name}`")
    return fields[name]


def _of_kind(value: Any, kind: type, complaint: str) -> Any:
    if not isinstance(value, kind):
        raise CommandFailure(f"{complaint} {_shown(value)}")
    return value


def _integer(value: Any, kind: str) -> int:
    limit = {"Integer": 2**31, "Long": 2**63}[kind]
    if isinstance(value, bool) or not isinstance(value, int) or not -limit <= value < limit:
        raise CommandFailure(f"Expected `{kind}` value, received {_shown(value)}")
    return value


def _shown(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


if __name__ == "__main__":
    raise SystemExit(main())
