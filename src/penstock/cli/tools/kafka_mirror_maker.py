"""`kafka-mirror-maker --consumer.config file --producer.config file --include regex`: the first MirrorMaker.

Kafka 4 has it no more; `connect-mirror-maker` does all that it did, and more. It needs no Spark."""

import argparse
import signal
import sys
from pathlib import Path

from penstock.errors import ConfigError, PenstockError
from penstock.settings.properties import read_properties

TOOL = "kafka-mirror-maker"


def main(arguments: list[str] | None = None) -> int:
    words = _parser().parse_args(arguments)
    try:
        return _run(words)
    except (PenstockError, OSError) as error:
        print(f"{TOOL}: {error}", file=sys.stderr, flush=True)
        return 1


def _run(words: argparse.Namespace) -> int:
    from penstock.pipeline.connect.data.java_regex import PatternError, compile_java
    from penstock.pipeline.mirror.plain_copy import Streams

    consumer, producer = _configs(words.consumer_config, "group.id"), _configs(words.producer_config)
    try:
        include = compile_java("(?:" + words.include.replace(",", "|").replace(" ", "") + r")\z")
    except PatternError as error:
        raise ConfigError(f"--include: got {words.include!r}: {str(error).splitlines()[0]}") from None
    if words.num_streams < 1:
        raise ConfigError(f"--num.streams: got {words.num_streams}; takes a number from 1 on")
    streams = Streams(consumer, producer, include, words.num_streams, words.abort_on_send_failure == "true")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: streams.stop())
    streams.run()
    return 0


def _configs(file: Path, *needed: str) -> dict[str, str]:
    configs = read_properties(file)
    for name in ("bootstrap.servers", *needed):
        if not configs.get(name, "").strip():
            raise ConfigError(f'{file}: Missing required configuration "{name}" which has no default value.')
    return configs


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(TOOL, description="Copy topics from one cluster to another.")
    parser.add_argument(
        "--consumer.config",
        dest="consumer_config",
        type=Path,
        required=True,
        help="settings of the consumer, in the source",
    )
    parser.add_argument(
        "--producer.config",
        dest="producer_config",
        type=Path,
        required=True,
        help="settings of the producer, in the target",
    )
    parser.add_argument(
        "--include",
        "--whitelist",
        required=True,
        help="the topics: a regular expression, or several with commas",
    )
    parser.add_argument("--num.streams", dest="num_streams", type=int, default=1, help="how many consumers")
    parser.add_argument(
        "--abort.on.send.failure",
        dest="abort_on_send_failure",
        choices=("true", "false"),
        default="true",
        help="whether a record that the target refuses ends the tool",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
