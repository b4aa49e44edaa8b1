"""`penstock cp SOURCE TARGET`: a topic to a file, a file to a topic, a topic to another one."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import BinaryIO, Literal, NamedTuple

from penstock.cli.cluster_arguments import Configs, add_cluster, configs_of
from penstock.cli.output.progress import Progress
from penstock.cli.records.record_files import FORMATS, JSON_LINES, read_records, written_record
from penstock.cli.records.record_json import TopicRecord
from penstock.cli.tool import err, run
from penstock.errors import ConfigError

STANDARD = "-"
FILE_PREFIX, TOPIC_PREFIX = "file:", "topic:"
FILE_ENDINGS = (".jsonl", ".ndjson", ".json", ".txt", ".raw", ".bin")


class Place(NamedTuple):
    name: str
    is_file: bool


def main(arguments: list[str]) -> int:
    return run("penstock cp", command, arguments)


def command(words: list[str]) -> int:
    parsed = _parser().parse_args(words)
    source, target = place_of(parsed.source), place_of(parsed.target)
    if source.is_file and target.is_file:
        raise ConfigError(
            f"{source.name} and {target.name} are both files; one must be a topic, or topic:NAME"
        )
    if source == target:
        raise ConfigError(f"{source.name} is both source and target; the copy would never end")
    configs = configs_of(parsed)
    with ExitStack() as stack:
        records, count, partitions = _open_source(stack, parsed, configs, source)
        write = _open_target(stack, parsed, configs, source, target, partitions)
        copied = _copy(records, write, count)
    err(f"{copied} records copied")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "penstock cp",
        description="Copy the records that a topic has now to a file or to another topic, or those of a file to a "
        "topic. A name with a slash, or one that ends like a file of records, is a file, - is standard input or "
        "output, any other name is a topic; file:NAME and topic:NAME say it outright.",
        allow_abbrev=False,
    )
    parser.add_argument("source")
    parser.add_argument("target")
    parser.add_argument(
        "--format",
        choices=list(FORMATS),
        default=JSON_LINES,
        help="of the file: a JSON object a line with all there is of a record, or just the values, one a line; "
        "%(default)s if not given",
    )
    parser.add_argument(
        "--repartition",
        action="store_true",
        help="let keys decide on partitions; else each record goes to the partition that it came from",
    )
    parser.add_argument(
        "--create",
        type=_positive,
        metavar="N",
        help="create a topic that is not there, with N partitions; a copy of a topic gets as many as that one has",
    )
    add_cluster(parser)
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"got {text!r}; takes a number from 1")
    return int(text)


def place_of(word: str) -> Place:
    if word.startswith(FILE_PREFIX):
        return Place(word.removeprefix(FILE_PREFIX), True)
    if word.startswith(TOPIC_PREFIX):
        return Place(word.removeprefix(TOPIC_PREFIX), False)
    return Place(word, word == STANDARD or "/" in word or word.endswith(FILE_ENDINGS))


@contextmanager
def _opened(name: str, mode: Literal["rb", "wb"], standard: BinaryIO) -> Iterator[BinaryIO]:
    if name == STANDARD:
        yield standard
        return
    with open(name, mode) as file:
        yield file


def _copy(records: Iterator[TopicRecord], write: Callable[[TopicRecord], None], total: int | None) -> int:
    copied = 0
    with Progress("copying records", total) as bar:
        for record in records:
            write(record)
            copied += 1
            bar.advance()
    return copied


# where records come from


def _open_source(
    stack: ExitStack, parsed: argparse.Namespace, configs: Configs, source: Place
) -> tuple[Iterator[TopicRecord], int | None, int | None]:
    """The records, how many there are at most, and how many partitions they came from, as far as that is known."""
    if source.is_file:
        file = stack.enter_context(_opened(source.name, "rb", sys.stdin.buffer))
        return read_records(file, source.name, parsed.format), None, None
    from penstock.cli.records.topic_reading import TopicReader, extent_of

    extent = extent_of(configs, source.name)
    reader = stack.enter_context(TopicReader(configs, source.name))
    count = sum(extent.ends[each] - begin for each, begin in extent.begins.items())
    return reader.read(extent.begins, extent.ends), count, len(extent.begins)


# where they go


def _open_target(
    stack: ExitStack,
    parsed: argparse.Namespace,
    configs: Configs,
    source: Place,
    target: Place,
    partitions: int | None,
) -> Callable[[TopicRecord], None]:
    if target.is_file:
        return _file_writer(stack, parsed.format, target.name)
    from penstock.cli.records.topic_making import partitions_or_create
    from penstock.cli.records.topic_writing import TopicWriter

    like = None if source.is_file else source.name
    count = partitions_or_create(configs, target.name, parsed.create or partitions, like)
    keep = not parsed.repartition
    return stack.enter_context(TopicWriter(configs, target.name, count, keep_partitions=keep)).write


def _file_writer(stack: ExitStack, form: str, name: str) -> Callable[[TopicRecord], None]:
    file = stack.enter_context(_opened(name, "wb", sys.stdout.buffer))
    stack.callback(file.flush)

    def write(record: TopicRecord) -> None:
        file.write(written_record(record, form))

    return write
