"""Paths of znodes: which are valid, and whose child one is."""

import re

from penstock.zookeeper.protocol import KeeperCode, KeeperError

ROOT = "/"
_FORBIDDEN_CHARACTER = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\uf8ff\ufff0-\uffff]")
_FORBIDDEN_NAME = re.compile(r"/(\.{0,2})(/|$)")


def is_valid(path: str) -> bool:
    if path == ROOT:
        return True
    return path.startswith("/") and not _FORBIDDEN_NAME.search(path) and not _FORBIDDEN_CHARACTER.search(path)


def check_path(path: str) -> None:
    if not is_valid(path):
        raise KeeperError(KeeperCode.BAD_ARGUMENTS)


def parent_of(path: str) -> str:
    return path[: path.rindex("/")] or ROOT


def name_of(path: str) -> str:
    return path[path.rindex("/") + 1 :]


def child_of(path: str, name: str) -> str:
    return f"/{name}" if path == ROOT else f"{path}/{name}"


def ancestors_of(path: str) -> list[str]:
    """The path's parent, its parent, and so on up to the root."""
    found = []
    while path != ROOT:
        path = parent_of(path)
        found.append(path)
    return found
