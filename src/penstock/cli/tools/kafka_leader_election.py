"""kafka-leader-election: has leaders elected, of some partitions or of all that need one."""

from __future__ import annotations

import sys

from penstock.cli.options.command_line import (
    check_invalid_args,
    command_parser,
    load_properties,
    parse_command_line,
    say_deprecated,
)
from penstock.cli.options.joptsimple import OptionParser, OptionSet
from penstock.cli.options.kinds import one_of
from penstock.cli.tool import err, run
from penstock.cli.tools.common.admin_client import admin_client
from penstock.cli.tools.common.failures import CommandFailure, as_future_says, as_java_says
from penstock.cli.tools.common.java_order import in_hash_order
from penstock.cli.tools.common.json_values import (
    JsonMismatch,
    UnreadableFile,
    array_of,
    duplicates,
    field,
    integer_of,
    object_of,
    parse,
    read_text,
    string_of,
)
from penstock.client.admin.elections import ElectionType, elect_leaders
from penstock.errors import ErrorCode
from penstock.types import TopicPartition
from penstock.wire_client import now
from penstock.wire_client.errors import KafkaError, KafkaTimeoutError

ABOUT = (
    "This tool attempts to elect a new leader for a set of topic partitions. The type of elections supported are "
    "preferred replicas and unclean replicas."
)
TIMEOUT_MS = 30_000
SCOPES = ("topic", "all-topic-partitions", "path-to-json-file")
TYPES = tuple(each.name for each in ElectionType)


def election_parser() -> OptionParser:
    parser = command_parser()
    parser.accepts(
        "bootstrap-server",
        "A hostname and port for the broker to connect to, in the form host:port. Multiple comma separated URLs can "
        "be given. REQUIRED.",
        argument="host:port",
    )
    parser.accepts(
        "admin.config",
        "(DEPRECATED) Configuration properties files to pass to the admin client. This option will be removed in a "
        "future version. Use --command-config instead.",
        argument="config file",
    )
    parser.accepts(
        "command-config", "Config properties file to pass to the admin client.", argument="Config file"
    )
    _accept_partitions(parser)
    return parser


def _accept_partitions(parser: OptionParser) -> None:
    parser.accepts(
        "path-to-json-file",
        "The JSON file with the list  of partition for which leader elections should be performed. This is an example "
        'format. \n{"partitions":\n\t[{"topic": "foo", "partition": 1},\n\t {"topic": "foobar", "partition": 2}]\n}\n'
        "Not allowed if --all-topic-partitions or --topic flags are specified.",
        argument="Path to JSON file",
    )
    parser.accepts(
        "topic",
        "Name of topic for which to perform an election. Not allowed if --path-to-json-file or --all-topic-partitions "
        "is specified.",
        argument="topic name",
    )
    parser.accepts(
        "partition",
        "Partition id for which to perform an election. REQUIRED if --topic is specified.",
        argument="partition id",
        kind=int,
    )
    parser.accepts(
        "all-topic-partitions",
        "Perform election on all of the eligible topic partitions based on the type of election (see the "
        "--election-type flag). Not allowed if --topic or --path-to-json-file is specified.",
    )
    parser.accepts(
        "election-type",
        'Type of election to attempt. Possible values are "preferred" for preferred leader election or "unclean" for '
        "unclean leader election. If preferred election is selection, the election is only performed if the current "
        "leader is not the preferred leader for the topic partition. If unclean election is selected, the election is "
        "only performed if there are no leader for the topic partition. REQUIRED.",
        argument="election type",
        kind=one_of(TYPES, f"[{','.join(TYPES)}]"),
    )


def command(words: list[str]) -> int:
    parser = election_parser()
    options = parse_command_line(parser, words, ABOUT)
    try:
        _check(parser, options)
        election_type = ElectionType[options.value("election-type")]
        partitions = _partitions(options)
        with admin_client(_configs(options), TIMEOUT_MS) as cluster:
            outcome = now(elect_leaders(cluster, election_type, partitions))
    except KafkaError as error:
        _print_why_none(error)
        return 1
    return _print_outcome(election_type, outcome)


def _check(parser: OptionParser, options: OptionSet) -> None:
    missing = [name for name in ("bootstrap-server", "election-type") if not options.has(name)]
    if missing:
        raise CommandFailure(f"Missing required option(s): {', '.join(missing)}")
    check_invalid_args(parser, options, "admin.config", "command-config")
    if sum(options.has(scope) for scope in SCOPES) != 1:
        raise CommandFailure(f"One and only one of the following options is required: {', '.join(SCOPES)}")
    if options.has("topic") and not options.has("partition"):
        raise CommandFailure("Missing required option(s): partition")
    if not options.has("topic") and options.has("partition"):
        raise CommandFailure("Option partition is only allowed if topic is used")


def _configs(options: OptionSet) -> dict[str, str]:
    if options.has("admin.config"):
        say_deprecated("admin.config", "command-config")
    file = options.value("admin.config") or options.value("command-config")
    return {
        "request.timeout.ms": str(TIMEOUT_MS // 2),
        **(load_properties(file) if file else {}),
        "bootstrap.servers": options.value("bootstrap-server"),
    }


# --- which partitions


def _partitions(options: OptionSet) -> list[TopicPartition] | None:
    """Those that the file names, or the one of the options; None for all."""
    if options.has("path-to-json-file"):
        return _read_partitions(options.value("path-to-json-file"))
    if options.has("topic"):
        return [TopicPartition(options.value("topic"), options.value("partition"))]
    return None


def _read_partitions(path: str) -> list[TopicPartition]:
    try:
        value = parse(read_text(path))
    except UnreadableFile as error:
        raise CommandFailure(f"java.io.IOException: {error}") from error
    except ValueError as error:
        raise CommandFailure("Replica election data is empty") from error
    try:
        partitions = _partitions_of(value)
    except JsonMismatch as error:
        raise CommandFailure(f"com.fasterxml.jackson.databind.JsonMappingException: {error}") from error
    if twice := duplicates(partitions):
        listed = ", ".join(map(str, twice))
        raise CommandFailure(f"Replica election data contains duplicate partitions: [{listed}]")
    return partitions


def _partitions_of(value: object) -> list[TopicPartition]:
    fields = object_of(value)
    if "partitions" not in fields:
        raise CommandFailure('Replica election data is missing "partitions" field')
    return [
        TopicPartition(string_of(field(each, "topic")), integer_of(field(each, "partition")))
        for each in map(object_of, array_of(fields["partitions"]))
    ]


# --- what came of it


def _print_why_none(error: KafkaError) -> None:
    if isinstance(error, KafkaTimeoutError):
        print("Timeout waiting for election results")
        err(f"Timeout waiting for election results: {error}")
    elif error.code == ErrorCode.CLUSTER_AUTHORIZATION_FAILED:
        print("Not authorized to perform leader election")
        err("Not authorized to perform leader election")
    else:
        err(as_future_says(error))


def _print_outcome(election_type: ElectionType, outcome: dict[TopicPartition, KafkaError | None]) -> int:
    ordered = in_hash_order(outcome)
    elected = [str(each) for each in ordered if outcome[each] is None]
    errors = {each: error for each in ordered if (error := outcome[each]) is not None}
    in_place = [str(each) for each, error in errors.items() if error.code == ErrorCode.ELECTION_NOT_NEEDED]
    failed = {each: error for each, error in errors.items() if error.code != ErrorCode.ELECTION_NOT_NEEDED}
    if elected:
        print(
            f"Successfully completed leader election ({election_type.name}) for partitions {', '.join(elected)}"
        )
    if in_place:
        print(f"Valid replica already elected for partitions {', '.join(in_place)}")
    for partition, error in failed.items():
        print(
            f"Error completing leader election ({election_type.name}) for partition: {partition}: "
            f"{as_java_says(error)}"
        )
    if failed:
        err(f"{len(failed)} replica(s) could not be elected")
    return 1 if failed else 0


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-leader-election", command, arguments)


if __name__ == "__main__":
    sys.exit(main())
