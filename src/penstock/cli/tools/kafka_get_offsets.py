"""kafka-get-offsets: prints `topic:partition:offset` of the partitions that match."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from penstock.cli.options.command_line import command_parser, parse_command_line
from penstock.cli.options.joptsimple import OptionError, OptionParser, OptionSet
from penstock.cli.tool import err, run
from penstock.cli.tools.common.admin_client import admin_client, admin_configs
from penstock.cli.tools.common.bootstrap_address import check_bootstrap_server
from penstock.cli.tools.common.failures import CommandFailure, as_java_says, failing
from penstock.client.admin.list_offsets import UNKNOWN_OFFSET, OffsetSpec, list_offsets
from penstock.errors import PenstockError
from penstock.types import TopicPartition
from penstock.wire_client import Cluster, now
from penstock.wire_client.errors import KafkaError

TOOL = "kafka-get-offsets"
USAGE = "An interactive shell for getting topic-partition offsets."
RULE = re.compile(r"([^:,]*)(?::(?:([0-9]*)|(?:([0-9]*)-([0-9]*))))?")
TIMES = {spec.name.lower().replace("_", "-"): spec for spec in OffsetSpec}
TIMES_HELP = " / ".join(f"{spec.value} or {name}" for name, spec in TIMES.items())
HIGHEST_PARTITION = 2**31 - 1
SIGNED_LONG = re.compile(r"[+-]?[0-9]+")

PartitionFilter = Callable[[int], bool]
Filter = Callable[[TopicPartition], bool]


def main(arguments: list[str] | None = None) -> int:
    return run(TOOL, get_offsets, arguments)


def get_offsets(words: list[str]) -> int:
    try:
        for partition, offset in sorted(
            chosen_offsets(_parsed(words)).items(), key=lambda found: str(found[0])
        ):
            print(f"{partition.topic}:{partition.partition}:{offset}")
    except (OptionError, PenstockError) as error:
        err(f"Error occurred: {error}")
        return 1
    return 0


def _parser() -> OptionParser:
    parser = command_parser()
    parser.accepts(
        "bootstrap-server",
        "REQUIRED. The server(s) to connect to in the form HOST1:PORT1,HOST2:PORT2.",
        argument="HOST1:PORT1,...,HOST3:PORT3",
    )
    _accept_filters(parser)
    return parser


def _accept_filters(parser: OptionParser) -> None:
    parser.accepts(
        "topic-partitions",
        "Comma separated list of topic-partition patterns to get the offsets for, with the format of "
        f"'{RULE.pattern}'. The first group is an optional regex for the topic name, if omitted, it matches any "
        "topic name. The section after ':' describes a 'partition' pattern, which can be: a number, a range in the "
        "format of 'NUMBER-NUMBER' (lower inclusive, upper exclusive), an inclusive lower bound in the format of "
        "'NUMBER-', an exclusive upper bound in the format of '-NUMBER' or may be omitted to accept all partitions.",
        argument="topic1:1,topic2:0-3,topic3,topic4:5-,topic5:-3",
    )
    parser.accepts(
        "topic",
        "The topic to get the offsets for. It also accepts a regular expression. If not present, all authorized "
        "topics are queried. Cannot be used if --topic-partitions is present.",
        argument="topic",
    )
    parser.accepts(
        "partitions",
        "Comma separated list of partition ids to get the offsets for. If not present, all partitions of the "
        "authorized topics are queried. Cannot be used if --topic-partitions is present.",
        argument="partition ids",
    )
    parser.accepts(
        "time",
        "timestamp of the offsets before that. [Note: No offset is returned, if the timestamp greater than recently "
        "committed record timestamp is given.]",
        argument=f"<timestamp> / {TIMES_HELP}",
        default="latest",
    )
    parser.accepts(
        "command-config",
        "Property file containing configs to be passed to Admin Client.",
        argument="config file",
    )
    parser.accepts(
        "exclude-internal-topics",
        "By default, internal topics are included. If specified, internal topics are excluded.",
    )


def _parsed(words: list[str]) -> OptionSet:
    parser = _parser()
    options = parse_command_line(parser, words, USAGE, "bootstrap-server")
    check_bootstrap_server(parser, options)
    return options


def chosen_offsets(options: OptionSet) -> dict[TopicPartition, int]:
    if options.has("topic-partitions") and (options.has("topic") or options.has("partitions")):
        raise CommandFailure("--topic-partitions cannot be used with --topic or --partitions")
    time = _time(options.value("time"))
    wanted = _filter(options)
    configs = admin_configs(options) | {"client.id": "GetOffsetShell"}
    with failing(as_java_says), admin_client(configs) as cluster:
        partitions = now(_partitions(cluster, wanted, not options.has("exclude-internal-topics")))
        if not partitions:
            raise CommandFailure("Could not match any topic-partitions with the specified filters")
        return _known(now(list_offsets(cluster, dict.fromkeys(partitions, time))))


def _time(text: str) -> int:
    if text in TIMES:
        return TIMES[text]
    if SIGNED_LONG.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return int(text)
    raise CommandFailure(
        f"Malformed time argument {text}. Please use {TIMES_HELP}, or a specified long format timestamp"
    )


def _known(results: Mapping[TopicPartition, object]) -> dict[TopicPartition, int]:
    """The offsets that there are; what went wrong is said."""
    offsets = {}
    for partition, result in results.items():
        if isinstance(result, KafkaError):
            reason = as_java_says(result)
            err(f"Skip getting offsets for topic-partition {partition} due to error: {reason}")
        elif (offset := getattr(result, "offset", UNKNOWN_OFFSET)) != UNKNOWN_OFFSET:
            offsets[partition] = offset
    return offsets


async def _partitions(cluster: Cluster, wanted: Filter, include_internal: bool) -> list[TopicPartition]:
    metadata = await cluster.metadata(None)
    return [
        partition
        for topic in metadata.topics
        if include_internal or not topic.is_internal
        for each in topic.partitions
        if wanted(partition := TopicPartition(topic.name or "", each.partition_index))
    ]


# --- which partitions


def _filter(options: OptionSet) -> Filter:
    if options.has("topic-partitions"):
        return _any_of(_rule(text) for text in _java_split(options.value("topic-partitions")))
    topics = _topic_pattern(".*" if options.value("topic") is None else options.value("topic"))
    ids = _partition_ids(options.value("partitions") or "")
    return _matching(topics, lambda partition: not ids or partition in ids)


def _any_of(rules: Iterable[Filter]) -> Filter:
    every = list(rules)
    return lambda partition: any(rule(partition) for rule in every)


def _matching(topics: re.Pattern[str], partitions: PartitionFilter) -> Filter:
    return lambda each: bool(topics.fullmatch(each.topic)) and partitions(each.partition)


def _rule(text: str) -> Filter:
    if (found := RULE.fullmatch(text)) is None:
        raise CommandFailure(f"org.apache.kafka.tools.TerseException: Invalid rule specification: {text}")
    topic, only, first, end = found.groups()
    topics = _topic_pattern(topic or ".*")
    if only:
        return _matching(topics, lambda partition: partition == int(only))
    partitions = range(int(first or 0), int(end or HIGHEST_PARTITION))
    return _matching(topics, lambda partition: partition in partitions)


def _partition_ids(text: str) -> set[int]:
    try:
        return {int(part) for part in _java_split(text)} if text else set()
    except ValueError:
        raise CommandFailure(
            f"--partitions expects a comma separated list of numeric partition ids, but received: {text}"
        ) from None


def _java_split(text: str) -> list[str]:
    """At commas, without the empty parts at the end, as Java splits."""
    return text.rstrip(",").split(",")


def _topic_pattern(text: str) -> re.Pattern[str]:
    plain = text.strip().replace(",", "|").replace(" ", "").lstrip("\"'").rstrip("\"'")
    try:
        return re.compile(plain)
    except re.error:
        raise CommandFailure(f"{plain} is an invalid regex.") from None


if __name__ == "__main__":
    raise SystemExit(main())
