"""`penstock tail TOPIC`: the last records of a topic, then those that come."""

from __future__ import annotations

import argparse
import os
import re
import select
import sys
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime

from penstock.cli.cluster_arguments import add_cluster, configs_of
from penstock.cli.output.formats import JSON, TEXT
from penstock.cli.output.view import has_colour, styled
from penstock.cli.records.record_json import TopicRecord, record_as_json
from penstock.cli.tool import run
from penstock.errors import ConfigError

REGISTRY_ENVIRONMENT_NAME = "PENSTOCK_SCHEMA_REGISTRY_URL"
FIELDS = ("topic", "partition", "offset", "timestamp", "key", "value", "headers")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
WIDER = 4
"""By how much more is read where the offsets of a topic have so many gaps that records are missing."""

Format = Callable[[TopicRecord], str]


def main(arguments: list[str]) -> int:
    return run("penstock tail", command, arguments)


def command(words: list[str]) -> int:
    parsed = _parser().parse_args(words)
    show = _format(parsed, harmless if sys.stdout.isatty() else str)
    pattern = _pattern(parsed.grep)
    read = _reading(parsed)
    _tail(parsed, lambda records: _print(map(read, records), show, pattern))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "penstock tail",
        description="Show the last records of a topic, and those that come, until Ctrl-C.",
        allow_abbrev=False,
    )
    parser.add_argument("topic")
    parser.add_argument(
        "-n",
        "--lines",
        type=_count,
        default=10,
        metavar="N",
        help="begin with the last N records of all partitions together; 10 if not given",
    )
    parser.add_argument("--no-follow", action="store_true", help="end when the last records are shown")
    parser.add_argument("--partition", type=_count, metavar="N", help="only this partition")
    parser.add_argument("--grep", metavar="REGEX", help="only records whose key or value matches")
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--format",
        metavar="TEXT",
        help="how a record looks, for example '{timestamp} {key}: {value}'; takes "
        + ", ".join(f"{{{field}}}" for field in FIELDS),
    )
    form.add_argument("--output", choices=[TEXT, JSON], default=TEXT, help="json is one object a line")
    schemas = parser.add_mutually_exclusive_group()
    schemas.add_argument(
        "--registry",
        metavar="URL",
        help="the Schema Registry that knows the schemas of records, which are then shown as JSON; "
        f"${REGISTRY_ENVIRONMENT_NAME}, or schema.registry.url of the --command-config, or http://localhost:8081, "
        "if not given",
    )
    schemas.add_argument(
        "--raw",
        action="store_true",
        help="show bytes as they are, without a registry; --output json does, too",
    )
    add_cluster(parser)
    return parser


def _reading(parsed: argparse.Namespace) -> Callable[[TopicRecord], TopicRecord]:
    """What becomes of a record before it is looked at."""
    if parsed.raw or parsed.output == JSON:
        return lambda record: record
    from penstock.cli.records.record_decoding import RecordDecoding

    configs = configs_of(parsed)
    own = parsed.registry or os.environ.get(REGISTRY_ENVIRONMENT_NAME)
    return RecordDecoding({**configs, "schema.registry.url": own} if own else configs).decoded


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"got {text!r}; takes a number from 0")
    return int(text)


def _pattern(text: str | None) -> re.Pattern[str] | None:
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise ConfigError(f"--grep: got {text!r}; takes a regular expression: {error}") from None


# reading


def _tail(parsed: argparse.Namespace, show: Callable[[Iterable[TopicRecord]], None]) -> None:
    from penstock.cli.records.topic_reading import TopicReader, extent_of

    configs = configs_of(parsed)
    extent = extent_of(configs, parsed.topic)
    begins, ends = _of_partition(parsed, extent.begins), _of_partition(parsed, extent.ends)
    with TopicReader(configs, parsed.topic) as reader:
        show(_last(reader.read, begins, ends, parsed.lines))
        if not parsed.no_follow:
            for records in reader.follow(ends):
                show(records)
                end_if_nobody_reads()


def end_if_nobody_reads() -> None:
    """`| head` has enough: that shows in the next write, which may be far off."""
    output = select.poll()
    output.register(sys.stdout.fileno(), 0)
    if any(event & select.POLLERR for _, event in output.poll(0)):
        raise BrokenPipeError


def _of_partition(parsed: argparse.Namespace, offsets: Mapping[int, int]) -> Mapping[int, int]:
    wanted = parsed.partition
    if wanted is None:
        return offsets
    if wanted not in offsets:
        raise ConfigError(f"--partition: got {wanted}; {parsed.topic} has partitions 0 to {max(offsets)}")
    return {wanted: offsets[wanted]}


Read = Callable[[Mapping[int, int], Mapping[int, int]], Iterable[TopicRecord]]


def _last(read: Read, begins: Mapping[int, int], ends: Mapping[int, int], count: int) -> list[TopicRecord]:
    """The newest records of all partitions by their timestamps."""
    window = count
    while count:
        starts = {each: max(begins[each], ends[each] - window) for each in begins}
        found = list(read(starts, ends))
        if len(found) >= count or starts == begins:
            found.sort(key=lambda record: (record.timestamp_ms or 0, record.partition, record.offset))
            return found[-count:]
        window *= WIDER
    return []


# showing


def _print(records: Iterable[TopicRecord], show: Format, pattern: re.Pattern[str] | None) -> None:
    lines = [show(record) for record in records if pattern is None or _matches(record, pattern)]
    if lines:
        sys.stdout.write("\n".join([*lines, ""]))
        sys.stdout.flush()


def _matches(record: TopicRecord, pattern: re.Pattern[str]) -> bool:
    return any(data is not None and pattern.search(_text(data)) for data in (record.key, record.value))


def _json_escape(found: re.Match[str]) -> str:
    """JSON has no need to escape what is beyond ASCII; some of it is a terminal's all the same."""
    return f"\\u{ord(found[0]):04x}"


def harmless(text: str) -> str:
    """For a terminal, which takes orders from what a record may have in it; lines and tabs are what they are."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def _format(parsed: argparse.Namespace, clean: Callable[[str], str]) -> Format:
    if parsed.output == JSON:
        return lambda record: _CONTROL.sub(_json_escape, record_as_json(record))
    if parsed.format is not None:
        return _template(parsed.format, clean)
    show = _coloured if has_colour(sys.stdout) else _plain
    return lambda record: show(record, clean)


def _template(text: str, clean: Callable[[str], str]) -> Format:
    template = text.replace("\\t", "\t").replace("\\n", "\n")
    try:
        template.format(**dict.fromkeys(FIELDS, ""))
    except (KeyError, IndexError, ValueError, AttributeError) as error:
        takes = ", ".join(f"{{{field}}}" for field in FIELDS)
        raise ConfigError(f"--format: got {text!r}; takes {takes}: {error}") from None
    return lambda record: template.format(**_fields(record, clean))


def _fields(record: TopicRecord, clean: Callable[[str], str]) -> dict[str, object]:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": _time(record.timestamp_ms),
        "key": clean(_text(record.key)),
        "value": clean(_text(record.value)),
        "headers": clean(",".join(f"{name}={_text(value)}" for name, value in record.headers)),
    }


def _plain(record: TopicRecord, clean: Callable[[str], str]) -> str:
    return "  ".join(_parts(record, clean))


def _coloured(record: TopicRecord, clean: Callable[[str], str]) -> str:
    time, place, *rest = _parts(record, clean)
    key = [styled(rest.pop(0), "yellow")] if record.key is not None else []
    return "  ".join([styled(time, "dim"), styled(place, "green"), *key, *rest])


def _parts(record: TopicRecord, clean: Callable[[str], str]) -> list[str]:
    fields = _fields(record, clean)
    key = [str(fields["key"])] if record.key is not None else []
    headers = [f"[{fields['headers']}]"] if record.headers else []
    place = f"{record.partition}:{record.offset}"
    return [str(fields["timestamp"]), place, *key, str(fields["value"]), *headers]


def _time(timestamp_ms: int | None) -> str:
    if timestamp_ms is None:
        return "-"
    return datetime.fromtimestamp(timestamp_ms / 1000).isoformat(" ", "milliseconds")


def _text(data: bytes | None) -> str:
    return "null" if data is None else data.decode("utf-8", "backslashreplace")
