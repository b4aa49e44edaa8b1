"""`kafka-server-start [-daemon] [server.properties] [--override name=value ...]`: a broker by itself."""

import argparse
import logging
import os
import sys
from pathlib import Path

import penstock
from penstock.cli.overrides import add_overrides, parse_overrides
from penstock.errors import PenstockError
from penstock.settings.broker import BrokerSettings, unknown_names
from penstock.settings.properties import read_properties

log = logging.getLogger(__name__)


def main(arguments: list[str] | None = None) -> int:
    parsed = _parser().parse_args(arguments)
    logging.basicConfig(format="%(asctime)s %(levelname)s %(name)s: %(message)s", level=logging.INFO)
    try:
        settings = read_settings(parsed.properties, parsed.override)
        if parsed.daemon:
            _go_into_background()
        return _run(settings)
    except (PenstockError, OSError) as error:
        print(f"kafka-server-start: {error}", file=sys.stderr, flush=True)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "kafka-server-start", description="Start a broker, until SIGTERM or Ctrl-C.", allow_abbrev=False
    )
    parser.add_argument("properties", nargs="?", type=Path, help="a file of settings, server.properties")
    parser.add_argument(
        "-daemon",
        action="store_true",
        help="run in the background; output goes to $LOG_DIR/kafkaServer.out, or logs/kafkaServer.out",
    )
    parser.add_argument("--version", action="version", version=f"penstock {penstock.__version__}")
    add_overrides(parser)
    return parser


def read_settings(file: Path | None, overrides: list[str]) -> BrokerSettings:
    """The settings of a file with the overrides on top; warns of names that Kafka does not know either."""
    configs = read_properties(file) if file is not None else {}
    configs.update(parse_overrides(overrides))
    settings = BrokerSettings.from_configs(configs, str(file) if file is not None else "--override")
    for line in unknown_names(configs):
        log.warning("%s", line)
    return settings


def _go_into_background() -> None:
    """The child goes on in a session of its own, and prints to kafkaServer.out as Kafka does."""
    directory = Path(os.environ.get("LOG_DIR") or "logs")
    directory.mkdir(parents=True, exist_ok=True)
    output = os.open(directory / "kafkaServer.out", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    if os.fork() > 0:
        os._exit(0)
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    os.close(nothing)
    os.close(output)


def _run(settings: BrokerSettings) -> int:
    from penstock.broker.app import run

    return run(settings)


if __name__ == "__main__":
    sys.exit(main())
