"""`--broker-list`, as Kafka's tools took it before they all had `--bootstrap-server`."""

from collections.abc import Sequence

OLD, NEW = "--broker-list", "--bootstrap-server"


def with_bootstrap_server(words: Sequence[str]) -> list[str]:
    return [NEW + word.removeprefix(OLD) if is_old(word) else word for word in words]


def is_old(word: str) -> bool:
    return word == OLD or word.startswith(f"{OLD}=")
