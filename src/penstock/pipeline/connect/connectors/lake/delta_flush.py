"""Commits of a Delta table in a folder, flushed to the disk.

delta-rs leaves it to the operating system when that happens. A position of Kafka's group that outlasts a power failure
which the commit does not would skip the records between, so nobody hears of a commit before it is on the disk.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote


def flush_commits(table: Path, first: int, last: int) -> None:
    """These versions: their files, and the folders that have them. What somebody has removed since needs none."""
    folders = {table.parent}
    for version in range(first, last + 1):
        for name in _files_of(table, version):
            _flush(table / name)
            folders.update(each for each in (table / name).parents if each.is_relative_to(table))
    for folder in folders:
        _flush(folder)


def _files_of(table: Path, version: int) -> Iterator[str]:
    log = f"_delta_log/{version:020}.json"
    try:
        lines = (table / log).read_text().splitlines()
    except FileNotFoundError:
        return
    yield log
    for line in lines:
        added = json.loads(line).get("add")
        if added is not None:
            yield unquote(added["path"])


def _flush(path: Path) -> None:
    try:
        opened = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
