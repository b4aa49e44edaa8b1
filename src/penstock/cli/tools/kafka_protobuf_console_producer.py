"""kafka-protobuf-console-producer: lines of JSON as records of Protobuf, with their schemas in a Schema Registry."""

from __future__ import annotations

import sys

from penstock.cli.tool import run
from penstock.cli.tools.console.confluent_classes import READER_OF
from penstock.cli.tools.kafka_console_producer import console_producer


def command(words: list[str]) -> int:
    return console_producer(words, READER_OF["protobuf"])


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-protobuf-console-producer", command, arguments)


if __name__ == "__main__":
    sys.exit(main())
