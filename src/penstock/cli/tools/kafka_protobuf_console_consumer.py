"""kafka-protobuf-console-consumer: records of Protobuf as lines of JSON, by their schemas in a Schema Registry."""

from __future__ import annotations

import sys

from penstock.cli.tool import run
from penstock.cli.tools.console.confluent_classes import FORMATTER_OF
from penstock.cli.tools.kafka_console_consumer import console_consumer


def command(words: list[str]) -> int:
    return console_consumer(words, FORMATTER_OF["protobuf"])


def main(arguments: list[str] | None = None) -> int:
    return run("kafka-protobuf-console-consumer", command, arguments)


if __name__ == "__main__":
    sys.exit(main())
