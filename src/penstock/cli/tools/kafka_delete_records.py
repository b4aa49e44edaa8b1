"""kafka-delete-records: deletes the records of partitions that lie before the offsets which a JSON file names."""

from __future__ import annotations

from typing import Any

from penstock.cli.options.command_line import command_parser, parse_command_line
from penstock.cli.options.joptsimple import OptionParser
from penstock.cli.tool import run
from penstock.cli.tools.common.admin_client import admin_client, admin_configs
from penstock.cli.tools.common.failures import CommandFailure, as_java_says, failing
from penstock.cli.tools.common.json_values import (
    UnreadableFile,
    array_of,
    duplicates,
    field,
    integer_of,
    long_of,
    object_of,
    parse,
    read_text,
    string_of,
)
from penstock.client.admin.records import delete_records
from penstock.types import TopicPartition
from penstock.wire_client import now
from penstock.wire_client.errors import KafkaError

TOOL = "kafka-delete-records"
USAGE = "This tool helps to delete records of the given partitions down to the specified offset."
FORMAT = '{"partitions":\n  [{"topic": "foo", "partition": 1, "offset": 1}],\n "version":1\n}'
ONLY_VERSION = 1


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, delete, arguments)


def delete(words: list[str]) -> int:
    options = parse_command_line(_parser(), words, USAGE, "bootstrap-server", "offset-json-file")
    with failing(as_java_says), admin_client(admin_configs(options)) as cluster:
        before = _offsets(_read(options.value("offset-json-file")))
        print("Executing records delete operation")
        results = now(delete_records(cluster, before))
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


def _print_result(partition: TopicPartition, result: int | KafkaError) -> None:
    if isinstance(result, KafkaError):
        print(f"partition: {partition}\terror: {as_java_says(result)}")
    else:
        print(f"partition: {partition}\tlow_watermark: {result}")


# --- the file


def _read(path: str) -> Any:
    try:
        return parse(read_text(path))
    except UnreadableFile as error:
        raise CommandFailure(f"{error}: {error.reason}") from None
    except ValueError:
        raise CommandFailure("The input string is not a valid JSON") from None


def _offsets(given: Any) -> dict[TopicPartition, int]:
    """The offset of each partition, none of them twice."""
    fields = object_of(given)
    version = integer_of(fields.get("version", ONLY_VERSION))
    if version != ONLY_VERSION:
        raise CommandFailure(f"Not supported version field value {version}")
    if "partitions" not in fields:
        raise CommandFailure("Missing partitions field")
    listed = [_partition_and_offset(each) for each in array_of(fields["partitions"])]
    if twice := duplicates([partition for partition, _ in listed]):
        named = ",".join(map(str, twice))
        raise CommandFailure(f"Offset json file contains duplicate topic partitions: {named}")
    return dict(listed)


def _partition_and_offset(given: Any) -> tuple[TopicPartition, int]:
    fields = object_of(given)
    topic, partition = string_of(field(fields, "topic")), integer_of(field(fields, "partition"))
    return TopicPartition(topic, partition), long_of(field(fields, "offset"))


if __name__ == "__main__":
    raise SystemExit(main())
