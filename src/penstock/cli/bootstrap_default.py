"""The broker that `penstock` talks to when nobody says which: the one on this machine."""

import os
from collections.abc import Sequence

from penstock.cli.commands import AFTER, Command

ENVIRONMENT_NAME = "PENSTOCK_BOOTSTRAP_SERVERS"
LOCAL = "localhost:9092"
FLAG = "--bootstrap-server"
NAMES_SERVERS = ("bootstrap-server", "bootstrap-servers", "bootstrap-controller", "b", "C")
ASKS_FOR_NO_SERVER = ("help", "h", "version", "validate-regex")


def default_bootstrap_servers() -> str:
    return os.environ.get(ENVIRONMENT_NAME) or LOCAL


def with_bootstrap(command: Command, words: Sequence[str], *, also_if_empty: bool = False) -> list[str]:
    """The words of a tool, with the default server where the user gave none; no words at all ask for its help."""
    asks_for_help = not words and not also_if_empty
    if command.bootstrap is None or asks_for_help or _says_where(command, words):
        return list(words)
    flag = [FLAG, default_bootstrap_servers()]
    return [*words, *flag] if command.bootstrap == AFTER else [*flag, *words]


def _says_where(command: Command, words: Sequence[str]) -> bool:
    flags = [word.partition("=")[0] for word in words if word.startswith("-")]
    if any(flag.lstrip("-") in (*NAMES_SERVERS, *ASKS_FOR_NO_SERVER) for flag in flags):
        return True
    elsewhere = {name.lstrip("-") for name in command.bootstrap_elsewhere}
    return any(flag.lstrip("-") in elsewhere for flag in flags) or any(
        "bootstrap.servers=" in word for word in words
    )
