"""`penstock`: a command is a module with `main(arguments) -> exit code`, imported only when it is called."""

import argparse
import sys
from importlib import import_module
from typing import NamedTuple

import penstock
from penstock.errors import PenstockError


class Command(NamedTuple):
    what_it_does: str
    module: str


COMMANDS = {
    "up": Command("start the platform, and watch over it until Ctrl-C", "penstock.cli.up"),
    "status": Command("show which services run, and whether they answer", "penstock.cli.status"),
    "down": Command("stop a platform that runs in another shell or in the background", "penstock.cli.down"),
    "init": Command("write config/*.properties for the server and client commands", "penstock.cli.init"),
    "version": Command("show the version", "penstock.cli.version"),
}


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in COMMANDS:
        return _run(COMMANDS[words[0]], words[1:])
    parser = _parser()
    parser.parse_args(words)
    parser.print_help()
    return 2


def _run(command: Command, arguments: list[str]) -> int:
    try:
        exit_code: int = import_module(command.module).main(arguments)
        return exit_code
    except (PenstockError, OSError) as error:
        print(f"penstock: {error}", file=sys.stderr, flush=True)
        return 1
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    listed = "\n".join(f"  {name:<10}{command.what_it_does}" for name, command in COMMANDS.items())
    parser = argparse.ArgumentParser(
        "penstock",
        description="The whole Kafka platform in one command.",
        epilog=f"commands:\n{listed}\n\n`penstock COMMAND --help` tells more about each.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"penstock {penstock.__version__}")
    parser.add_argument(
        "command", nargs="?", metavar="COMMAND", choices=list(COMMANDS), help=argparse.SUPPRESS
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
